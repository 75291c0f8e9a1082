"""Markdown that a model wrote, made harmless while it comes: notes are its only links, and it holds no HTML.

Links and images are replaced by their words; addresses, mail addresses, HTML and attributes are escaped, so that every
reader of Markdown (CommonMark, GFM, pandoc) shows them as text. Code and formulas stay, `<` in a formula becomes
`\\lt`. What is code or a formula is decided within one line: a mark whose partner does not come is escaped, and
what comes after it is text; only `$$` may stand on lines of their own. Blocks of code begin at the margin, where
nothing around them can end them early.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ask_book.answering.citations import NOTE

LONGEST_LINK = 800
LONGEST_CODE = 400

_SPECIAL = re.compile(r"[\\`~$!\[<(:.@{\n]")
_LABEL = r"!?\[(?P<label>[^\[\]\n]{0,300})"
_INNER = r"(?:[^()\n]|\([^()\n]*+\))*+"
_LINK = re.compile(rf"{_LABEL}\]\({_INNER}\)")
_LINK_SO_FAR = re.compile(rf"!?(?:\[(?:[^\[\]\n]{{0,300}}(?:\](?:\({_INNER}(?:\([^()\n]*+)?)?)?)?)?\Z")
_SCHEME = re.compile(r"(?:https?|ftp|mailto|xmpp)$", re.IGNORECASE)
_RUN = re.compile(r"`+|~+|\${1,2}")
# As pandoc has it, a formula begins and ends at something, and "$5 and $6" is none.
_ENDS = {
    "`": r"(?<!`){}(?!`)",
    "$": r"(?<!\\){}(?!\$)",
    "\\": r"{}",
}
_INLINE = re.compile(r"(?!\s).*?(?<![\s\\$])\$(?![\d$])")

_FENCE = re.compile(r"(`{3,}|~{3,})([^`\n]*)\n?\Z")


@dataclass
class Inert:
    """`feed` takes text or a note as it comes and gives what may be shown; `close` what was still held back."""

    _held: str = ""
    _before: str = "\n"
    _fence: str = ""
    _notes: list[str] = field(default_factory=list)

    def feed(self, part: str) -> str:
        """The next piece."""
        if not NOTE.fullmatch(part):
            self._held += part
            return "".join(self._release(is_end=False))
        if self._fence:
            self._notes.append(part)
            return ""
        shown = "".join(self._release(is_end=True)) + part
        self._before = ")"
        return shown

    def close(self) -> str:
        """The end."""
        shown = "".join(self._release(is_end=True))
        return shown + self._end_of_code() if self._fence else shown

    def _release(self, is_end: bool) -> Iterator[str]:
        at = 0
        while at < len(self._held):
            step = self._in_code(at, is_end) if self._fence else self._next(at, is_end)
            if step is None:
                break
            shown, end = step
            self._before = (self._before + shown)[-12:]
            yield shown
            at = end
        self._held = self._held[at:]

    def _next(self, at: int, is_end: bool) -> tuple[str, int] | None:
        """What to show of the text at a position, and where to go on; None if that depends on what is to come."""
        special = _SPECIAL.search(self._held, at)
        if special is None:
            return self._held[at:], len(self._held)
        if special.start() > at:
            return self._held[at : special.start()], special.start()
        match special[0]:
            case "\\":
                return self._escaped(at, is_end)
            case "`" | "~" | "$":
                return self._paired(at, is_end)
            case "!" | "[":
                return self._link(at, is_end)
            case char:
                return (f"\\{char}" if self._is_active(char) else char), at + 1

    def _is_active(self, char: str) -> bool:
        before = self._before
        match char:
            case "<":
                return True
            case "(":
                return before.endswith("]")
            case ":":
                return before.endswith("]") or _SCHEME.search(before) is not None
            case ".":
                return before.lower().endswith("www")
            case "@":
                return before[-1:].isalnum() or before[-1:] in "._-+"
            case "{":
                return before[-1:] in "`])"
            case _:
                return False

    def _escaped(self, at: int, is_end: bool) -> tuple[str, int] | None:
        if at + 1 == len(self._held):
            return ("\\\\", at + 1) if is_end else None
        if self._held.startswith("\\[\n", at):
            return self._displayed(at, "\\[", "\n\\]", is_end)
        if self._held.startswith("\\[", at) and at + 2 == len(self._held) and not is_end:
            return None
        if (opening := self._held[at : at + 2]) in ("\\(", "\\["):
            return self._between(at, opening, "\\)" if opening == "\\(" else "\\]", is_end)
        return self._held[at : at + 2], at + 2

    def _paired(self, at: int, is_end: bool) -> tuple[str, int] | None:
        run = _RUN.match(self._held, at)
        assert run
        if run.end() == len(self._held) and not is_end:
            return None
        if self._before.endswith("\n") and len(run[0]) > 2:
            line = self._line(at, is_end)
            if line is None:
                return None
            if fence := _FENCE.fullmatch(line):
                self._fence = fence[1]
                begin = "" if self._before == "\n" or self._before.endswith("\n\n") else "\n"
                return begin + fence[1] + re.sub(r"[^\w +#.-]", "", fence[2]) + "\n", at + len(line)
        if run[0][0] == "~":
            return (run[0] if len(run[0]) < 3 else "\\~" * len(run[0])), run.end()
        if run[0] == "$$" and self._held.startswith("\n", run.end()):
            return self._displayed(at, "$$", "\n$$", is_end)
        return self._between(at, run[0], run[0], is_end)

    def _displayed(self, at: int, opening: str, closing: str, is_end: bool) -> tuple[str, int] | None:
        """A formula of several lines, whose marks stand on lines of their own."""
        end = self._held.find(closing, at + 2, at + LONGEST_CODE)
        is_cut = "\n\n" in self._held[at : end + 1 if end >= 0 else None]
        if end >= 0 and not is_cut:
            end += len(closing)
            return _kept(self._held[at:end], opening), end
        if not is_end and not is_cut and len(self._held) < at + LONGEST_CODE:
            return None
        return ("\\$\\$" if opening == "$$" else opening), at + 2

    def _between(self, at: int, opening: str, closing: str, is_end: bool) -> tuple[str, int] | None:
        """Code or a formula, if its other end is on the same line; else its first mark, which then means nothing."""
        start = at + len(opening)
        line = self._held[start : start + LONGEST_CODE].partition("\n")[0]
        found = _INLINE.match(line) if closing == "$" else re.search(_ENDS[closing[0]].format(re.escape(closing)), line)
        is_whole = is_end or len(line) < len(self._held) - start
        if found and (is_whole or found.end() < len(line)):
            end = start + found.end()
            return _kept(self._held[at:end], opening), end
        if not is_whole:
            return None
        return (opening if opening[0] == "\\" else "".join(f"\\{char}" for char in opening)), start

    def _link(self, at: int, is_end: bool) -> tuple[str, int] | None:
        if link := _LINK.match(self._held, at, at + LONGEST_LINK):
            words = Inert(_before=self._before)
            return words.feed(link["label"]) + words.close(), link.end()
        if not is_end and len(self._held) < at + LONGEST_LINK and _LINK_SO_FAR.match(self._held, at):
            return None
        is_mark = self._held[at] == "!" and at + 1 == len(self._held)
        return ("\\!" if is_mark else self._held[at]), at + 1

    def _in_code(self, at: int, is_end: bool) -> tuple[str, int] | None:
        line = self._line(at, is_end)
        if line is None:
            return None
        closing = re.fullmatch(r" {0,3}(`{3,}|~{3,})[ \t]*\n?", line)
        if closing and closing[1].startswith(self._fence):
            return self._end_of_code(), at + len(line)
        return line, at + len(line)

    def _end_of_code(self) -> str:
        """The end of a block of code, and the notes that were in it: there they would be code."""
        begin = "" if self._before.endswith("\n") else "\n"
        notes = f"\n{''.join(self._notes)}\n" if self._notes else ""
        end = f"{begin}{self._fence}\n{notes}"
        self._fence, self._notes = "", []
        return end

    def _line(self, at: int, is_end: bool) -> str | None:
        """The line that begins there, with its end; None if that is still to come."""
        end = self._held.find("\n", at)
        if end < 0:
            return self._held[at:] if is_end else None
        return self._held[at : end + 1]


def _kept(text: str, opening: str) -> str:
    """Code as it is, unless a table could cut it; a formula so that it is harmless where no formulas are known."""
    if opening[0] == "`":
        return text.replace("<", "‹") if "|" in text else text
    text = text.replace("<", "\\lt ").replace("`", "‘").replace("](", "]{}(").replace("]:", "]{}:").replace("@", "{@}")
    return re.sub(r"(?i)(https?|ftp|mailto|xmpp)(?=:)|(www)(?=\.)", r"\g<0>{}", text)
