import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from ask_book.errors import AskBookError
from ask_book.reports.pdf import Attempt, Made
from ask_book.reports.store import Store
from reports.samples import DRY, of_the_book, saying

KILLED_AT = """
import os, sys
from pathlib import Path
from ask_book.reports import store
from reports.samples import of_the_book

left = int(sys.argv[2])

def last_step(event, arguments):
    # each time a file is opened to be written, made, or renamed, one step has been done
    global left
    is_step = event in ("os.rename", "os.mkdir") or (event == "open" and "w" in str(arguments[1] or ""))
    if is_step and sys.argv[1] in str(arguments[0]):
        left -= 1
        if left < 0:
            os.kill(os.getpid(), 9)

sys.addaudithook(last_step)
store.Store(Path(sys.argv[1])).save(of_the_book())
"""


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "reports")


def test_a_report_is_a_folder(store: Store) -> None:
    document = of_the_book()
    folder = store.save(document)
    assert folder == store.folder / document.id
    assert sorted(path.name for path in folder.iterdir()) == ["report.html", "report.json", "report.md"]
    assert store.read(document.id) == document
    assert json.loads((folder / "report.json").read_bytes())["question"] == DRY
    if os.name != "nt":
        assert folder.stat().st_mode & 0o077 == 0
        assert store.folder.stat().st_mode & 0o077 == 0


def test_a_full_folder_takes_no_more_and_loses_none(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ask_book.reports.store.MOST_KEPT", 2)
    kept = [store.save(saying(text)) for text in ("one", "two")]
    with pytest.raises(AskBookError, match="has 2 reports") as refused:
        store.save(saying("three"))
    assert refused.value.code == "reports_full"
    assert all(folder.is_dir() for folder in kept)
    store.delete(kept[0].name)
    assert store.save(saying("three")).is_dir()


def test_before_the_first_there_is_nothing(store: Store) -> None:
    assert store.summaries() == []
    assert not store.has("0" * 32)
    assert not store.folder.exists()


def test_newest_first(store: Store) -> None:
    documents = [saying("x", question=f"¿{n}?") for n in range(3)]
    for document in documents:
        store.save(document)
    by_time = sorted(documents, key=lambda document: (document.created, document.id), reverse=True)
    assert [summary.id for summary in store.summaries()] == [document.id for document in by_time]


def test_search_is_by_all_words_folded(store: Store) -> None:
    store.save(of_the_book())
    store.save(saying("La *flauta* suena.", question="¿Qué suena?"))
    assert [summary.title for summary in store.summaries("ESTACION lluvia")] == [DRY]
    assert [summary.title for summary in store.summaries("flauta")] == ["¿Qué suena?"]
    assert store.summaries("flauta lluvia puente") == []
    assert len(store.summaries("  ")) == 2


def test_a_summary(store: Store) -> None:
    store.save(saying("**Palabras** de [1](#ask-book-1) sobra. " * 20))
    (summary,) = store.summaries()
    assert (summary.title, summary.status, summary.mode, summary.book_hash) == (
        DRY,
        "answered",
        "grounded",
        "0123456789abcdef",
    )
    assert re.fullmatch(r"Palabras de .* …", summary.excerpt)
    assert len(summary.excerpt) <= 242


def test_what_is_damaged_or_no_report_is_not_listed(store: Store) -> None:
    good, bad = of_the_book(), of_the_book()
    store.save(good)
    (store.save(bad) / "report.json").write_text('{"version": 1', encoding="utf-8")
    (store.folder / ("a" * 32)).mkdir()
    (store.folder / "notes").mkdir()
    (store.folder / ("b" * 32)).write_text("", encoding="utf-8")
    assert [summary.id for summary in store.summaries()] == [good.id]
    with pytest.raises(AskBookError, match="damaged"):
        store.read(bad.id)


@pytest.mark.parametrize("name", ["", "..", "../x", "a" * 31, "A" * 32, "a" * 32 + "\n", "/etc", "report.json"])
def test_only_ids_are_ids(store: Store, name: str) -> None:
    store.save(of_the_book())
    assert not store.has(name)
    with pytest.raises(AskBookError, match="no such report"):
        store.delete(name)


def test_an_id_by_its_beginning(store: Store) -> None:
    document = of_the_book()
    store.save(document)
    assert store.find(document.id[:6]) == document.id
    for beginning in ("", "zz", f"{document.id}0"):
        with pytest.raises(AskBookError, match="no report"):
            store.find(beginning)
    others = [of_the_book() for _ in range(17)]
    for other in others:
        store.save(other)
    twice = next(
        one for one in "0123456789abcdef" if sum(other.id.startswith(one) for other in [*others, document]) > 1
    )
    with pytest.raises(AskBookError, match=r"\d reports begin"):
        store.find(twice)


def test_deleting(store: Store) -> None:
    document = of_the_book()
    store.save(document)
    store.delete(document.id)
    assert list(store.folder.iterdir()) == []


def test_a_zip_of_reports(store: Store, tmp_path: Path) -> None:
    ids = []
    for document in (of_the_book(), saying("x", question="¿A/b: \\c?")):
        ids.append(document.id)
        store.save(document)
    store.export(ids, tmp_path / "all.zip")
    with zipfile.ZipFile(tmp_path / "all.zip") as archive:
        names = archive.namelist()
    assert len(names) == 6
    assert any(re.fullmatch(rf"\d{{4}}-\d\d-\d\d A-b-c {ids[1][:8]}/report\.html", name) for name in names)
    assert {path.name for path in tmp_path.iterdir()} == {"reports", "all.zip"}


def test_an_export_that_fails_leaves_nothing(store: Store, tmp_path: Path) -> None:
    with pytest.raises(AskBookError):
        store.export(["0" * 32], tmp_path / "all.zip")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="kills as POSIX does")
