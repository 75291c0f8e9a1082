import stat
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from ask_book.files import FileLock, replaced, write_atomically


def test_a_file_is_replaced_with_its_mode_kept(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"old")
    file.chmod(0o640)
    write_atomically(file, b"new")
    assert file.read_bytes() == b"new"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    write_atomically(file, b"newer", 0o600)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [file]


def test_a_file_written_piece_by_piece_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with replaced(path) as file:
        file.write(b"one ")
        assert not path.exists()
        file.write(b"two")
    with suppress(ZeroDivisionError), replaced(path) as file:
        file.write(b"half")
        raise ZeroDivisionError
    assert path.read_bytes() == b"one two"
    assert list(tmp_path.iterdir()) == [path]


def test_a_lock_has_one_holder(tmp_path: Path) -> None:
    with FileLock(tmp_path / "lock") as one, FileLock(tmp_path / "lock") as two:
        assert one.acquire()
        assert not two.acquire()
        one.release()
        assert two.acquire()


def run(code: str, *arguments: object) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", code, *map(str, arguments)])


HOLD_AND_DIE = """
import os, pathlib, sys
from ask_book.files import FileLock
os._exit(9 if FileLock(pathlib.Path(sys.argv[1])).acquire() else 1)
"""

COUNT = """
import pathlib, sys
from ask_book.files import locked, write_atomically
folder = pathlib.Path(sys.argv[1])
for _ in range(20):
    with locked(folder / "lock", timeout=60) as got:
        assert got
        number = int((folder / "number").read_text())
        write_atomically(folder / "number", str(number + 1).encode())
"""


def test_a_lock_comes_back_when_its_holder_dies(tmp_path: Path) -> None:
    assert run(HOLD_AND_DIE, tmp_path / "lock").wait() == 9
    with FileLock(tmp_path / "lock") as lock:
        assert lock.acquire()


def test_nothing_is_lost_between_processes(tmp_path: Path) -> None:
    (tmp_path / "number").write_text("0")
    children = [run(COUNT, tmp_path) for _ in range(3)]
    assert [child.wait() for child in children] == [0, 0, 0]
    assert (tmp_path / "number").read_text() == "60"


@pytest.mark.skipif(sys.platform == "win32", reason="folders have no such mode there")
def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "folder"
    target.mkdir()
    with pytest.raises(OSError, match="folder"):
        write_atomically(target, b"x", 0o600)
    assert list(tmp_path.iterdir()) == [target]
