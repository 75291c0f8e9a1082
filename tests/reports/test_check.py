from dataclasses import replace

from ask_book.book.manifest import Block, Manifest, Tag
from ask_book.reports.check import standing, standings, worst
from reports.samples import QUOTE, citation
from small_books import small_manifest

WORDS = "La estación seca va de junio a septiembre."


def without(manifest: Manifest, words: str, instead: str) -> Manifest:
    """The book with some of its words changed."""

    def changed(block: Block, shift: int) -> Block:
        text = block.text.replace(words, instead)
        return replace(block, text=text, start=block.start + shift, end=block.start + shift + len(text))

    chapters = []
    for chapter in manifest.chapters:
        sections, shift = [], 0
        for section in chapter.sections:
            blocks, start = [], section.start + shift
            for block in section.blocks:
                blocks.append(changed(block, shift))
                shift += len(blocks[-1].text) - len(block.text)
            sections.append(replace(section, blocks=tuple(blocks), start=start, end=section.end + shift))
        chapters.append(replace(chapter, sections=tuple(sections)))
    return replace(manifest, chapters=tuple(chapters))


def test_a_quote_that_stands() -> None:
    found = standing(small_manifest(), QUOTE, WORDS)
    assert (found.fate, found.tag) == ("stands", QUOTE)


def test_a_quote_that_has_moved_is_found_where_it_is() -> None:
    manifest = small_manifest()
    before = manifest.chapters[1].text[:200]
    longer = without(manifest, before.split("\n")[-1][:10], "Más palabras aquí y más")
    found = standing(longer, QUOTE, WORDS)
    assert found.fate == "moved"
    assert found.tag != QUOTE
    assert found.tag is not None
    assert longer.text(found.tag) == WORDS


def test_a_quote_that_is_gone() -> None:
    found = standing(without(small_manifest(), "junio", "julio"), QUOTE, WORDS)
    assert (found.fate, found.tag) == ("gone", None)


def test_odd_tags_and_quotes() -> None:
    manifest = small_manifest()
    assert standing(manifest, None, WORDS).fate == "moved"
    assert standing(manifest, Tag(99, 0, 5), WORDS).tag == QUOTE
    assert standing(manifest, QUOTE, "").fate == "gone"
    assert standing(manifest, QUOTE, "  ").fate == "gone"


def test_the_worst_of_a_report() -> None:
    manifest = small_manifest()
    moved = citation(2, tag="[f0-0-5]")
    gone = citation(3, quote="No está.")
    assert worst(standings([citation()], manifest)) == "stands"
    assert worst(standings([citation(), moved], manifest)) == "moved"
    assert worst(standings([citation(), moved, gone], manifest)) == "gone"
    assert worst([]) is None
