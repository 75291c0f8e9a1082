"""Processes that wait to become the daemon of a small book."""

import os
from pathlib import Path

import pytest

from ask_book.book.project import Project, find_project
from ask_book.book.settings import settings_of
from ask_book.daemon import control
from ask_book.daemon.process import begin, spare
from ask_book.daemon.state import state_folder


@pytest.fixture
def project(small_book: Path) -> Project:
    found = find_project(small_book, os.environ)
    state_folder(found)
    return found


def test_a_spare_process_becomes_the_daemon(project: Project) -> None:
    settings = settings_of(project.configuration, os.environ)
    with spare(project.root, os.environ) as process:
        assert process
        state = control.start(project, settings, os.environ, process)
    assert process.child.stdin
    assert process.child.stdin.closed, "it was employed"
    assert control.status(project).pid == state.pid
    with spare(project.root, os.environ) as another:
        assert another is None, "one lives"
        assert control.start(project, settings, os.environ, another) == state


def test_one_that_is_not_needed_ends(project: Project) -> None:
    with spare(project.root, os.environ) as process, spare(project.root, os.environ) as another:
        assert another is None, "one is enough"
    assert process
    assert process.child.returncode is not None
    assert not state_folder(project).is_alive()


def test_one_whose_maker_is_killed_ends(project: Project) -> None:
    process = begin(state_folder(project), os.environ)
    assert process.child.stdin
    process.child.stdin.close()
    assert process.child.wait(60) == 0
    assert state_folder(project).read() is None


def test_none_is_made_for_another_profile(project: Project) -> None:
    """It would have another folder: that one is only known when the project has been read."""
    with spare(project.root, {**os.environ, "QUARTO_PROFILE": "print"}) as process:
        assert process is None
    (project.root / "_quarto.yml.local").write_text("profile: {default: print}\n")
    with spare(project.root, os.environ) as process:
        assert process is None


def test_none_is_made_where_no_daemon_ever_was(small_book: Path) -> None:
    with spare(small_book, os.environ) as process:
        assert process is None
    assert not list((small_book.parent / "home").iterdir())
