"""What an author could take instead, behind one call each: passages in, ranking out.

An engine is built from (title, text) pairs, the title written twice as in our own index, and gives for a question the
numbers of the ten best passages. Those that are not installed are left out of the tables.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

Passages = Sequence[tuple[str, str]]
Search = Callable[[str], list[int]]
LANGUAGES = {"es": "spanish", "en": "english"}


def module(name: str) -> Any:
    """A module that need not be installed."""
    return import_module(name)


def texts_of(passages: Passages) -> list[str]:
    """The title twice, then the text."""
    return [f"{title}\n{title}\n{text}" for title, text in passages]


def bm25s_snowball(passages: Passages, lang: str) -> Search:
    """bm25s with snowball stems and its own stop words."""
    bm25s, stem = module("bm25s"), module("Stemmer").Stemmer(LANGUAGES[lang])

    def cut(text: list[str] | str) -> Any:
        return bm25s.tokenize(text, stopwords=lang, stemmer=stem, show_progress=False)

    engine = bm25s.BM25()
    engine.index(cut(texts_of(passages)), show_progress=False)

    def search(question: str) -> list[int]:
        asked = cut(question)
        found, _ = engine.retrieve(asked, k=min(10, len(passages)), show_progress=False)
        return [int(at) for at in found[0]]

    return search


def tantivy_snowball(passages: Passages, lang: str) -> Search:
    """Tantivy with its stemmer of the language."""
    tantivy = module("tantivy")

    builder = tantivy.SchemaBuilder()
    builder.add_integer_field("number", stored=True)
    builder.add_text_field("text", tokenizer_name="stem")
    index = tantivy.Index(builder.build())
    analyzer = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    analyzer = analyzer.filter(tantivy.Filter.lowercase()).filter(tantivy.Filter.stemmer(LANGUAGES[lang]))
    index.register_tokenizer("stem", analyzer.build())
    writer = index.writer()
    for number, text in enumerate(texts_of(passages)):
        writer.add_document(tantivy.Document(number=number, text=text))
    writer.commit()
    index.reload()
    searcher = index.searcher()

    def search(question: str) -> list[int]:
        words = " ".join(re.findall(r"\w+", question.lower()))
        hits = searcher.search(index.parse_query(words, ["text"]), 10).hits
        return [int(searcher.doc(address)["number"][0]) for _, address in hits]

    return search


def sqlite_fts5(passages: Passages, lang: str) -> Search:
    """SQLite FTS5, unicode61: accents folded, no stems."""
    del lang
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE passages USING fts5(text, tokenize='unicode61 remove_diacritics 2')")
    rows = list(enumerate(texts_of(passages)))
    connection.executemany("INSERT INTO passages(rowid, text) VALUES (?, ?)", rows)

    def search(question: str) -> list[int]:
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", question))
        query = "SELECT rowid FROM passages WHERE passages MATCH ? ORDER BY bm25(passages), rowid LIMIT 10"
        return [int(row[0]) for row in connection.execute(query, (words,))]

    return search


def rank_bm25_snowball(passages: Passages, lang: str) -> Search:
    """rank_bm25's BM25Okapi with snowball stems."""
    bm25, stem = module("rank_bm25"), module("Stemmer").Stemmer(LANGUAGES[lang])

    def cut(text: str) -> list[str]:
        return list(stem.stemWords(re.findall(r"\w+", text.lower())))

    engine = bm25.BM25Okapi(list(map(cut, texts_of(passages))))

    def search(question: str) -> list[int]:
        scores = engine.get_scores(cut(question))
        return [int(at) for at in (-scores).argsort(kind="stable")[:10]]

    return search


ENGINES: dict[str, Callable[[Passages, str], Search]] = {"SQLite FTS5": sqlite_fts5}
if find_spec("bm25s") and find_spec("Stemmer"):
    ENGINES["bm25s, snowball"] = bm25s_snowball
if find_spec("tantivy"):
    ENGINES["tantivy, snowball"] = tantivy_snowball
if find_spec("rank_bm25") and find_spec("Stemmer"):
    ENGINES["rank_bm25, snowball"] = rank_bm25_snowball
