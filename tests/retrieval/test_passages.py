"""What a passage is found by, and its sentences."""

from __future__ import annotations

from ask_book.retrieval.bm25 import build
from ask_book.retrieval.passages import indexed_text, read
from small_books import small_manifest


def test_headings_come_twice_and_contexts_once() -> None:
    manifest = small_manifest("es")
    text = indexed_text(manifest, manifest.chunks[2])
    assert text.startswith("El clima\nLa lluvia\nEl clima\nLa lluvia\nLa lluvia\nLa estación seca")
    chunk = manifest.chunks[2]
    blocks = manifest.chapters[chunk.chapter].blocks_in(chunk.start, chunk.end)
    contexts = [block.context for block in blocks if block.context]
    assert contexts
    assert all(text.count(context) >= 1 for context in contexts)


def test_sentences_end_at_marks_before_a_space_and_at_lines() -> None:
    text = "It costs 3.5 euros. Is it much? No\nNext line; and end"
    postings = build([text])
    passage = read(text, postings.ids, marks=False)
    sentences = [set[str]() for _ in range(5)]
    for term, sentence in zip(passage.terms, passage.sentences, strict=True):
        sentences[sentence].add(postings.vocabulary[term])
    whole_words = [sorted(term.strip("_") for term in terms if term[0] == term[-1] == "_") for terms in sentences]
    assert whole_words == [
        ["3", "5", "costs", "euros", "it"],
        ["is", "it", "much"],
        ["no"],
        ["line", "next"],
        ["and", "end"],
    ]


def test_a_term_counts_once_a_sentence() -> None:
    postings = build(["so so so. so"])
    assert read("so so so. so", postings.ids, marks=False).sentences.tolist() == [0, 1]
