"""What a sidecar does by itself: load, wait for a render, keep what it has, end."""

import asyncio
import os
import shutil
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from ask_book.book.project import Project, find_project
from ask_book.daemon import watch
from ask_book.daemon.watch import Watch
from ask_book.server.holder import Holder
from disks import fill, small_disk
from waiting import until


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "LOOK_SECONDS", 0.05)


@pytest.fixture
def project(small_book: Path) -> Project:
    return find_project(small_book, {})


def watching(
    project: Project,
    scenario: Callable[[Holder], Awaitable[None]],
    env: dict[str, str] | None = None,
    idle_seconds: float | None = None,
) -> bool:
    """Run a scenario beside a watch; whether the watch ended the sidecar by itself."""

    async def both() -> bool:
        stop = asyncio.Event()
        holder = Holder(project.book_id, project.title, project.lang)
        task = asyncio.create_task(Watch(project, holder, {**os.environ, **(env or {})}).run(stop, idle_seconds))
        await scenario(holder)
        ended = stop.is_set()
        stop.set()
        await task
        return ended

    return asyncio.run(both())


def make_rendered(project: Project) -> None:
    """What a render leaves, made from the plain pages."""
    shutil.copytree(project.cache_dir / "site", project.output_dir, dirs_exist_ok=True)
    project.data_dir.mkdir(parents=True, exist_ok=True)
    shutil.copy(project.cache_dir / "manifest.json", project.data_dir / "manifest.json")


def test_it_loads_the_book_and_goes_on(project: Project) -> None:
    async def scenario(holder: Holder) -> None:
        await until(lambda: holder.current)
        assert holder.current is not None
        assert (holder.current.kind, holder.failure, holder.progress) == ("plain", None, 1.0)

    assert watching(project, scenario) is False


def test_it_ends_when_nobody_asks(project: Project) -> None:
    async def scenario(holder: Holder) -> None:
        await until(lambda: holder.current)
        holder.last_used = time.monotonic() - 100
        holder.busy = 1
        await asyncio.sleep(0.2)
        holder.busy = 0
        await asyncio.sleep(0.3)

    assert watching(project, scenario, idle_seconds=90) is True


def test_an_answer_under_way_is_no_idleness(project: Project) -> None:
    async def scenario(holder: Holder) -> None:
        holder.busy = 1
        holder.last_used = time.monotonic() - 100
        await until(lambda: holder.current)
        await asyncio.sleep(0.2)

    assert watching(project, scenario, idle_seconds=90) is False


def test_started_by_a_render_it_waits_for_that_render(project: Project) -> None:
    async def scenario(holder: Holder) -> None:
        await asyncio.sleep(0.5)
        assert holder.current is None
        assert not project.cache_dir.exists(), "no plain pages while Quarto renders"
        await asyncio.to_thread(_render_beside, project)
        await until(lambda: holder.current)
        assert holder.current is not None
        assert holder.current.kind == "rendered"

    watching(project, scenario, {"QUARTO_PROJECT_OUTPUT_DIR": str(project.output_dir)})


def _render_beside(project: Project) -> None:
    from ask_book.book.edition import open_edition

    open_edition(project)
    make_rendered(project)


def test_while_a_render_has_the_pages_the_old_book_is_kept(project: Project) -> None:
    _render_beside(project)

    async def scenario(holder: Holder) -> None:
        await until(lambda: holder.current)
        before = holder.current
        assert before is not None
        shutil.rmtree(project.output_dir)
        (project.root / "index.qmd").write_text("# Otro inicio\n\nCambiado.\n", encoding="utf-8")
        await asyncio.sleep(0.4)
        assert holder.current is before
        make_rendered(project)
        await until(lambda: holder.current is not before)
        assert holder.current is not None
        assert holder.current.kind == "rendered"

    watching(project, scenario)


def test_a_book_that_breaks_stays_as_it_was_and_heals(project: Project) -> None:
    config = (project.root / "_quarto.yml").read_text(encoding="utf-8")

    async def scenario(holder: Holder) -> None:
        await until(lambda: holder.current)
        before = holder.current
        (project.root / "_quarto.yml").write_text("book: [\n", encoding="utf-8")
        await until(lambda: holder.failure)
        assert holder.failure is not None
        assert "broken YAML" in holder.failure.message
        assert holder.current is before
        (project.root / "_quarto.yml").write_text(config, encoding="utf-8")
        await until(lambda: holder.failure is None)

    watching(project, scenario)


def test_reload_looks_at_once(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "LOOK_SECONDS", 600)

    async def scenario(holder: Holder) -> None:
        await until(lambda: holder.current)
        before = holder.current
        (project.root / "index.qmd").write_text("# Otro inicio\n\nHabla de acueductos.\n", encoding="utf-8")
        holder.reload()
        await until(lambda: holder.current is not before)

    watching(project, scenario)


def test_it_tries_again_after_a_full_disk(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "AGAIN_SECONDS", 0.1)
    project.cache_dir.mkdir(parents=True)

    async def scenario(holder: Holder) -> None:
        with small_disk(project.cache_dir, "size=8k"):
            fill(project.cache_dir)
            await until(lambda: holder.failure)
            assert holder.failure is not None
            assert (holder.failure.code, holder.current) == ("disk_full", None)
        await until(lambda: holder.current and holder.failure is None)

    watching(project, scenario)


@pytest.mark.parametrize("jump", [-3.2e8, 3.2e8])
def test_a_clock_that_jumps_ends_nothing(project: Project, monkeypatch: pytest.MonkeyPatch, jump: float) -> None:
    """A laptop that slept, a clock set right: ten years either way are no idle time."""
    today = time.time

    async def scenario(holder: Holder) -> None:
        await until(lambda: holder.current)
        monkeypatch.setattr(time, "time", lambda: today() + jump)
        (project.root / "index.qmd").write_text("# Otro inicio\n\nHabla de acueductos.\n", encoding="utf-8")
        os.utime(project.root / "index.qmd", (today() + jump, today() + jump))
        before = holder.current
        await until(lambda: holder.current is not before)

    assert watching(project, scenario, idle_seconds=90) is False
