"""A render in a pipeline: the same files as at home, without a network, and nothing left running."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
from pathlib import Path

import pytest

from extension.quarto_book import clean_env, command, data_dir, make_book, quarto, said

pytestmark = [pytest.mark.quarto, pytest.mark.timeout(900)]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def without_network() -> list[str]:
    """How a command begins that runs without any network, on this machine; [] where that cannot be had."""
    unshare = shutil.which("unshare")
    if unshare is None:
        return []
    # `-r`: also where the tests do not run as root
    tried = subprocess.run([unshare, "-rn", "true"], capture_output=True, check=False)
    return [unshare, "-rn"] if tried.returncode == 0 else []


def processes_with(mark: str) -> list[str]:
    """The processes of this machine that inherited a variable with this value, where `/proc` tells."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (folder / "environ").read_bytes():
                found.append((folder / "cmdline").read_text().replace("\0", " "))
        except OSError:
            continue
    return found


@pytest.mark.skipif(os.name == "nt", reason="the sidecar is a script with a #! line")
def test_two_fresh_copies_give_the_same_bytes_at_home_and_in_a_pipeline(tmp_path: Path) -> None:
    at_home = make_book(tmp_path / "at home" / "book")
    in_pipeline = tmp_path / "build-7f3" / "book"
    shutil.copytree(at_home, in_pipeline)
    # a sidecar that tells when it is started
    told = tmp_path / "started"
    sidecar = command(tmp_path / "sidecar", f"open({str(told)!r}, 'a').write('x')\nraise SystemExit(1)")

    home = said(quarto(at_home, "render", env=clean_env(ASK_BOOK=str(sidecar), HOME=str(tmp_path))))
    assert told.read_text() == "x"
    mark = secrets.token_hex(8)
    account = {"HOME": str(tmp_path / "runner"), "CI": "true", "MARK": mark}
    done = subprocess.run(
        [*without_network(), shutil.which("quarto") or "quarto", "render"],
        cwd=in_pipeline,
        env=clean_env(ASK_BOOK=str(sidecar), **account),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    ci = said(done.stdout + done.stderr)
    assert told.read_text() == "x"
    assert processes_with(mark) == []
    assert ci[0] == "ask-book: no sidecar is started, because CI is set (ASK_BOOK_START=1 starts one)."
    assert ci[1:] == home[1:]

    assert contents(in_pipeline / "_book") == contents(at_home / "_book")
    assert contents(in_pipeline / "_extensions") == contents(at_home / "_extensions")
    for name in ("manifest.json", "book.json"):
        assert (data_dir(in_pipeline) / name).read_bytes() == (data_dir(at_home) / name).read_bytes()
    assert contents(data_dir(in_pipeline) / "chapters") == contents(data_dir(at_home) / "chapters")


def test_installed_but_not_listed_is_as_if_it_were_not_there(tmp_path: Path) -> None:
    with_it = make_book(tmp_path / "with" / "book", listed=False)
    without = tmp_path / "without" / "book"
    shutil.copytree(with_it, without)
    shutil.rmtree(without / "_extensions")
    assert said(quarto(with_it, "render")) == []
    quarto(without, "render")
    assert contents(with_it / "_book") == contents(without / "_book")
    assert not (with_it / ".quarto" / "ask-book").exists()
