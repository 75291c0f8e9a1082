"""What a passage is found by, and its sentences."""

from __future__ import annotations

import numpy as np

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
    passage = read(text, postings.ids, marks=False, short=False)
    sentences = np.split(passage.terms, passage.starts[1:])
    terms = [[postings.vocabulary[row] for row in sentence] for sentence in sentences]
    whole_words = [sorted(term[1:-1] for term in sentence if term[0] == term[-1] == "_") for sentence in terms]
    assert whole_words == [
        ["3", "5", "costs", "euros", "it"],
        ["is", "it", "much"],
        ["no"],
        ["line", "next"],
        ["and", "end"],
    ]


def test_a_term_counts_once_a_sentence_and_empty_sentences_do_not_count() -> None:
    text = "so so so.  \n\n so, …"
    passage = read(text, build([text]).ids, marks=False, short=False)
    assert (passage.terms.tolist(), passage.starts.tolist(), passage.distinct.tolist()) == ([0, 0], [0, 1], [0])
