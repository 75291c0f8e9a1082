"""What a model is told: the rules, the passages with their tags, the question. Texts of others are data in it.

    <book title="…">
    <passage n="1" chapter="…" section="… > …" tag="[#sec-map]">
    A sentence. [f1-0-11] Another one. [f1-12-24]
    </passage>
    </book>
    <earlier>…</earlier>
    <question>…</question>

The rules are in `prompts/`, one file a language; the author's `system-prompt` replaces them, and may use `{title}`,
`{language}` and `{not_found}`. A book may hold what looks like the delimiters, like tags or like the control words of
a chat format: such marks are taken apart, so that nothing in it can pose as anything but text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

from ask_book.answering.question import Turn
from ask_book.answering.round import Round
from ask_book.answering.sentences import units
from ask_book.book.manifest import Manifest, Tag
from ask_book.excerpt import excerpt
from ask_book.llm.chat import Message
from ask_book.retrieval.language import FALLBACK, book_language

EARLIER_CHARACTERS = 600

_DELIMITERS = re.compile(r"<(?=\s*/?\s*(?:book|passage|earlier|question)\b)", re.IGNORECASE)
_CONTROLS = re.compile(
    r"<(?=[|｜])|(?<=[|｜])>|<(?=/?s>|/?(?:start|end)_of_turn>|</?SYS>>)|\[(?=/?INST\])", re.IGNORECASE
)
_TAGS = re.compile(r"[\[【［〔](?=\s*(?:#|f[ _-]*\d))", re.IGNORECASE)
_NOTES = re.compile(r"\s*\[\d+\]\(#ask-book-\d+\)")


@dataclass(frozen=True)
class Shown:
    """A passage as the model reads it: `text` with the tags that it `offered`; `tag` is all of it, at `anchor`."""

    tag: Tag
    text: str
    offered: frozenset[Tag]
    anchor: str


@dataclass(frozen=True)
class Prompt:
    """The messages, the tags that count in the answer, and the passages that anchors stand for."""

    messages: tuple[Message, ...]
    offered: frozenset[Tag]
    anchors: Mapping[str, Tag]


def prompt(now: Round, tags: Iterable[Tag]) -> Prompt:
    """The prompt for a question and the passages that may answer it, best first."""
    shown = [passage for tag in tags if (passage := show(now, tag))]
    anchors = unambiguous(shown)
    passages = "\n".join(rendered(now.book.manifest, passage, n, anchors) for n, passage in enumerate(shown, 1))
    title = _attribute(now.book.manifest.book.title)
    parts = [f'<book title="{title}">\n{passages}\n</book>', earlier(now.asked.history)]
    parts.append(f"<question>\n{harmless(now.asked.text)}\n</question>")
    messages = (Message("system", rules(now)), Message("user", "\n\n".join(filter(None, parts))))
    offered = frozenset().union(*(passage.offered for passage in shown), anchors.values())
    return Prompt(messages, offered, anchors)


def rules(now: Round, with_tools: bool = False) -> str:
    """The system prompt, in the language of the answer, with the author's rules of style."""
    lang = now.lang.split("-")[0].lower()
    known = lang if lang in _languages("grounded") else FALLBACK
    language = "English" if lang == "en" else book_language(now.lang)
    text = now.assistant.system_prompt or _text("grounded", known)
    values = {"title": now.book.manifest.book.title, "language": language, "not_found": now.locale.not_found}
    for key, value in values.items():
        text = text.replace(f"{{{key}}}", value)
    style = [f"- {rule}" for rule in now.assistant.style]
    return "\n".join([text.strip(), *style, *(["", _text("tools", known).strip()] if with_tools else [])])


def show(now: Round, tag: Tag) -> Shown | None:
    """The passage at `tag`, a tag behind each sentence or block, as far as the model may read; None if it is empty."""
    chapter = now.book.manifest.chapters[tag.chapter]
    left = now.assistant.passage_characters
    lines: list[str] = []
    offered: list[Tag] = []
    for block in chapter.blocks_in(tag.start, tag.end):
        if block.kind == "heading":
            continue
        pieces = [f"({harmless(block.context)})"] if block.context and block.kind in ("table", "figure") else []
        for start, end in units(block, now.book.locale.abbreviations):
            if not tag.start <= start < tag.end or left <= 0:
                continue
            span = Tag(tag.chapter, start, end if end - start <= left else _word_border(chapter.text, start, left))
            left -= span.end - span.start
            offered.append(span)
            pieces.append(f"{harmless(chapter.text[span.start : span.end])} {span}")
        if offered:
            lines.append(" ".join(pieces))
    if not offered:
        return None
    whole = Tag(tag.chapter, offered[0].start, max(span.end for span in offered))
    return Shown(whole, "\n".join(lines), frozenset(offered), now.book.manifest.place(tag).anchor)


def unambiguous(passages: Iterable[Shown]) -> dict[str, Tag]:
    """The anchors that stand for one passage, and which that is."""
    passages = list(passages)
    times = Counter(passage.anchor for passage in passages)
    return {passage.anchor: passage.tag for passage in passages if passage.anchor and times[passage.anchor] == 1}


def rendered(manifest: Manifest, passage: Shown, n: int, anchors: Mapping[str, Tag]) -> str:
    """A passage with its number, chapter, headings and anchor tag."""
    place = manifest.place(passage.tag)
    section = " > ".join(place.heading_path)
    head = f'n="{n}" chapter="{_attribute(place.chapter_title)}" section="{_attribute(section)}"'
    anchor = f' tag="[#{passage.anchor}]"' if passage.anchor in anchors else ""
    return f"<passage {head}{anchor}>\n{passage.text}\n</passage>"


def earlier(history: Iterable[Turn]) -> str:
    """What was asked and answered before, shortened: it tells what a question means, and proves nothing."""
    turns = [f"Q: {harmless(turn.question)}\nA: {_short(turn.answer)}" for turn in history]
    return "\n".join(["<earlier>", *turns, "</earlier>"]) if turns else ""


def harmless(text: str) -> str:
    """A text in which nothing looks like a delimiter, a tag or a control word any more; hardly anything changes."""
    text = _DELIMITERS.sub("‹", text)
    text = _CONTROLS.sub(lambda found: {"<": "‹", ">": "›"}.get(found[0], "("), text)
    return _TAGS.sub("(", text)


def _short(answer: str) -> str:
    return excerpt(harmless(_NOTES.sub("", answer)), EARLIER_CHARACTERS)


def _attribute(text: str) -> str:
    return " ".join(harmless(text).replace('"', "'").split())


def _word_border(text: str, start: int, most: int) -> int:
    piece = text[start : start + most + 1]
    border = max(piece.rfind(" "), piece.rfind("\n"))
    return start + (border if border > 0 else most)


@cache
def _text(name: str, lang: str) -> str:
    return (resources.files(__package__) / "prompts" / name / f"{lang}.txt").read_text(encoding="utf-8")


@cache
def _languages(name: str) -> frozenset[str]:
    folder = resources.files(__package__) / "prompts" / name
    return frozenset(file.name.removesuffix(".txt") for file in folder.iterdir())
