"""Places of the book that a question or a caller names: a chapter, a part, a section, a figure, an anchor.

`chapter:clima` in a question (also in the languages of `_CHAPTER`, and `chapter:"two words"`) narrows the search.

A question names a place by id (`@fig-map`, `#sec-clima`, a label's bare name) or by kind and number in any of the
languages below ("Figura 3.2", "tabla 3.2 y 3.3", "teorema 2.3", "capítulo 5", "第5章"). Numbers are those of the
rendered book. Kinds are the prefixes of Quarto's labels, and `cha` for chapters and appendices.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePosixPath

import numpy as np

from ask_book.book.manifest import Chapter, Manifest, Section, link
from ask_book.retrieval import tokens
from ask_book.retrieval.bm25 import Floats, Mask

HELD = 0.5
OPENING = 0.45
NEAR = 0.4
REFERENCES = 0.5

Span = tuple[int, int, int]

_KINDS = {
    "fig": "fig figura figure figur abbildung abb 图 図",
    "tbl": "tabla table tab tabela tabelle tabella tableau cuadro quadro 表",
    "eq": "ecuacion equation equacao gleichung equazione formule formula eq ec gl 式",
    "thm": "teorema theorem theoreme satz thm 定理",
    "lem": "lema lemma lemme",
    "cor": "corolario corollary corollaire korollar corollario",
    "prp": "proposicion proposition proposicao proposizione",
    "def": "definicion definition definicao definizione def 定义 定義",
    "exm": "ejemplo example exemple exemplo beispiel esempio 例",
    "exr": "ejercicio exercise exercice exercicio ubung esercizio",
    "lst": "listado listing listagem listato",
    "sec": "seccion section secao abschnitt sezione apartado sec 节 節",
    "cha": "capitulo chapter chapitre kapitel capitolo cap chap kap ch 章 "
    "apendice appendix annexe anexo anhang appendice",
}
_KIND_OF = {word: kind for kind, words in _KINDS.items() for word in words.split()}
_NUMBER = r"(?:[0-9]+|[a-z](?![a-z]))(?:\.[0-9]+)*"
_AND = r"(?:\s*[,&]\s*|\s+(?:y|e|and|et|und)\s+)"
_NAMED = re.compile(
    rf"(?:(?<![^\W\d_])|(?=[^\x00-\u024f]))({'|'.join(sorted(_KIND_OF, key=len, reverse=True))})"
    rf"(?:s|es|en|n)?\.?\s*({_NUMBER}(?:{_AND}{_NUMBER})*)"
)
_NTH = re.compile(r"第\s*([0-9]+(?:\.[0-9]+)*)\s*([章节節])")
_CHAPTER = re.compile(
    r"(?<!\S)(?:chapter|cap[ií]tulo|chapitre|kapitel|capitolo|章)[:：](\"[^\"]+\"|[“«][^”»]+[”»]|[^\s\"“«]\S*)",
    re.IGNORECASE,
)
_LISTS_OF_REFERENCES = (
    "references referencias referencia bibliography bibliografia bibliographie referenzen literatur "
    "literaturverzeichnis quellen quellenverzeichnis riferimenti referenser 参考文献 引用文献 文献"
)


def in_scope(manifest: Manifest, scope: str) -> Mask:
    """The passages of a chapter (its file or page), of a part (its title), or under an anchor, with or without `#`.

    A page and an anchor may come together (`page.html#sec-x`). What is none of these may be a chapter's number, its
    file without folder and ending, or words of its title. An unknown scope holds no passage.
    """
    if chapters := _chapters_named(manifest, scope):
        return _passages_in(manifest, map(_whole, chapters))
    page, _, anchor = scope.rpartition("#")
    spans = _under_anchor(_chapters_named(manifest, page) or manifest.chapters, anchor)
    return _passages_in(manifest, spans or map(_whole, _chapters_called(manifest, scope)))


def narrowed(manifest: Manifest, question: str) -> tuple[str, str | None]:
    """A question without its `chapter:…`, and the scope that this is; as it came when there is no such chapter."""
    found = _CHAPTER.search(question)
    scope = found[1].strip('"“”«».,;:!?') if found else ""
    if not found or not in_scope(manifest, scope).any():
        return question, None
    rest = f"{question[: found.start()]}{question[found.end() :]}".strip()
    return rest or scope, scope


def _chapters_named(manifest: Manifest, name: str) -> list[Chapter]:
    named = ((chapter, (chapter.file, chapter.href, link(chapter.href), chapter.part)) for chapter in manifest.chapters)
    return [chapter for chapter, names in named if name and name in names]


def _chapters_called(manifest: Manifest, name: str) -> list[Chapter]:
    """Those of this number; else of this file, without folder and ending; else with these words in their title."""
    words = tokens.runs(tokens.fold(name))

    def chosen(fits: Callable[[Chapter], bool]) -> list[Chapter]:
        return [chapter for chapter in manifest.chapters if words and fits(chapter)]

    def is_titled(chapter: Chapter) -> bool:
        title = tokens.fold(chapter.title)
        return all(word in (title if tokens.is_unspaced(word) else tokens.runs(title)) for word in words)

    return (
        chosen(lambda chapter: tokens.fold(chapter.number) == tokens.fold(name))
        or chosen(lambda chapter: PurePosixPath(chapter.file).stem == name)
        or chosen(is_titled)
    )


def lists_of_references(manifest: Manifest) -> Mask:
    """The passages of sections whose title begins like that of a bibliography."""
    titles = set(_LISTS_OF_REFERENCES.split())
    return _passages_in(
        manifest,
        (
            (chapter.index, section.start, section.end)
            for chapter in manifest.chapters
            for section in chapter.sections
            if titles.intersection(tokens.runs(tokens.fold(section.title))[:1])
        ),
    )


def named(manifest: Manifest, question: str) -> Floats:
    """How strongly a question names each passage.

    `HELD` if it holds the place; `NEAR` if it is in a named chapter, `OPENING` in that chapter's first section.
    """
    place = np.zeros(len(manifest.chunks))
    for kind, number in _numbered(question):
        if kind == "cha":
            chapters = [chapter for chapter in manifest.chapters if tokens.fold(chapter.number) == number]
            openings = ((chapter.index, 0, chapter.sections[0].end) for chapter in chapters if chapter.sections)
            place = np.maximum(place, NEAR * _passages_in(manifest, map(_whole, chapters)))
            place = np.maximum(place, OPENING * _passages_in(manifest, openings))
        else:
            place = np.maximum(place, HELD * _passages_in(manifest, _spans_of_number(manifest, kind, number)))
    for name in _ids(manifest, question):
        place = np.maximum(place, HELD * _passages_in(manifest, _spans_of_id(manifest, name)))
    return place


def is_name_of_place(run: str) -> bool:
    """Whether a word of a question may belong to the name of a place: a kind, a number, a single letter."""
    return run in _KIND_OF or len(run) == 1 or re.fullmatch(_NUMBER, run) is not None


def _numbered(question: str) -> Iterator[tuple[str, str]]:
    folded = tokens.fold(question)
    for word, numbers in _NAMED.findall(folded):
        for number in re.findall(_NUMBER, numbers):
            yield _KIND_OF[word], number
    for number, word in _NTH.findall(folded):
        yield _KIND_OF[word], number


def _ids(manifest: Manifest, question: str) -> Iterator[str]:
    for word in question.split():
        name = word.strip(".,;:!?¿¡()[]{}\"'«»“”")
        if name[:1] in ("@", "#"):
            yield name[1:]
        elif name in manifest.labels:
            yield name


def _spans_of_number(manifest: Manifest, kind: str, number: str) -> Iterator[Span]:
    for name, label in manifest.labels.items():
        if name.startswith(f"{kind}-") and tokens.fold(label.text).split()[-1:] == [number]:
            yield from _spans_of_id(manifest, name)
    if kind == "sec":
        for chapter in manifest.chapters:
            yield from (_under(chapter, part) for part in chapter.sections if tokens.fold(part.number) == number)


def _spans_of_id(manifest: Manifest, name: str) -> list[Span]:
    """The blocks with this label; else what its link points to: a section or a whole page."""
    spans = [
        (chapter.index, block.start, block.end)
        for chapter in manifest.chapters
        for block in chapter.blocks
        if block.label == name
    ]
    spans = spans or _under_anchor(manifest.chapters, name)
    label = manifest.labels.get(name)
    if spans or label is None:
        return spans
    if whole := [chapter for chapter in manifest.chapters if chapter.href == label.href]:
        return list(map(_whole, whole))
    page, _, anchor = label.href.rpartition("#")
    return _under_anchor([chapter for chapter in manifest.chapters if chapter.href == page], anchor)


def _under_anchor(chapters: Iterable[Chapter], anchor: str) -> list[Span]:
    """Where the sections with this anchor are, their subsections included."""
    return [
        _under(chapter, section)
        for chapter in chapters
        for section in chapter.sections
        if anchor and section.anchor == anchor
    ]


def _under(chapter: Chapter, section: Section) -> Span:
    """The span of a section and its subsections."""
    after = (later for later in chapter.sections if later.start > section.start and later.level <= section.level)
    return chapter.index, section.start, min((later.start for later in after), default=len(chapter.text))


def _whole(chapter: Chapter) -> Span:
    return chapter.index, 0, len(chapter.text)


def _passages_in(manifest: Manifest, spans: Iterable[Span]) -> Mask:
    """The passages that share a character with one of the spans."""
    chapter = np.array([chunk.chapter for chunk in manifest.chunks], np.int64)
    start = np.array([chunk.start for chunk in manifest.chunks], np.int64)
    end = np.array([chunk.end for chunk in manifest.chunks], np.int64)
    mask = np.zeros(len(manifest.chunks), np.bool_)
    for index, first, last in spans:
        mask |= (chapter == index) & (start < last) & (end > first)
    return mask
