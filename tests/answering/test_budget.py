import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ask_book.answering.budget import Budget


def test_what_is_set_aside_is_put_right_afterwards(tmp_path: Path) -> None:
    budget = Budget(1000, tmp_path)
    assert budget.take(600)
    assert not budget.take(600)
    budget.settle(600, 100)
    assert budget.take(600)
    budget.settle(600, 5000)
    assert not budget.take(0 + 1)


def test_without_a_bound_nothing_is_counted(tmp_path: Path) -> None:
    budget = Budget(None, tmp_path)
    assert budget.take(10**12)
    budget.settle(10**12, 1)
    assert list(tmp_path.iterdir()) == []


def test_nothing_at_all_may_be_the_bound() -> None:
    assert not Budget(0).take(1)


def test_servers_of_a_book_share_the_count(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from ask_book.answering.budget import Budget\n"
        "budget = Budget(10_000, Path(sys.argv[1]))\n"
        "for _ in range(20): assert budget.take(10); budget.settle(10, 7)\n"
    )
    with ThreadPoolExecutor() as pool:
        command = [sys.executable, "-c", program, str(tmp_path)]
        assert [done.returncode for done in pool.map(lambda _: subprocess.run(command, check=False), range(3))] == [
            0
        ] * 3
    assert json.loads((tmp_path / "tokens.json").read_text())["tokens"] == 3 * 20 * 7


def test_yesterday_does_not_count(tmp_path: Path) -> None:
    (tmp_path / "tokens.json").write_text('{"day": "2020-01-01", "tokens": 999}')
    assert Budget(1000, tmp_path).take(900)


def test_a_damaged_or_forbidden_file_stops_nobody(tmp_path: Path) -> None:
    (tmp_path / "tokens.json").write_text("{")
    assert Budget(1000, tmp_path).take(900)
    nowhere = Budget(1000, tmp_path / "no" / "folder")
    assert nowhere.take(900)
    assert not nowhere.take(900)


def test_the_file_is_the_owners(tmp_path: Path) -> None:
    assert Budget(1000, tmp_path).take(1)
    assert (tmp_path / "tokens.json").stat().st_mode & 0o077 == 0
