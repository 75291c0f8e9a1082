"""Making the vectors of a book: consent, one process at a time, what is left on disk."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from ask_book.errors import AskBookError
from ask_book.retrieval.building import Built, ConsentNeededError, build
from ask_book.retrieval.consent import Consent
from ask_book.retrieval.index import open_index
from ask_book.retrieval.kept import Kept
from ask_book.retrieval.vectors import ready
from retrieval.embedders import WordEmbedder
from retrieval.texts import manifest_of

BOOK = [("Rivers", "The Danube is long"), ("Bridges", "Stone lasts"), ("Bread", "Flour and water"), ("Salt", "White")]
CHARACTERS = sum(len(f"{title}. {text}") for title, text in BOOK)

pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
def consent(tmp_path: Path) -> Consent:
    return Consent("0123456789abcdef")


def built(folder: Path, embedder: WordEmbedder, consent: Consent, book: list[tuple[str, str]] = BOOK) -> Built:
    manifest = manifest_of(book)
    open_index(manifest, folder)
    return asyncio.run(build(manifest, folder, embedder, consent))


def test_what_costs_nothing_is_done_unasked(tmp_path: Path, consent: Consent) -> None:
    made = built(tmp_path, WordEmbedder(), consent)
    assert (made.reused, made.embedded) == (0, 4)
    found = ready(manifest_of(BOOK), tmp_path, WordEmbedder())
    assert found is not None
    assert (found.matrix == made.vectors.matrix).all()


def test_a_model_elsewhere_waits_for_consent(tmp_path: Path, consent: Consent) -> None:
    embedder = WordEmbedder(unasked=False)
    with pytest.raises(ConsentNeededError, match=f"4 passages are not embedded: that sends {CHARACTERS} characters"):
        built(tmp_path, embedder, consent)
    assert embedder.seen == []


def test_consent_is_for_one_model_and_one_book_and_for_so_much(tmp_path: Path, consent: Consent) -> None:
    consent.give("test/words", CHARACTERS + 20)
    assert built(tmp_path, WordEmbedder(unasked=False), consent).embedded == 4
    assert consent.left("test/words") == 20
    assert consent.left("another/model") == Consent("fedcba9876543210").left("test/words") == 0
    grown = [*BOOK, ("Oil", "Olives")]
    assert built(tmp_path, WordEmbedder(unasked=False), consent, grown).embedded == 1
    with pytest.raises(ConsentNeededError):
        built(tmp_path, WordEmbedder(unasked=False), consent, [*grown, ("Wine", "Made of grapes")])


def test_what_is_embedded_already_needs_no_consent(tmp_path: Path, consent: Consent) -> None:
    built(tmp_path, WordEmbedder(), consent)
    made = built(tmp_path / "again", WordEmbedder(unasked=False), consent)
    assert (made.reused, made.embedded) == (4, 0)


def test_what_a_failure_left_undone_is_not_counted(tmp_path: Path, consent: Consent) -> None:
    consent.give("test/words", 1000)
    embedder = WordEmbedder(unasked=False)
    embedder.fails_at = "Bread"
    with pytest.raises(AskBookError, match="broke off"):
        built(tmp_path, embedder, consent)
    assert consent.left("test/words") == 1000 - sum(map(len, embedder.seen))


def test_a_damaged_file_of_consent_is_no_consent(tmp_path: Path, consent: Consent) -> None:
    consent.give("test/words", 1000)
    for damage in (b"[]", b"{", b'{"test/words": "all"}'):
        consent._path.write_bytes(damage)
        assert consent.left("test/words") == 0


def test_two_at_once_embed_once(tmp_path: Path, consent: Consent) -> None:
    first, second = WordEmbedder(), WordEmbedder()
    manifest = manifest_of(BOOK)
    open_index(manifest, tmp_path)

    async def both() -> list[Built]:
        return await asyncio.gather(*(build(manifest, tmp_path, one, consent) for one in (first, second)))

    made = asyncio.run(both())
    assert sorted((one.reused, one.embedded) for one in made) == [(0, 4), (4, 0)]
    assert len(first.seen) + len(second.seen) == 4


def test_another_process_is_waited_for(tmp_path: Path, consent: Consent) -> None:
    manifest = manifest_of(BOOK)
    open_index(manifest, tmp_path)
    other = Kept("test/words").lock(str(tmp_path))

    async def run() -> list[str]:
        happened = []
        assert other.acquire()
        task = asyncio.create_task(build(manifest, tmp_path, WordEmbedder(), consent))
        await asyncio.sleep(0.1)
        happened.append("still waiting" if not task.done() else "did not wait")
        other.release()
        happened.append(f"{(await task).embedded} embedded")
        return happened

    assert asyncio.run(run()) == ["still waiting", "4 embedded"]


def test_a_book_that_cannot_be_written_to_does_not_stop_it(tmp_path: Path, consent: Consent) -> None:
    made = asyncio.run(build(manifest_of(BOOK), tmp_path / "no folder", WordEmbedder(), consent))
    assert made.embedded == 4
    assert not (tmp_path / "no folder").exists()


def test_an_account_that_cannot_be_written_to_is_told_at_once(tmp_path: Path, consent: Consent, home: Path) -> None:
    (home / "ask-book").write_text("a file in the way")
    embedder = WordEmbedder()
    with pytest.raises(AskBookError, match="cannot be used"):
        built(tmp_path / "index", embedder, consent)
    assert embedder.seen == []


def test_a_model_elsewhere_that_changed_under_its_name_needs_consent_anew(tmp_path: Path, consent: Consent) -> None:
    consent.give("test/words", CHARACTERS + 50)
    built(tmp_path, WordEmbedder(unasked=False), consent)
    changed = WordEmbedder(unasked=False, size=32)
    grown = [*BOOK, ("Oil", "Olives")]
    with pytest.raises(AskBookError, match="has 32 dimensions now"):
        built(tmp_path, changed, consent, grown)
    assert changed.seen == ["Oil. Olives"]
    with pytest.raises(ConsentNeededError, match="4 passages"):
        built(tmp_path, changed, consent, grown)
