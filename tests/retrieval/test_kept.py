"""Vectors that were made once stay, through crashes, damage and changes of the model."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from ask_book.errors import AskBookError
from ask_book.retrieval.embedding import Floats, unit
from ask_book.retrieval.kept import Kept

KEYS = tuple(bytes([at]) * 16 for at in range(10))
ROWS = unit(np.arange(1, 41, dtype=np.float32).reshape(10, 4))


def kept_in(folder: Path, keys: tuple[bytes, ...] = KEYS, rows: Floats = ROWS) -> Kept:
    kept = Kept("host/model", folder)
    kept.put(keys, rows)
    return kept


def test_what_was_put_is_got_back_bit_for_bit(tmp_path: Path) -> None:
    found = kept_in(tmp_path).get((*KEYS[:3], b"another key here"))
    assert set(found) == set(KEYS[:3])
    for key, row in zip(KEYS[:3], ROWS[:3], strict=True):
        np.testing.assert_array_equal(found[key], row)


def test_nothing_is_kept_of_another_model(tmp_path: Path) -> None:
    kept_in(tmp_path)
    assert Kept("host/other-model", tmp_path).get(KEYS) == {}


def test_vectors_of_two_dimensions_are_never_mixed(tmp_path: Path) -> None:
    kept = kept_in(tmp_path)
    kept.put(KEYS[8:], unit(np.ones((2, 7), np.float32)))
    assert {key: len(vector) for key, vector in kept.get(KEYS).items()} == {KEYS[8]: 7, KEYS[9]: 7}


def test_more_keys_than_one_query_takes(tmp_path: Path) -> None:
    keys = tuple(number.to_bytes(16, "big") for number in range(1234))
    rows = unit(np.random.default_rng(1).standard_normal((1234, 3)))
    found = kept_in(tmp_path, keys, rows).get(keys)
    np.testing.assert_array_equal(np.stack([found[key] for key in keys]), rows)


@pytest.mark.parametrize("damage", [b"", b"no database at all", None], ids=["cut to nothing", "other bytes", "pages"])
def test_a_damaged_file_is_set_aside_and_begun_again(tmp_path: Path, damage: bytes | None) -> None:
    kept = kept_in(tmp_path)
    data = kept.path.read_bytes()
    kept.path.write_bytes(data[:4096] + b"\xff" * (len(data) - 4096) if damage is None else damage)
    assert kept.get(KEYS) == {}
    kept.put(KEYS, ROWS)
    assert set(kept.get(KEYS)) == set(KEYS)


def test_the_file_of_another_model_under_this_name_is_not_served(tmp_path: Path) -> None:
    foreign = kept_in(tmp_path)
    ours = Kept("host/ours", tmp_path)
    foreign.path.replace(ours.path)
    assert ours.get(KEYS) == {}
    assert ours.path.with_name(f"{ours.path.name}.damaged").exists()


def test_a_vector_that_is_no_unit_vector_is_not_served(tmp_path: Path) -> None:
    kept = kept_in(tmp_path)
    with sqlite3.connect(kept.path) as db:
        db.execute("UPDATE vectors SET vector = ? WHERE key = ?", (np.full(4, np.nan, "<f4").tobytes(), KEYS[2]))
        db.execute("UPDATE vectors SET vector = ? WHERE key = ?", (np.full(4, 9, "<f4").tobytes(), KEYS[5]))
    db.close()
    assert set(kept.get(KEYS)) == set(KEYS) - {KEYS[2], KEYS[5]}


def test_a_folder_that_cannot_be_made_is_an_error_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(AskBookError, match="file/folder"):
        kept_in(tmp_path / "file" / "folder")


def test_two_at_once_lose_nothing(tmp_path: Path) -> None:
    kept = Kept("host/model", tmp_path)
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda at: kept.put(KEYS[at : at + 1], ROWS[at : at + 1]), range(10)))
    assert set(kept.get(KEYS)) == set(KEYS)


def test_what_was_acknowledged_survives_a_process_that_is_killed(tmp_path: Path) -> None:
    program = """
import sys, numpy as np
from pathlib import Path
from ask_book.retrieval.kept import Kept
kept = Kept("host/model", Path(sys.argv[1]))
for number in range(100_000):
    kept.put([number.to_bytes(16, "big")], np.array([[0.6, 0.8]], np.float32))
    print(number, flush=True)
"""
    with subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        for line in process.stdout:
            if line == "20\n":
                process.send_signal(getattr(signal, "SIGKILL", signal.SIGTERM))
                break
        last = max([20, *map(int, process.stdout.read().split("\n")[:-1])])
    found = Kept("host/model", tmp_path).get([number.to_bytes(16, "big") for number in range(last + 1)])
    assert len(found) == last + 1
