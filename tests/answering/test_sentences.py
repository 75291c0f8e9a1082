import pytest
from hypothesis import given
from hypothesis import strategies as st

from ask_book.answering.sentences import sentences, units
from ask_book.book.manifest import Block
from ask_book.retrieval.language import locale
from small_books import fixture, small_manifest

CASES = fixture("sentences.json")
TEXT = st.text(alphabet=st.sampled_from("aBc 1.!?…。！»”)'«¿\n\té中😀") | st.characters(), max_size=80)


@pytest.mark.parametrize("case", CASES, ids=[case["text"][:40] for case in CASES])
def test_the_vectors(case: dict[str, object]) -> None:
    text = str(case["text"])
    spans = sentences(text, locale(str(case["lang"])).abbreviations)
    assert [text[start:end] for start, end in spans] == case["sentences"]
    assert [list(span) for span in spans] == case["spans"]


@given(TEXT)
def test_every_visible_character_is_in_exactly_one_sentence(text: str) -> None:
    spans = sentences(text, {"a.", "c."})
    covered = [at for start, end in spans for at in range(start, end)]
    assert covered == sorted(set(covered))
    assert not "".join(char for at, char in enumerate(text) if at not in set(covered)).strip()
    assert all(text[start:end] == text[start:end].strip() != "" for start, end in spans)


def test_a_table_row_code_and_a_formula_stay_whole() -> None:
    row = Block("table", 10, 26, "Enero. 112. 9.5 .")
    assert list(units(row)) == [(10, 27)]
    assert list(units(Block("code", 0, 13, "  x. Y.\n  z. "))) == [(2, 12)]


def test_units_are_offsets_in_the_chapter() -> None:
    for lang in ("es", "en"):
        for chapter in small_manifest(lang).chapters:
            for block in chapter.blocks:
                for start, end in units(block, locale(lang).abbreviations):
                    assert block.start <= start < end <= block.end
                    assert chapter.text[start:end] in block.text
