"""Which sentences of an answer are marked. The set of scripted answers is in `fixtures/claims/`."""

import re
from collections import Counter
from functools import cache

import pytest

from ask_book.answering.answer import Claims
from ask_book.answering.citations import Notes
from ask_book.answering.claims import check_claims
from ask_book.book.manifest import Block, Book, Chapter, Manifest, Section, Tag
from claim_books import BOOKS, Case, cases, claim_book
from small_books import small_manifest

BEES = small_manifest("en")
HIVES = BEES.chapters[1].text


def span(words: str) -> Tag:
    start = HIVES.index(words)
    return Tag(1, start, start + len(words))


BEE_TAGS = {
    "winter": span("Bees need feeding in late winter."),
    "weight": span("It should weigh at least 40 kg, or be tied down."),
    "ames": span("Dr. Ames ties hers with straps, e.g. the ones that movers use."),
    "feeding": Tag(1, BEES.chunks[2].start, BEES.chunks[2].end),
    "march": span("March syrup 2.5"),
}


def written(manifest: Manifest, tags: dict[str, Tag], script: str, lang: str) -> tuple[str, Claims]:
    """What is shown of a text in which `[name]` stands for a tag, and what is claimed in it."""
    notes = Notes(manifest, frozenset(tags.values()))
    text = re.sub(r"\[([a-z]+)\]", lambda found: str(tags[found[1]]), script)
    answer = "".join(part for part in [*notes.feed(text), *notes.close()] if isinstance(part, str))
    return answer, check_claims(answer, notes.citations, manifest, lang, notes.dropped)


def marks(script: str) -> list[tuple[str, str]]:
    """The marked sentences of an answer about bees."""
    answer, claims = written(BEES, BEE_TAGS, script, "en")
    note = re.compile(r" ?\[\d+\]\(#ask-book-\d+\)")
    return [(mark.kind, note.sub("", answer[mark.start : mark.end])) for mark in claims.marks]


def one_sentence(text: str) -> Manifest:
    """A book that says nothing else."""
    section = Section("s", "s", 2, "Part", "", ("Part",), 0, len(text), (Block("para", 0, len(text), text),))
    chapter = Chapter(0, "a.qmd", "a.html", "One", "1", "", "", (section,))
    return Manifest(Book("0", "Book", (), "en", "", ""), (chapter,), ())


def claimed(manifest: Manifest, text: str) -> int:
    """How many sentences of a text that cites the whole book it does not support."""
    whole = Tag(0, 0, len(manifest.chapters[0].text))
    return written(manifest, {"all": whole}, f"{text[:-1]} [all].", "en")[1].unsupported


@cache
def verdicts(name: str) -> list[tuple[Case, Claims]]:
    book = claim_book(name)
    return [(case, written(book.manifest, book.tags, case.text, book.lang)[1]) for case in cases(name)]


def is_misjudged(case: Case, claims: Claims) -> bool:
    return bool(claims.marks) if case.kind == "right" else not claims.unsupported


# -- the figure that matters -------------------------------------------------------------------------------------------


def test_wrong_numbers_and_names_are_marked_and_right_ones_are_not() -> None:
    judged = [verdict for name in BOOKS for verdict in verdicts(name)]
    total = Counter(case.kind for case, _ in judged)
    missed = Counter(case.kind for case, claims in judged if is_misjudged(case, claims))
    for kind, count in total.most_common():
        print(f"{kind:10} {count:4} answers, {missed[kind]:3} judged wrongly")
    facts = ("numbers", "units", "dates", "names", "invented")
    assert sum(total[kind] for kind in facts) >= 650
    assert all(missed[kind] <= 0.05 * total[kind] for kind in facts)
    assert total["right"] >= 300
    assert missed["right"] <= 0.03 * total["right"]
    assert missed["swapped"] == 0
    assert missed["negation"] <= 0.3 * total["negation"]


@pytest.mark.parametrize("name", BOOKS)
def test_no_book_is_judged_much_worse_than_the_others(name: str) -> None:
    wrong = [verdict for verdict in verdicts(name) if verdict[0].kind != "right"]
    right = [verdict for verdict in verdicts(name) if verdict[0].kind == "right"]
    assert sum(is_misjudged(*verdict) for verdict in wrong) <= 0.1 * len(wrong)
    assert sum(is_misjudged(*verdict) for verdict in right) <= 0.1 * len(right)


# -- the rules, one by one ---------------------------------------------------------------------------------------------


