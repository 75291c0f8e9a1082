import pytest
from hypothesis import given
from hypothesis import strategies as st

from ask_book.answering.citations import Notes
from ask_book.answering.events import Event
from ask_book.answering.writing import Writing
from ask_book.book.manifest import Tag
from small_books import small_manifest

MANIFEST = small_manifest()
TAG = Tag(1, 204, 246)
NOT_FOUND = "No encontrado en el libro"


def written(*pieces: str) -> tuple[Writing, list[Event]]:
    writing = Writing(Notes(MANIFEST, {TAG}), NOT_FOUND)
    events = [event for piece in pieces for event in writing.feed(piece)]
    return writing, [*events, *writing.close()]


def shown(events: list[Event]) -> str:
    return "".join(event.data for event in events if event.kind == "delta")


def test_white_space_around_the_text_is_not_shown() -> None:
    writing, events = written("\n\n ", "Llueve ", f"{TAG}.", "\n", "\n ")
    assert writing.text == shown(events) == "Llueve [1](#ask-book-1)."


def test_the_citation_is_known_before_its_note_is_shown() -> None:
    _, events = written(f"Llueve {TAG}.")
    kinds = [event.kind for event in events]
    assert kinds.index("citation") < max(at for at, event in enumerate(events) if "[1]" in str(event.data))


@pytest.mark.parametrize(
    "pieces", [("No ", "encon", "trado en", " el libro."), ("**No encontrado en el libro**",), ("",)]
)
def test_nothing_of_not_found_is_shown_while_it_comes(pieces: tuple[str, ...]) -> None:
    writing, events = written(*pieces)
    assert events == []
    assert writing.says_not_found == bool(pieces[0])


def test_a_text_that_only_begins_so_is_shown_once_it_goes_on() -> None:
    writing, events = written("No ", "encontrado", f" ahí, sino en junio {TAG}.")
    assert shown(events) == "No encontrado ahí, sino en junio [1](#ask-book-1)."
    assert not writing.says_not_found


@given(
    st.lists(st.sampled_from(["No ", "encontrado", " en el libro", ".", " ", "\n", "Llueve", str(TAG), "[f1-2", "]"]))
)
def test_what_is_shown_is_what_is_kept(pieces: list[str]) -> None:
    writing, events = written(*pieces)
    assert shown(events) == writing.text
    assert "[f1" not in writing.text
    assert writing.text == writing.text.strip()