def test_killed_at_each_step_no_half_of_a_report_is_listed(store: Store, root: Path) -> None:
    ends = []
    for steps in range(12):
        command = [sys.executable, "-c", KILLED_AT, str(store.folder), str(steps)]
        paths = os.pathsep.join((str(root / "tests"), str(root / "sidecar")))
        ends.append(subprocess.run(command, env={**os.environ, "PYTHONPATH": paths}, check=False).returncode)
        for summary in store.summaries():
            assert sorted(path.name for path in (store.folder / summary.id).iterdir()) == [
                "report.html", "report.json", "report.md",
            ]  # fmt: skip
    assert ends[:5] == [-9] * 5
    assert ends[-1] == 0
    assert len(store.summaries()) == ends.count(0)


def test_what_a_killed_process_left_goes_with_the_next_report(store: Store) -> None:
    store.folder.mkdir()
    fresh, stale, deleted = (store.folder / name for name in (".ask-book-new-a", ".ask-book-new-b", ".ask-book-old-c"))
    for folder in (fresh, stale, deleted):
        folder.mkdir()
        (folder / "report.html").write_text("x", encoding="utf-8")
    os.utime(stale, (0, 0))
    document = of_the_book()
    store.save(document)
    assert sorted(path.name for path in store.folder.iterdir()) == sorted([".ask-book-new-a", document.id])


def test_a_pdf_beside_its_report(store: Store) -> None:
    document = of_the_book()
    folder = store.save(document)
    assert store.pdf_state(document.id) == "none"
    store.keep_pdf(document.id, Made(None, (Attempt("pandoc x", "Exit code 43.", "! Undefined"),)))
    assert store.pdf_state(document.id) == "failed"
    assert (folder / "pdf.error.log").read_text(encoding="utf-8") == "$ pandoc x\nExit code 43.\n! Undefined\n"
    store.keep_pdf(document.id, Made(b"%PDF-1.5", (), "pandoc", "U+1F600 grinning face"))
    assert store.pdf_state(document.id) == "ready"
    assert store.lost_in_pdf(document.id) == "U+1F600 grinning face"
    assert not (folder / "pdf.error.log").exists()


def test_a_pdf_of_a_report_that_was_deleted_meanwhile(store: Store) -> None:
    store.keep_pdf("0" * 32, Made(b"%PDF-1.5", ()))
    assert not store.folder.exists()
