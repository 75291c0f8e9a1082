"""Every right answer of `fixtures/claims/`, its tags spoilt or dressed up as models do it: what is verified?"""

import re
from collections import Counter
from collections.abc import Callable

import pytest

from ask_book.answering.citations import NOTE, Notes
from ask_book.answering.claims import check_claims
from ask_book.answering.writing import Writing
from ask_book.book.manifest import Tag
from claim_books import BOOKS, ClaimBook, claim_book

TAG = re.compile(r"\[f(\d+)-(\d+)-(\d+)\]")
RAW = re.compile(r"f\d+[-‑–]\d+|\[#|【|［")


def each(change: Callable[[str, int, int, int], str]) -> Callable[[str], str]:
    """A change of every tag, given the tag and its three numbers."""
    return lambda text: TAG.sub(lambda tag: change(tag[0], int(tag[1]), int(tag[2]), int(tag[3])), text)


DRESSED = {
    "bold": each(lambda tag, *_: f"**{tag}**"),
    "code": each(lambda tag, *_: f"`{tag}`"),
    "double": each(lambda tag, *_: f"[{tag}]"),
    "round": each(lambda tag, *_: f"({tag[1:-1]})"),
    "lenticular": each(lambda tag, *_: f"【{tag[1:-1]}】"),
    "full width": each(lambda tag, *_: f"［{tag[1:-1]}］"),
    "bare": each(lambda tag, *_: f" {tag[1:-1]}"),
    "dashes": each(lambda tag, *_: tag.replace("-", "–")),
    "spaces": each(lambda tag, *_: tag.replace("-", " - ")),
    "upper case": each(lambda tag, *_: tag.upper()),
    "link": each(lambda tag, *_: f"[1]({tag})"),
    "explained": each(lambda tag, *_: f"{tag[:-1]}: see there]"),
    "comma": each(lambda tag, *_: f", {tag},"),
    "full stop": each(lambda tag, *_: f"。{tag}。"),
    "twice": each(lambda tag, *_: tag * 2),
    "listed": each(lambda tag, *_: f"{tag[:-1]}, {tag[1:]}"),
    "glued to a forged one": each(lambda tag, c, s, e: f"{tag[:-1]}f{c}-{s}-{e}0]"),
}
SPOILT = {
    "start moved": each(lambda _, c, s, e: f"[f{c}-{s + 1}-{e}]"),
    "end moved": each(lambda _, c, s, e: f"[f{c}-{s}-{e - 1}]"),
    "other chapter": each(lambda _, c, s, e: f"[f{c + 1}-{s}-{e}]"),
    "two parts": each(lambda _, c, s, e: f"[f{c}-{s}]"),
    "four parts": each(lambda _, c, s, e: f"[f{c}-{s}-{e}-{e + 9}]"),
    "reversed": each(lambda _, c, s, e: f"[f{c}-{e}-{s}]"),
    "huge": each(lambda _, c, s, e: f"[f{c}-{s}-{e}000000]"),
    "whole chapter": each(lambda *_: "[f0-0-9999]"),
    "anchor": each(lambda *_: "[#sec-nowhere]"),
    "own note": each(lambda *_: "[1](#ask-book-1)"),
    "own number": each(lambda *_: "[1]"),
    "cut off": each(lambda tag, *_: tag[:-3]),
    "none": each(lambda *_: ""),
}


def shown(book: ClaimBook, text: str, size: int = 10**6) -> Writing:
    """What a reader sees, the text coming in pieces of that size."""
    writing = Writing(Notes(book.manifest, frozenset(book.tags.values())), "Not found in the book")
    events = [event for at in range(0, len(text), size) for event in writing.feed(text[at : at + size])]
    events += writing.close()
    assert "".join(event.data for event in events if event.kind == "delta") == writing.text
    return writing


def check(book: ClaimBook, writing: Writing) -> None:
    """Nothing that looks like a tag is seen, and what is verified was offered and is in the book, word for word."""
    rest = NOTE.sub("", writing.text)
    assert not RAW.search(rest), writing.text
    for citation in writing.notes.citations:
        tag = Tag.parse(citation.tag)
        assert tag is not None
        assert tag in book.tags.values()
        assert citation.verified
        assert citation.quote == book.manifest.text(tag)
    assert {int(n) for n in NOTE.findall(writing.text)} == {citation.n for citation in writing.notes.citations}


def test_no_citation_that_cannot_be_verified_is_shown_as_verified() -> None:
    counts: Counter[str] = Counter()
    for name in BOOKS:
        book = claim_book(name)
        for script in map(book.scripted, book.right):
            wanted = {tag[0] for tag in TAG.finditer(script)}
            for kind, change in DRESSED.items():
                writing = shown(book, change(script))
                check(book, writing)
                assert {citation.tag for citation in writing.notes.citations} == wanted, (kind, change(script))
                counts["dressed up"] += 1
            for kind, change in SPOILT.items():
                writing = shown(book, change(script))
                check(book, writing)
                cited = {citation.tag for citation in writing.notes.citations}
                assert cited == set(), (kind, change(script))
                claims = check_claims(writing.text, [], book.manifest, book.lang, writing.notes.dropped)
                assert claims.uncited
                assert claims.dropped_tags > 0 or kind == "none", (kind, change(script))
                counts["spoilt"] += 1
    print(f"{counts['dressed up']} answers with tags dressed up, {counts['spoilt']} with tags spoilt: 0 unverifiable")
    assert counts["spoilt"] > 3500


@pytest.mark.parametrize("name", BOOKS)
def test_a_tag_cut_between_two_deltas_is_the_same_tag(name: str) -> None:
    book = claim_book(name)
    for at, script in enumerate(map(book.scripted, book.right)):
        kinds = [*DRESSED.values(), *SPOILT.values()]
        text = kinds[at % len(kinds)](script)
        whole = shown(book, text)
        for size in (1, 2, 3, 5):
            pieces = shown(book, text, size)
            assert (pieces.text, pieces.notes.dropped) == (whole.text, whole.notes.dropped)
