"""A text that a model writes, while it comes: tags become notes, other links words, and nothing gets out too early."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ask_book.answering.answer import Citation
from ask_book.answering.citations import Notes
from ask_book.answering.events import Event
from ask_book.answering.inert import Inert

_ADORNMENT = re.compile(r"[\W_]+")


@dataclass
class Writing:
    """`text` is what was shown so far. A text that begins like `not_found` is held back until it goes on otherwise."""

    notes: Notes
    not_found: str
    text: str = ""
    said: str = field(default="", repr=False)
    _gap: str = field(default="", repr=False)
    _held: list[str] = field(default_factory=list, repr=False)
    _inert: Inert = field(default_factory=Inert, repr=False)

    def feed(self, piece: str) -> Iterator[Event]:
        """The events of the next piece."""
        self.said += piece
        self._held.append(piece)
        if not (self.text or self.notes.citations) and _letters(self.not_found).startswith(_letters(self.said)):
            return
        held, self._held = self._held, []
        for part in held:
            yield from self._show(self.notes.feed(part))

    def close(self) -> Iterator[Event]:
        """The events of the end."""
        held, self._held = self._held, []
        if self.says_not_found:
            return
        for part in held:
            yield from self._show(self.notes.feed(part))
        yield from self._show(self.notes.close())
        yield from self._say(self._inert.close())

    @property
    def says_not_found(self) -> bool:
        """Whether the text is the sentence that the book does not say it, or begins with it and proves nothing else."""
        sentence, said = _letters(self.not_found), _letters(self.said)
        return said == sentence or (said.startswith(sentence) and not self.notes.citations)

    def _show(self, parts: Iterator[str | Citation]) -> Iterator[Event]:
        for part in parts:
            if isinstance(part, Citation):
                yield Event("citation", part)
            else:
                yield from self._say(self._inert.feed(part))

    def _say(self, part: str) -> Iterator[Event]:
        if piece := self._without_margins(part):
            self.text += piece
            yield Event("delta", piece)

    def _without_margins(self, part: str) -> str:
        """White space is shown once something follows it, and something came before."""
        whole = self._gap + part if self.text else part.lstrip()
        shown = whole.rstrip()
        self._gap = whole[len(shown) :]
        return shown


def _letters(text: str) -> str:
    """Without what a model may put around a sentence: bold, quotes, a full stop, other cases."""
    return _ADORNMENT.sub("", text).casefold()
