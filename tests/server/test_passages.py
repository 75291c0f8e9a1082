import pytest

from ask_book.answering.open_book import OpenBook
from ask_book.answering.sentences import units
from ask_book.book.manifest import Tag
from ask_book.server.passages import find_passage, fnv1a


@pytest.mark.parametrize(
    ("text", "value"), [("", "811c9dc5"), ("a", "e40c292c"), ("foobar", "bf9cf968"), ("ñandú 🐝", "b1136593")]
)
def test_the_hash_is_fnv1a_of_the_utf8(text: str, value: str) -> None:
    assert fnv1a(text) == value


def test_any_sentence_is_found_from_any_tag_of_its_length(book: OpenBook) -> None:
    for chapter in book.manifest.chapters:
        for block in chapter.blocks:
            for start, end in units(block, book.locale.abbreviations):
                quote = chapter.text[start:end]
                found = find_passage(book, Tag(chapter.index, start + 1, end + 1), fnv1a(quote))
                assert found is not None
                assert book.manifest.text(found) == quote


def test_of_several_places_the_nearest_is_taken(book: OpenBook) -> None:
    chapter = book.manifest.chapters[1]
    places = [block.start for block in chapter.blocks if block.text == "El clima"]
    assert find_passage(book, Tag(1, places[0] + 3, places[0] + 11), fnv1a("El clima")) == Tag(
        1, places[0], places[0] + 8
    )


def test_words_that_are_gone_are_not_found(book: OpenBook) -> None:
    assert find_passage(book, Tag(1, 0, 8), "00000000") is None
    assert find_passage(book, Tag(77, 0, 8)) is None
    assert find_passage(book, Tag(1, 0, 10**9)) is None
