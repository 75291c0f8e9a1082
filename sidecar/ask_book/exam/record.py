"""Questions of readers as items of an exam.

An answer with a thumb up is right: what it cites must be cited. A thumb down, an answer without notes, a refusal and a
question that leans on the one before it are for the author to decide. Answers that nobody judged are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ask_book.exam.asked import Asked
from ask_book.exam.draft import Draft, shortened, unique
from ask_book.exam.format import Place, Question
from ask_book.exam.run import Quotes, letters

PLACES = 3


def items(asked: Iterable[Asked], quotes: Quotes) -> list[Draft]:
    """First those that are decided, then those that are not; each question once, a judged one before a refused one."""
    drafts = list(_drafts(asked, quotes))
    return unique([*(one for one in drafts if one.decided), *(one for one in drafts if not one.decided)])


def _drafts(asked: Iterable[Asked], quotes: Quotes) -> Iterator[Draft]:
    for one in sorted(asked, key=lambda one: not one.value):
        places = tuple(
            Place(shortened(cited.quote), cited.file, cited.heading, cited.anchor)
            for cited in one.cited
            if letters(cited.quote) and quotes.exist(cited.quote)
        )[:PLACES]
        cites = Question(one.question, 0, "reader", places)
        refuses = Question(one.question, 0, kind="near")
        if one.status == "not_found":
            yield Draft(refuses, f"It was not found. Should it be refused?{_reason(one)}", decided=False)
        elif one.value == "down":
            yield Draft(
                cites if places else refuses, f"A reader was not content: where is the answer?{_reason(one)}", False
            )
        elif one.value == "up" and one.follows:
            yield Draft(cites, "It leans on the question before it: write it out.", decided=False)
        elif one.value == "up" and places:
            yield Draft(cites)
        elif one.value == "up":
            yield Draft(
                refuses, "It was answered well, from words that the book no longer has: where is it now?", False
            )


def _reason(one: Asked) -> str:
    return f" A reader said: {one.reason}" if one.reason else ""