def test_claims_are_cited_uncited_or_unsupported() -> None:
    script = (
        "A hive weighs at least 40 kg [weight]. It weighs 45 kg [weight]. Bees are nice. "
        "Bees need food in winter. [winter] As Dr. Ames says, straps help [ames]. As Dr. Brown says, too [ames]."
    )
    assert marks(script) == [
        ("unsupported", "It weighs 45 kg."),
        ("uncited", "Bees are nice."),
        ("unsupported", "As Dr. Brown says, too."),
    ]
    claims = written(BEES, BEE_TAGS, script, "en")[1]
    assert (claims.cited, claims.uncited, claims.unsupported) == (3, 1, 2)


def test_numbers_are_compared_as_values() -> None:
    """The passage on feeding has `10 °C`, `2.5` and `1.0` under "Kilograms per hive"."""
    right = ("at 10 °C", "2.50 kg", "1 kg", "two and 2.5 kilograms: two of them")
    assert [marks(f"They eat {words} [feeding].") for words in right[:3]] == [[], [], []]
    wrong = ("25 kg", "at 10.5 °C", "at 100 °C", "1,000 kg", "10 %", "at 10 °F")
    assert all(marks(f"They eat {words} [feeding].") for words in wrong)


def test_the_head_of_a_table_gives_a_cell_its_unit() -> None:
    assert marks("In March they get 2.5 kilograms of syrup [march].") == []
    assert marks("In March they get 2.5 litres of syrup [march].")
    assert marks("In April they get 2.5 kilograms of syrup [march].")


def test_a_number_of_a_chapter_or_a_table_is_the_number_of_a_place() -> None:
    assert marks("A hive should weigh at least 40 kg, as chapter 7 says [weight].")
    book = claim_book("en")
    right = "Section 1.1 says that the tower is 41.3 m high [height]."
    assert written(book.manifest, book.tags, right, "en")[1].marks == ()
    assert written(book.manifest, book.tags, right.replace("1.1", "1.7"), "en")[1].unsupported == 1


def test_a_name_with_another_number_is_another_name() -> None:
    manifest = one_sentence("Use roxygen2 from 7.0.0 on, as H2 and H3 do.")
    assert claimed(manifest, "Since 7.0.0 there is roxygen2.") == 0
    assert claimed(manifest, "Since 7.0.0 there is roxygen3.") == 1


def test_an_acronym_is_a_name_of_its_words_and_they_of_it() -> None:
    index = one_sentence("The Human Development Index combines health, education and income.")
    assert claimed(index, "The HDI combines three things: health, education and income.") == 0
    assert claimed(index, "The WHI combines them.") == 1
    assert claimed(one_sentence("The HDI is a score."), "It is called Human Development Index.") == 0


def test_a_sentence_may_count_what_its_source_lists() -> None:
    steps = one_sentence("It shows (i) a rise; (ii) peaks; (iii) a spike and (iv) noise, all told by four keepers.")
    assert claimed(steps, "There are four features.") == 0
    assert claimed(steps, "Three keepers tell it.") == 1


def test_several_notes_support_a_sentence_together() -> None:
    assert marks("Bees are fed in winter [winter], and a hive weighs 40 kg [weight].") == []
    assert marks("Dr. Ames has hives of 40 kg [ames][weight].") == []
    assert marks("Dr. Ames has hives of 40 kg [weight].")


def test_questions_headings_code_and_announcements_claim_nothing() -> None:
    text = "# Winter\n\nWhat do bees need?\n\nTwo things:\n\n```\nx = 7. Really.\n```\n\nBees need feeding [winter]."
    assert written(BEES, BEE_TAGS, text, "en")[1] == Claims(cited=1)
    assert written(BEES, BEE_TAGS, "Not found in the book.", "en")[1] == Claims()


def test_an_answer_in_another_language_is_checked_in_that_language() -> None:
    spanish = "Una colmena debe pesar por lo menos cuarenta kilos, o estar atada [weight]."
    assert marks(spanish) == []
    assert marks(spanish.replace("cuarenta", "cincuenta")) == [
        ("unsupported", spanish.replace("cuarenta", "cincuenta")[:-10] + ".")
    ]


ODD = ["", "[", "\n\n", "a" * 50_000, "1 " * 20_000, "A b. " * 5_000, "9" * 5_000, "a" * 50_000 + "   5", "一" * 6_000]
ODD += [
    "Aa " * 5_000,
    "1/0 0/0 99:99 99.99.9999 2024-99-99",
    "one hundred " * 3_000,
    "万" * 500,
    "$" * 9_000,
    "no, " * 5_000,
]


@pytest.mark.parametrize("text", ODD, ids=[text[:12] for text in ODD])
def test_no_text_is_too_odd_or_too_long(text: str) -> None:
    assert isinstance(written(BEES, BEE_TAGS, f"{text} [feeding][ames].", "en")[1], Claims)
    for lang in ("en", "de", "zh", "xx"):
        assert isinstance(check_claims(f"{text} [1](#ask-book-1)", [], BEES, lang), Claims)
