"""What leans on the question before it, and what only greets: the same list holds the browser's twin."""

from dataclasses import replace

import pytest

from ask_book.answering.conversation import small_talk, with_what_went_before
from ask_book.answering.open_book import OpenBook
from ask_book.answering.question import question
from ask_book.retrieval.language import locale
from small_books import fixture

SAID = fixture("conversation.json")
BEFORE = "A question asked before"


def speaking(book: OpenBook, lang: str) -> OpenBook:
    manifest = replace(book.manifest, book=replace(book.manifest.book, lang=lang))
    return replace(book, manifest=manifest, index=replace(book.index, lang=lang))


@pytest.mark.parametrize("lang", SAID)
def test_what_points_to_the_question_before_takes_its_words_along(bees: OpenBook, lang: str) -> None:
    book, history = speaking(bees, lang), [{"question": BEFORE}]
    leans = dict.fromkeys(SAID[lang]["leaning"], True) | dict.fromkeys(SAID[lang]["alone"], False)
    searched = {text: with_what_went_before(book, question(text, history)) for text in leans}
    taken_along = {text: f"{text} {BEFORE}" for text in leans}
    assert all(searched[text] in (text, taken_along[text]) for text in leans)
    assert [text for text in leans if (searched[text] == taken_along[text]) != leans[text]] == SAID[lang]["missed"]


def test_the_list_is_as_long_as_the_guide_says() -> None:
    sizes = {kind: sum(len(said[kind]) for said in SAID.values()) for kind in SAID["en"]}
    assert sizes == {"leaning": 84, "alone": 84, "small_talk": 60, "questions": 37, "missed": 7}


@pytest.mark.parametrize("lang", SAID)
def test_small_talk_is_no_question_to_the_book_and_a_question_is_no_small_talk(bees: OpenBook, lang: str) -> None:
    reply = locale("en").answer["small_talk_reply"]
    assert [small_talk(bees, text) for text in SAID[lang]["small_talk"]] == [reply] * len(SAID[lang]["small_talk"])
    assert [text for text in SAID[lang]["questions"] if small_talk(bees, text)] == []
