"""Claims about real books, right and wrong, made by rule from their sentences: no hand chose them.

Right ones say a sentence in another way that cannot change what it says: as it is, behind a frame ("The book says
that …"), clauses in another order, a part left out, numbers written otherwise. Wrong ones change one thing: a number, a
unit, a name, yes and no, or the sentence that is cited. English, Spanish and French.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ask_book.answering.sentences import units
from ask_book.book.manifest import Manifest, Tag
from ask_book.retrieval.language import locale

SHORTEST, LONGEST = 50, 320
FRAMES = {
    "en": ("According to the book, {}", "The author explains that {}", "In short, {}", "It is said there that {}"),
    "es": ("Según el libro, {}", "El autor explica que {}", "En resumen, {}", "Allí se dice que {}"),
    "fr": ("Selon le livre, {}", "L'auteur explique que {}", "En bref, {}", "On y lit que {}"),
}
DIGITS = {
    "en": ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"],
    "es": ["cero", "uno", "dos", "tres", "cuatro", "cinco", "seis", "siete", "ocho", "nueve", "diez", "once", "doce"],
    "fr": ["zéro", "un", "deux", "trois", "quatre", "cinq", "six", "sept", "huit", "neuf", "dix", "onze", "douze"],
}
PERCENT = {"en": "percent", "es": "por ciento", "fr": "pour cent"}
OTHER_UNITS = {
    "en": "seconds:minutes minutes:hours hours:days days:weeks weeks:months months:years years:decades meters:feet "
    "metres:feet kilometers:miles kilometres:miles bytes:seconds gigabytes:megabytes MB:GB GB:MB KB:MB dollars:euros",
    "es": "segundos:minutos minutos:horas horas:días días:semanas semanas:meses meses:años años:siglos metros:pies "
    "kilómetros:millas pesos:euros",
    "fr": "secondes:minutes minutes:heures heures:jours jours:semaines semaines:mois mois:années ans:siècles "
    "mètres:pieds kilomètres:milles euros:dollars",
}
# Behind these "not" denies the sentence; in Spanish and French it stands before the verb.
VERBS = {
    "en": "is are was were can could will would should must has have had does do did",
    "es": "es son está están fue fueron era puede pueden podría debe deben permite permiten tiene tienen hay existe "
    "existen incluye incluyen requiere requieren presenta presentan representa representan constituye sirve",
    "fr": "est sont était peut peuvent doit doivent permet permettent contient contiennent faut représente propose "
    "décrit utilise utilisent existe présente",
}
LEADS = {
    "en": r"who|which|that|what|where|when|how|and|but|or|so|because|since|if|than|as",
    "es": r"que|quien|quienes|cual|donde|cuando|como|y|e|pero|o|u|porque|si|pues|aunque",
    "fr": r"qui|que|qu|dont|où|quand|comme|et|mais|ou|donc|car|si|parce|lorsque",
}


@dataclass(frozen=True)
class Claim:
    """A sentence that cites `tag`; `kind` is `right: how` or `wrong: what`. `other` is the second sentence cited."""

    kind: str
    text: str
    tag: Tag
    other: Tag


@dataclass(frozen=True)
class _Sentence:
    tag: Tag
    text: str


def claims(manifest: Manifest, lang: str, seed: int = 5, most: int = 400) -> Iterator[Claim]:
    """The claims about at most so many sentences of a book."""
    chance = random.Random(seed)
    told = _telling(manifest, lang)
    names = sorted({name for one in told for name in _names(one.text)})
    chosen = chance.sample(told, min(most, len(told)))
    for one in chosen:
        other = chance.choice(told)
        for how, text in _right(one.text, lang, chance):
            yield Claim(f"right: {how}", text, one.tag, other.tag)
        for what, text in _wrong(one.text, lang, names, _around(manifest, one), chance):
            yield Claim(f"wrong: {what}", text, one.tag, other.tag)
        if other.tag.chapter != one.tag.chapter and not set(_long(one.text)) & set(_long(other.text)):
            yield Claim("wrong: swapped", one.text, other.tag, one.tag)


def _telling(manifest: Manifest, lang: str) -> list[_Sentence]:
    """The sentences of paragraphs and lists that stand alone: whole, of words, no questions or announcements."""
    found: list[_Sentence] = []
    for chapter in manifest.chapters:
        for block in (block for section in chapter.sections for block in section.blocks):
            if block.kind not in ("para", "list"):
                continue
            for start, end in units(block, locale(lang).abbreviations):
                text = chapter.text[start:end]
                is_plain = not re.search(r"[\\`{}=<>|_^]|https?:|\bdoi\b|\(\d{4}\)", text)
                begins = text[0].isupper() and text[-1] == "." and "\n" not in text
                letters = sum(map(str.isalpha, text)) / len(text)
                if is_plain and begins and SHORTEST <= len(text) <= LONGEST and letters > 0.72:
                    found.append(_Sentence(Tag(chapter.index, start, end), text))
    return found


def _around(manifest: Manifest, one: _Sentence) -> str:
    place = manifest.place(one.tag)
    return " ".join((one.text, place.chapter_title, *place.heading_path, manifest.book.title, *manifest.book.authors))


# -- right ------------------------------------------------------------------------------------------------------------


def _right(text: str, lang: str, chance: random.Random) -> Iterator[tuple[str, str]]:
    yield "as it is", text
    yield "framed", chance.choice(FRAMES[lang]).format(_lower(text))
    ways: tuple[tuple[str, Callable[[str, str], str | None]], ...] = (
        ("reordered", _reordered),
        ("shortened", _shortened),
        ("bracket dropped", _without_brackets),
        ("number otherwise", _number_otherwise),
        ("number as a word", _number_as_word),
        ("number in digits", _number_in_digits),
        ("percent in words", lambda text, lang: _changed(text, r" ?%", f" {PERCENT[lang]}")),
        ("year first", _year_first),
    )
    for how, way in ways:
        if said := way(text, lang):
            yield how, said
            yield f"{how}, framed", chance.choice(FRAMES[lang]).format(_lower(said))


def _lower(text: str) -> str:
    """A sentence inside another: its first letter small unless it is a name or an acronym."""
    first = text.split()[0]
    return text if len(first) > 1 and not first[1:].islower() else text[0].lower() + text[1:]


def _upper(text: str) -> str:
    return text[0].upper() + text[1:]


def _reordered(text: str, lang: str) -> str | None:
    """ "Before that, it rains." → "It rains, before that." """
    parts = text.rstrip(".").split(", ")
    if len(parts) != 2 or re.search(r"[:;()]", text) or re.match(rf"(?:{LEADS[lang]})\b", parts[1], re.IGNORECASE):
        return None
    return f"{_upper(parts[1])}, {_lower(parts[0])}." if min(map(len, parts)) > 12 else None


def _shortened(text: str, lang: str) -> str | None:
    """Without what follows the last comma, if that only adds something."""
    head, comma, tail = text.rstrip(".").rpartition(", ")
    adds = re.match(r"(?:which|who|que|qui|dont|lo que|lo cual|ce qui|and|y|et)\b", tail)
    return f"{head}." if comma and adds and len(head) > SHORTEST and "," not in head else None


def _without_brackets(text: str, lang: str) -> str | None:
    return _changed(text, r" \([^()]*\)", "")


def _number_otherwise(text: str, lang: str) -> str | None:
    """`12,480` → `12480` or `12 480`, `2.5` → `2.50`, 300 → 300.0."""
    marks = ",." if lang == "en" else ".,"
    if found := re.search(rf"(?<![\d.,-])\d{{1,3}}(?:{re.escape(marks[0])}\d{{3}})+(?![\d.,])", text):
        return _put(text, found, found[0].replace(marks[0], "" if len(text) % 2 else "\u202f"))
    if found := re.search(r"(?<![\d.,-])[1-9]\d{3,5}(?![\d.,-]|s\b)", text):
        value = int(found[0])
        return None if 1800 <= value <= 2100 else _put(text, found, f"{value:,}".replace(",", marks[0]))
    if found := re.search(rf"(?<![\d.,-])\d+{re.escape(marks[1])}\d{{1,2}}(?![\d.,-])", text):
        return _put(text, found, f"{found[0]}0") if "version" not in text.lower() else None
    return None


def _number_as_word(text: str, lang: str) -> str | None:
    found = re.search(r"(?<= )(?:[2-9]|1[0-2])(?= [^\W\d_]{4,})", text)
    return _put(text, found, DIGITS[lang][int(found[0])]) if found else None


def _number_in_digits(text: str, lang: str) -> str | None:
    found = re.search(rf"(?<= )(?:{'|'.join(DIGITS[lang][2:])})(?= [^\W\d_]{{4,}})", text)
    return _put(text, found, str(DIGITS[lang].index(found[0]))) if found else None


def _year_first(text: str, lang: str) -> str | None:
    """ "It began in 1998." → "In 1998, it began." """
    found = re.search(r" (?:in|en) ((?:19|20)\d\d)\.$", text)
    return f"{'In' if lang == 'en' else 'En'} {found[1]}, {_lower(text[: found.start()])}." if found else None


def _changed(text: str, pattern: str, new: str) -> str | None:
    said = re.sub(pattern, new, text)
    return said if said != text else None


def _put(text: str, found: re.Match[str], new: str) -> str:
    return text[: found.start()] + new + text[found.end() :]


# -- wrong ------------------------------------------------------------------------------------------------------------


def _wrong(text: str, lang: str, names: list[str], around: str, chance: random.Random) -> Iterator[tuple[str, str]]:
    ways = (
        ("number", _other_number(text, around, chance)),
        ("number word", _other_word(text, lang, around)),
        ("unit", _other_unit(text, lang)),
        ("name", _other_name(text, names, around, chance)),
        ("negation added", _denied(text, lang)),
        ("negation taken away", _affirmed(text, lang)),
    )
    for what, said in ways:
        if said:
            yield what, said
            yield f"{what}, framed", chance.choice(FRAMES[lang]).format(_lower(said))
            if moved := _reordered(said, lang):
                yield f"{what}, reordered", moved


def _other_number(text: str, around: str, chance: random.Random) -> str | None:
    """One digit of a number is another; the number is not one that stands elsewhere in the sentence."""
    found = list(re.finditer(r"(?<![\d.,/-])\d+(?:[.,]\d+)*(?![\d/-])(?!\.\d)", text))
    if not found:
        return None
    number = chance.choice(found)
    at = chance.randrange(len(number[0]))
    while not number[0][at].isdigit():
        at = chance.randrange(len(number[0]))
    new = chance.choice([digit for digit in "123456789" if digit != number[0][at]])
    changed = number[0][:at] + new + number[0][at + 1 :]
    return None if changed in re.findall(r"\d+(?:[.,]\d+)*", around) else _put(text, number, changed)


def _other_word(text: str, lang: str, around: str) -> str | None:
    words = DIGITS[lang]
    found = re.search(rf"(?<= )(?:{'|'.join(words[2:])})(?= [^\W\d_]{{4,}})", text)
    if not found:
        return None
    other = words[words.index(found[0]) + 3 if words.index(found[0]) < 10 else 7]
    return None if re.search(rf"\b(?:{other}|{words.index(other)})\b", around) else _put(text, found, other)


def _other_unit(text: str, lang: str) -> str | None:
    pairs = dict(pair.split(":") for pair in OTHER_UNITS[lang].split())
    found = re.search(rf"(?:\d|\b(?:{'|'.join(DIGITS[lang][2:])})) ({'|'.join(pairs)})\b", text)
    if not found or pairs[found[1]] in text:
        return None
    return text[: found.start(1)] + pairs[found[1]] + text[found.end(1) :]


def _names(text: str) -> list[str]:
    """Capitalised words inside a sentence, not behind a mark that may explain it."""
    return re.findall(r"(?<=[a-zà-ÿ,] )[A-ZÀ-Þ][a-zà-ÿ]{3,}(?![\w'’-])", text)


def _other_name(text: str, names: list[str], around: str, chance: random.Random) -> str | None:
    own = _names(text)
    if not own:
        return None
    name = chance.choice(own)
    others = [other for other in names if other.lower()[:4] not in around.lower()]
    if not others or text.count(name) > 1:
        return None
    return re.sub(rf"\b{name}\b", chance.choice(others), text)


def _denied(text: str, lang: str) -> str | None:
    """With its first verb denied, where the sentence has no other no in it and the verb is in its main clause."""
    if re.search(_NO[lang], text, re.IGNORECASE):
        return None
    found = re.search(rf"(?<= )(?:{VERBS[lang].replace(' ', '|')})(?= )", text)
    if not found or re.search(rf"[,:;(]|\b(?:{LEADS[lang]}|not)\b", text[: found.start()], re.IGNORECASE):
        return None
    if lang == "es" and re.search(r"\b(?:se|lo|la|los|las|le|les|me|nos|te) $", text[: found.start()]):
        start = found.start() - len(re.search(r"\S+ $", text[: found.start()])[0])  # type: ignore[index]
        return f"{text[:start]}no {text[start:]}"
    new = {"en": f"{found[0]} not", "es": f"no {found[0]}", "fr": _denied_in_french(found[0])}[lang]
    return _put(text, found, new)


def _denied_in_french(verb: str) -> str:
    return f"n'{verb} pas" if verb[0] in "aeéiou" else f"ne {verb} pas"


_NO = {
    "en": r"\b(?:not|no|never|cannot|nor|none|neither|nothing|without|un\w+|less|few\w*|hardly|only|\w+n['’]t)\b",
    "es": r"\b(?:no|ni|nunca|jamás|nada|nadie|ningun\w*|ningún|tampoco|sin|menos|solo|sólo|apenas)\b",
    "fr": r"\b(?:ne|non|ni|jamais|rien|aucun\w*|sans|pas|moins|guère|seul\w*)\b|\bn['’]",
}
_TAKEN = {
    "en": (
        r"\b(is|are|was|were|can|could|will|would|should|must|has|have|had|does|do|did)(?: not\b|n['’]t\b) ",
        r"\1 ",
    ),
    "es": (r"\b[Nn]o (?=(?:se |es |son |está|puede|debe|hay|tiene|existe|permite|requiere|fue|era))", ""),
    "fr": (r"\b(?:ne |n['’])(\w+) pas ", r"\1 "),
}


def _affirmed(text: str, lang: str) -> str | None:
    """Without its only no."""
    if len(re.findall(_NO[lang], text, re.IGNORECASE)) != (2 if lang == "fr" else 1):
        return None
    said = re.sub(*_TAKEN[lang], text, count=1)
    return _upper(said) if said != text else None


def _long(text: str) -> list[str]:
    return re.findall(r"[^\W\d_]{7,}", text.lower())
