"""Numbers, measures and dates in a text, as values that compare across languages and ways of writing.

`quantities` reads them: digits with the marks of their language, words ("twenty-five", "doscientos", 八十), fractions
and percentages, Roman numerals, dates in any order, months and weekdays. `Facts` are those of a source;
`Facts.support` says whether a quantity of a claim is among them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, cached_property, lru_cache
from itertools import combinations, pairwise, zip_longest

from ask_book.answering.vocabulary import COMPATIBLE, SYMBOLS, UNIT_WORDS, Unit, Vocabulary, vocabulary
from ask_book.retrieval.language import code_of
from ask_book.retrieval.tokens import fold

TOLERANCE = Fraction(15, 100)
DECIMAL_POINT = frozenset({"en", "zh", "ja"})

# One character for one, so that offsets stay.
_PLAIN = str.maketrans(
    {chr(wide): chr(wide - 0xFEE0) for wide in range(0xFF01, 0xFF5F) if chr(wide) not in "，；！？（）"}
    | {"−": "-", "–": "-", "\u00a0": " ", "\u202f": " ", "\u2009": " ", "’": "'"}
)
_DIGITS = r"\d+(?:[.,']\d{3}(?!\d))+(?:[.,]\d+)?|\d{1,3}(?: \d{3}(?!\d))+(?:[.,]\d+)?|\d+(?:[.,]\d+)?"
_NUMBER = re.compile(
    r"(?<![\d.,])(?:(?<![^\s(=])(?P<minus>-))?(?:(?P<hours>\d{1,2}):(?P<minutes>\d\d)(?![\d:])"
    rf"|(?P<above>\d{{1,3}})/(?P<below>\d{{1,3}})(?![\d/])|(?P<digits>{_DIGITS}))(?:\.?[ºª](?![CF\w])|(?:st|nd|rd|th|er|ère|re|ème|e)(?!\w))?"
)
_WORD = re.compile(r"[^\W\d_]+")
_HYPHENATED = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_ROMAN = re.compile(
    r"(?<![\w.])(?P<roman>(?=[MDCLXVI]{2})M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3}))(?:e|ème)?(?!\w)"
    r"|\b(?:[Ss]iglo|[Ss]ecolo|[Ss]éculo)\s+(?P<century>[XVI])(?!\w)"
)
_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
_BEFORE_CURRENCY = re.compile(r"(US\$|R\$|[$€£¥]) ?\Z")
_NEAR = 30
_MOST_DIGITS = 60
_ARTICLE = r"\W*(?:(?:the|a|an|los|las|el|la|les|le|l'|die|der|den|gli|i|il|os|as|o) ?)?"

_HAN_DIGITS = {
    char: at
    for at, chars in enumerate(("〇零", "一", "二两兩", "三", "四", "五", "六", "七", "八", "九"))
    for char in chars
}
_HAN_SCALES = {"十": 10, "百": 100, "千": 1000, "万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}
_HAN = "".join((*_HAN_DIGITS, *_HAN_SCALES))
_HAN_NUMBER = re.compile(
    f"(?P<nth>第)?(?:(?P<below>[{_HAN}]{{1,20}})分之)?(?P<number>[{_HAN}]{{1,20}})|(?P<half>一半|半分)"
)
_COUNTERS = frozenset(
    "个個種种年月日天時时小分秒度米克公厘毫吨次回倍人名位本枚件只條条步章節节つ岁歳层層座所家元块円斤亩里世页頁周星週か箇ヶ割匹头頭棵株箱羽孔拱扇张張把辆輛艘栋棟幅段片颗粒朵群双雙对對套篇首句行列款类類项項批届期户口班趟盏盞"
)

_ISO = re.compile(r"(?<!\d)(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})(?!\d)")
_SHORT = re.compile(
    r"(?<![\d/.])(?P<first>\d{1,2})(?P<mark>[-/.])(?P<second>\d{1,2})(?P=mark)(?P<year>\d{4}|\d{2})(?![\d/])"
)
_EAST = re.compile(
    r"(?:(?P<year>\d{4}|[〇零一二三四五六七八九]{4}) ?年)? ?"
    r"(?P<month>\d{1,2}|[一二三四五六七八九十]{1,3}) ?月(?![间間球亮])"
    r"(?: ?(?P<day>\d{1,2}|[一二三四五六七八九十]{1,3}) ?[日号](?![间間本]))?"
    r"|(?P<only>\d{4}|[〇零一二三四五六七八九]{4}) ?年"
)
_FROM_TO = re.compile(
    r"\W*(?:-|(?:to|through|till|until|a|al|hasta|a la|au|jusqu'a|jusqu'en|ate|bis|fino a)(?!\w)|至|到|から|〜|～)"
    r"\W*(?:\w{1,3}\W+)?$|.{0,8}(?:至|到|から).{0,6}$"
)
_OF_EVERY = re.compile(
    r" (?:out of|of|in|von|de|em|sur|su|di)(?: (?:every|each|cada|ogni|the|las|los|les|den|as|os))? "
    r"|人中|个中有?|分の"
)
_PER_HOUR = re.compile(r" (?:per hour|an hour|por hora|a l'heure|par heure|pro stunde|all'ora|每小时)")
_AND_A_HALF = re.compile(r" (?:and a half|y medi[oa]|et demie?|e mezz[oa]|e mei[oa])(?!\w)")
_BETWEEN = re.compile(r"(?:between|entre|zwischen|tra|fra)\W+(?:\w{1,3}\W+)?$")
_DAY_BEFORE = re.compile(r"(?<![\d.,])(?P<day>[1-9]\d?)(?:\.?[ºª]|\.|st|nd|rd|th|er)? ?(?:de |of |d')?\Z")
_DAY_AFTER = re.compile(r"\.? (?:the )?(?P<day>\d{1,2})(?:st|nd|rd|th)?(?![\w%°:]|[.,]\d)")
_YEAR_AFTER = re.compile(r"\.?,? ?(?:de |del |of |do )?(?P<year>\d{4})(?!\d)")


_folded = lru_cache(maxsize=20_000)(fold)


@dataclass(frozen=True)
class Date:
    """What a text says of a date; None where it says nothing."""

    year: int | None = None
    month: int | None = None
    day: int | None = None

    @property
    def parts(self) -> tuple[int | None, int | None, int | None]:
        """Year, month, day."""
        return self.year, self.month, self.day


@dataclass(frozen=True)
class Quantity:
    """Something countable at `[start, end)`.

    `values`: what it may mean, in its `unit`; or `dates`, what it may mean as a date; or a `weekday` (Monday is 1).
    `hedge`: -1 ("nearly"), 0 ("about"), 1 ("more than") or None. `weak`: a word that may mean something else.
    `word`: written in letters. `parts`: what a share such as "one of four" is made of.
    """

    start: int
    end: int
    values: frozenset[Fraction] = frozenset()
    unit: Unit | None = None
    dates: frozenset[Date] = frozenset()
    weekday: int = 0
    hedge: int | None = None
    weak: bool = False
    word: bool = False
    parts: tuple[Quantity, ...] = ()


@dataclass(frozen=True)
class Facts:
    """The quantities of a source, in any of its languages: what a claim may say."""

    text: str
    langs: tuple[str, ...]

    @cached_property
    def all(self) -> tuple[Quantity, ...]:
        """Every quantity that the source has, in every reading."""
        return tuple(found for lang in self.langs for found in quantities(self.text, lang, source=True))

    @cached_property
    def units(self) -> frozenset[Unit]:
        """All units that the source names, beside a number or not."""
        words = set(_WORD.findall(fold(self.text)))
        named = {
            unit for word, unit in UNIT_WORDS.items() if word in words or (not word.isascii() and word in self.text)
        }
        signs = set(re.findall(r"[^\W\d_]+[²³23]?(?:/[^\W\d_]+)?|[°º][CF]?|[%‰$€£¥]", self.text.translate(_PLAIN)))
        return frozenset(named | {SYMBOLS[sign] for sign in signs & SYMBOLS.keys()})

    def support(self, claim: Quantity) -> bool:
        """Whether the source has this quantity."""
        if claim.weekday:
            return any(fact.weekday == claim.weekday for fact in self.all)
        if claim.dates:
            return any(map(self._has_date, claim.dates))
        same = [fact for fact in self.all if self._has_value(claim, fact)]
        if same or self._spans(claim):
            # "More than 200" is not what "less than 200" says.
            return not same or not all(claim.hedge and fact.hedge == -claim.hedge for fact in same)
        return bool(claim.parts) and all(part.weak or self.support(part) for part in claim.parts)

    def _spans(self, claim: Quantity) -> bool:
        """Whether so many years lie between two that the source names, or so many months from one to another."""
        if claim.unit == UNIT_WORDS["months"]:
            lengths = {(last - first) % 12 for first, last in self._spans_of_months}
            return any(length + more in claim.values for length in lengths for more in (0, 1))
        if claim.unit != UNIT_WORDS["years"]:
            return False
        years = {date.year or 0 for fact in self.all for date in fact.dates}
        years |= {
            int(value) for fact in self.all for value in fact.values if fact.unit is None and 1000 <= value <= 2100
        }
        return any(abs(a - b) in claim.values for a, b in combinations(years - {0}, 2))

    def _has_date(self, date: Date) -> bool:
        dates = [fact for found in self.all for fact in found.dates]
        for fact in dates:
            both = list(zip(date.parts, fact.parts, strict=True))
            if all(said in (part, None) or part is None for part, said in both) and all(
                said is not None or part is None or self._mentions(part) for part, said in both
            ):
                return True
        is_inside = any(_is_between(first, date.month or 0, last) for first, last in self._spans_of_months)
        return is_inside and not date.day and (not date.year or self._mentions(date.year))

    @cached_property
    def _spans_of_months(self) -> list[tuple[int, int]]:
        """The first and last months of stretches such as "from June to September"."""
        found = [item for item in self.all if item.dates]
        return [
            (min(date.month or 0 for date in first.dates), max(date.month or 0 for date in last.dates))
            for first, last in pairwise(found)
            if _FROM_TO.match(fold(self.text[first.end : last.start]))
            or (_BETWEEN.search(fold(self.text[max(0, first.start - 12) : first.start])) and last.start - first.end < 8)
        ]

    def _mentions(self, number: int) -> bool:
        return any(number in fact.values or any(number in date.parts for date in fact.dates) for fact in self.all)

    def _has_value(self, claim: Quantity, fact: Quantity) -> bool:
        values = fact.values | {Fraction(part) for date in fact.dates for part in date.parts if part is not None}
        return any(
            _is_same(mine * factor, theirs, claim.hedge if claim.unit or not fact.unit else None)
            for factor in self._factors(claim.unit, fact.unit)
            for mine in claim.values
            for theirs in values
        )

    def _factors(self, claimed: Unit | None, said: Unit | None) -> Iterator[Fraction]:
        """By what a value of the claim may be multiplied to be one of the source; by nothing if they cannot compare."""
        if claimed and said:
            if _are_comparable(claimed, said):
                yield claimed.factor / said.factor
        elif claimed:
            if claimed.dimension == "ratio":
                yield claimed.factor
            if any(_are_comparable(claimed, unit) and claimed.factor == unit.factor for unit in self.units):
                yield Fraction(1)
        else:
            yield Fraction(1)


@dataclass(frozen=True)
class _Text:
    """What is read: one character for each of the original, its language, whether it is a source."""

    plain: str
    lang: str
    source: bool

    @property
    def words(self) -> Vocabulary:
        return vocabulary(self.lang)


def quantities(text: str, lang: str, source: bool = False) -> list[Quantity]:
    """The quantities of a text, in order. `source` reads what is doubtful in every way it may be meant."""
    read = _Text(text.translate(_PLAIN), code_of(lang), source)
    found: list[Quantity] = []
    taken = bytearray(len(text))
    for finder in (_dates, _weekdays, _digits, _han, _romans, _words):
        for item in finder(read):
            if not any(taken[item.start : item.end]):
                found.append(item if item.dates or item.weekday else _measured(item, read.plain, read.words))
                start, end = found[-1].start, found[-1].end
                taken[start:end] = b"\1" * (end - start)
    found.sort(key=lambda item: item.start)
    return [*_shares(found, read.plain), *(found if source else ())]


def _shares(found: list[Quantity], text: str) -> Iterator[Quantity]:
    """The quantities, "one of every four" being one of them."""
    taken = None
    for item, after in zip_longest(found, found[1:]):
        if item is taken:
            continue
        if after and _OF_EVERY.fullmatch(fold(text[item.end : after.start])) and not (item.unit or item.dates):
            share = {a / b for a in item.values for b in after.values if 0 < a < b <= 100 and after.unit is None}
            if share:
                taken = after
                unit = Unit("ratio", Fraction(1))
                yield Quantity(item.start, after.end, frozenset(share), unit, hedge=item.hedge, parts=(item, after))
                continue
        yield item


def _are_comparable(one: Unit, other: Unit) -> bool:
    names = one.dimension, other.dimension
    return names[0] == names[1] or names in COMPATIBLE or names[::-1] in COMPATIBLE


def _is_same(mine: Fraction, theirs: Fraction, hedge: int | None) -> bool:
    """Equal; or, hedged, the same when rounded to the digits of the claim, or a rounder bound nearby."""
    if mine == theirs:
        return True
    if hedge is None or not mine or abs(mine - theirs) > TOLERANCE * abs(theirs):
        return False
    unit_of_last_digit = _last_digit(mine)
    if _last_digit(theirs) >= unit_of_last_digit:
        return False
    if 2 * abs(mine - theirs) <= unit_of_last_digit:
        return True
    is_next_round_number = abs(mine - theirs) < unit_of_last_digit
    return is_next_round_number and ((hedge < 0 and mine > theirs) or (hedge > 0 and mine < theirs))


def _last_digit(value: Fraction) -> Fraction:
    """The power of ten of the last digit that is not 0."""
    power = Fraction(1)
    while (value / power).denominator != 1 and power > Fraction(1, 10**9):
        power /= 10
    while value and (value / (power * 10)).denominator == 1:
        power *= 10
    return power


def _is_between(first: int, month: int, last: int) -> bool:
    """Whether a month lies in the months from `first` to `last`, over the new year too."""
    return first < month < last if first <= last else month > first or 0 < month < last


def _measured(item: Quantity, text: str, words: Vocabulary) -> Quantity:
    """With its scale ("3 millones"), its unit and what hedges it."""
    end, values, unit = item.end, item.values, item.unit
    if scale := re.compile(r" ?([千百万萬亿億])| ([^\W\d_]+)|(k)(?!\w)").match(text, end):
        factor = _HAN_SCALES.get(scale[1] or "") or (1000 if scale[3] else words.numbers.get(fold(scale[2] or ""), 0))
        if factor >= 100 and not (item.word and scale[2]):
            end, values = scale.end(), frozenset(value * factor for value in values)
    start = item.start
    if before := _BEFORE_CURRENCY.search(text, max(0, start - 4), start):
        start, unit = before.start(), SYMBOLS[before[1] if before[1] in SYMBOLS else "$"]
    if (unit is None or item.word) and (
        named := _unit_at(text, end) or (unit and _unit_at(text, _behind_article(text, end)))
    ):
        unit, end = named
    if unit and unit.dimension == "length" and (hourly := _PER_HOUR.match(fold(text[end : end + 12]))):
        unit, end = Unit("speed", unit.factor * Fraction(5, 18) / 1000), end + hourly.end()
    if half := _AND_A_HALF.match(fold(text[end : end + 12])):
        values, end = frozenset(value + Fraction(1, 2) for value in values), end + half.end()
    ahead, behind = fold(text[max(0, start - _NEAR) : start]), fold(text[end : end + _NEAR])
    if words.below_zero and re.search(rf"^\W*(?:{words.below_zero})|(?:{words.below_zero})\s*$", f"{behind}\n{ahead}"):
        values |= {-value for value in values}
    is_cardinal = item.word and text[item.start : item.end].lower() in words.numbers
    weak = (
        item.weak and not (unit and is_cardinal and min(values) > 1) and not (max(values) < 1 and behind[:4] == " of ")
    )
    return replace(item, start=start, end=end, values=values, unit=unit, hedge=_hedge(ahead, behind, words), weak=weak)


def _behind_article(text: str, at: int) -> int:
    """Where "minute" begins in "half a minute"."""
    article = re.compile(r" an?(?= )").match(text, at)
    return article.end() if article else at


def _hedge(ahead: str, behind: str, words: Vocabulary) -> int | None:
    begins, ends = (r"(?<!\w)", r"(?!\w)") if words.numbers else ("", "")
    for hedge, pattern in ((1, words.over), (-1, words.under), (0, words.about)):
        if pattern and (found := re.search(rf"{begins}(?:{pattern}){_ARTICLE}$", ahead)):
            denied = (
                re.search(rf"{begins}(?:{words.denies}){ends}\W*$", ahead[: found.start()]) if words.denies else None
            )
            return -hedge if denied else hedge
    if words.roughly and re.match(rf"[ (]*\w?(?:{words.roughly}){ends}", behind):
        return 0
    return None


def _unit_at(text: str, at: int) -> tuple[Unit, int] | None:
    if sign := _signs().match(text, at):
        return SYMBOLS[sign[1]], sign.end()
    if word := re.compile(r"[ -]?(?:(?:de|of|di) |d')?([^\W\d_]+)(?: ([^\W\d_]+))?").match(text, at):
        pair = f"{_folded(word[1])} {_folded(word[2] or '')}"
        if pair in UNIT_WORDS:
            return UNIT_WORDS[pair], word.end()
        if _folded(word[1]) in UNIT_WORDS:
            return UNIT_WORDS[_folded(word[1])], word.end(1)
    if word := _eastern_units().match(text, at):
        return UNIT_WORDS[word[1]], word.end()
    return None


@cache
def _signs() -> re.Pattern[str]:
    """A unit's symbol behind a number; `s` only behind a space, as "the 1990s" has one of its own."""
    signs = "|".join(map(re.escape, sorted(SYMBOLS, key=len, reverse=True)))
    return re.compile(rf"(?!s)[ -]?({signs})(?![A-Za-z0-9\u00c0-\u024f²³/])")


@cache
def _eastern_units() -> re.Pattern[str]:
    names = sorted((word for word in UNIT_WORDS if not word[0].isascii()), key=len, reverse=True)
    return re.compile(rf" ?({'|'.join(map(re.escape, names))})")


def _dates(text: _Text) -> Iterator[Quantity]:
    for found in _ISO.finditer(text.plain):
        yield from _date(found.span(), [(found["year"], found["month"], found["day"])])
    for found in _SHORT.finditer(text.plain):
        years = [found["year"]] if len(found["year"]) == 4 else [f"19{found['year']}", f"20{found['year']}"]
        orders = [(found["second"], found["first"])] + [(found["first"], found["second"])] * (text.lang == "en")
        yield from _date(found.span(), [(year, *order) for year in years for order in orders])
    for word in _WORD.finditer(text.plain):
        yield from _month(text, word)
    for found in _EAST.finditer(text.plain):
        if found["only"]:
            yield Quantity(*found.span(), frozenset({Fraction(_whole(found["only"]))}))
        else:
            year, day = ((_whole(found[part]) if found[part] else None) for part in ("year", "day"))
            yield from _date(found.span(), [(year, _whole(found["month"]), day)])


def _date(
    span: tuple[int, int], readings: list[tuple[str | int | None, str | int, str | int | None]]
) -> Iterator[Quantity]:
    dates = frozenset(
        Date(None if year is None else int(year), int(month), None if day is None else int(day))
        for year, month, day in readings
        if 1 <= int(month) <= 12 and 1 <= int(day or 1) <= 31
    )
    if dates:
        yield Quantity(*span, dates=dates)


def _month(text: _Text, word: re.Match[str]) -> Iterator[Quantity]:
    """The date around the name of a month. Alone such a name counts if it cannot be another word ("may", "mars")."""
    (start, end), month = word.span(), text.words.months.get(_folded(word[0]), 0)
    if not month or (text.lang == "pt" and month == 3 and "ç" not in word[0].lower()):
        return
    day: int | None = None
    if before := _DAY_BEFORE.search(text.plain, max(0, start - 12), start):
        day, start = int(before["day"]), before.start()
    elif text.lang == "en" and (after := _DAY_AFTER.match(text.plain, end)):
        day, end = int(after["day"]), after.end()
    year = _YEAR_AFTER.match(text.plain, end)
    if day or year or _is_surely_a_month(text, word, month):
        yield from _date((start, year.end() if year else end), [(year and year["year"], month, day)])


def _is_surely_a_month(text: _Text, word: re.Match[str], month: int) -> bool:
    if text.lang == "en":
        begins = re.search(r"(?:^|[.!?…:\n])\W*$", text.plain[max(0, word.start() - 8) : word.start()]) is not None
        return word[0][0].isupper() and (text.source or not begins) and (len(word[0]) > 4 or month in (5, 6, 7))
    return text.lang != "fr" or month != 3 or word[0].islower()


def _weekdays(text: _Text) -> Iterator[Quantity]:
    days = text.words.weekdays
    if text.words.numbers:
        for word in _HYPHENATED.finditer(text.plain):
            if (day := days.get(_folded(word[0]), 0)) and (text.lang != "en" or word[0][0].isupper()):
                yield Quantity(*word.span(), weekday=day)
    elif days:
        for word in re.finditer("|".join(sorted(days, key=len, reverse=True)), text.plain):
            yield Quantity(*word.span(), weekday=days[word[0]])


def _digits(text: _Text) -> Iterator[Quantity]:
    for found in _NUMBER.finditer(text.plain):
        if found["hours"]:
            values = {Fraction(int(found["hours"]) * 60 + int(found["minutes"]))}
        elif found["above"]:
            values = {Fraction(int(found["above"]), int(found["below"]))} if int(found["below"]) else set()
            if text.source:
                values |= {Fraction(found["above"]), Fraction(found["below"])}
        else:
            values = set(_readings(found["digits"], text.lang, text.source))
            # "Law 147-02" is of 2002.
            if len(found["digits"]) == 2 and re.search(
                r"\d[-/]$", text.plain[max(0, found.start() - 2) : found.start()]
            ):
                values |= {value + century for value in values for century in (1900, 2000)}
        if values:
            yield Quantity(*found.span(), frozenset(-value if found["minus"] else value for value in values))


def _readings(digits: str, lang: str, source: bool) -> Iterator[Fraction]:
    """What digits with marks may mean: `1.234` is 1234 in one country and 1.234 in another."""
    if len(digits) > _MOST_DIGITS:
        return
    groups, marks = re.split(r"\D", digits), re.findall(r"\D", digits)
    whole = Fraction("".join(groups))
    decimal = Fraction(f"{''.join(groups[:-1])}.{groups[-1]}") if marks else whole
    if not marks:
        yield whole
    elif marks[-1] in " '":
        yield whole
        if source and marks[-1] == " ":
            yield from map(Fraction, groups)
    elif len(marks) > 1:
        yield whole if marks[0] == marks[-1] else decimal
    elif len(groups[-1]) != 3 or groups[0] == "0" or len(groups[0]) > 3:
        yield decimal
    elif lang in DECIMAL_POINT:
        yield whole if marks[0] == "," else decimal
    else:
        yield whole
        if not groups[-1].endswith("0"):
            yield decimal


def _romans(text: _Text) -> Iterator[Quantity]:
    for found in _ROMAN.finditer(text.plain):
        values = [_ROMAN_VALUES[letter] for letter in found["roman"] or found["century"]]
        value = sum(-a if a < b else a for a, b in pairwise([*values, 0]))
        yield Quantity(*found.span("roman" if found["roman"] else "century"), frozenset({Fraction(value)}))


def _han(text: _Text) -> Iterator[Quantity]:
    for found in _HAN_NUMBER.finditer(text.plain):
        behind = text.plain[found.end() : found.end() + 1]
        if found["half"]:
            yield Quantity(*found.span(), frozenset({Fraction(1, 2)}), Unit("ratio", Fraction(1)))
        elif found["below"]:
            share = Fraction(_whole(found["number"]), _whole(found["below"]) or 1)
            yield Quantity(*found.span(), frozenset({share}), Unit("ratio", Fraction(1)))
        else:
            number = found["number"]
            is_number = (
                bool(found["nth"] or _unit_at(text.plain, found.end()))
                or behind in _COUNTERS
                or len({char in _HAN_SCALES for char in number}) == 2
            )
            is_number = (
                is_number
                and number not in "一百千万萬亿億"
                and text.plain[found.start() :][:3] not in ("十分之", "一个人")
            )
            is_number = is_number and not (
                number == "十" and behind == "分" and text.plain[found.end() + 1 :][:1] not in "钟鐘間间"
            )
            yield Quantity(*found.span(), frozenset({Fraction(_whole(number))}), weak=not is_number)


def _whole(number: str) -> int:
    """A whole number in digits, or in Han characters, positional (一九九八) or not (三百二十)."""
    if number.isdecimal():
        return int(number)
    if not any(char in _HAN_SCALES for char in number):
        return int("".join(str(_HAN_DIGITS[char]) for char in number))
    total = section = digit = 0
    for char in number:
        if char in _HAN_DIGITS:
            digit = _HAN_DIGITS[char]
        elif (scale := _HAN_SCALES[char]) < 10**4:
            section, digit = section + max(digit, 1) * scale, 0
        else:
            total, section, digit = total + max(section + digit, 1) * scale, 0, 0
    return total + section + digit


def _words(text: _Text) -> Iterator[Quantity]:
    """Numbers, ordinals and fractions in letters; those that belong together are one."""
    start = end = total = section = 0
    words = text.words
    held: Quantity | None = None
    for word in _WORD.finditer(text.plain):
        name = _folded(word[0])
        gap = text.plain[end : word.start()]
        if held and name in words.joins and not gap.strip(" -"):
            continue
        if held and not all(part in words.joins for part in fold(gap).replace("-", " ").split()):
            yield held
            held = None
        number, nth = words.numbers.get(name), words.ordinals.get(name)
        if held and number is not None and (sums := _sum(total, section, number)):
            (total, section), end = sums, word.end()
            held = Quantity(start, end, frozenset({Fraction(total + section)}), word=True)
        elif held and nth and section and section % 10 == 0 and nth < 10:
            yield Quantity(start, word.end(), frozenset({Fraction(total + section + nth)}), word=True)
            held = None
        elif held and name in words.fractions and total + section < 20 and gap == " ":
            share = (total + section) * words.fractions[name]
            # "Four quarters" may be four of them.
            meant = {share, Fraction(total + section)} if text.source else {share}
            yield Quantity(start, word.end(), frozenset(meant), Unit("ratio", Fraction(1)), word=True)
            held = None
        else:
            if held:
                yield held
            held = _word(word, name, words)
            (start, end), (total, section) = word.span(), _sum(0, 0, number or 0) or (0, 0)
            if held and number is None:
                yield held
                held = None
    if held:
        yield held


def _word(word: re.Match[str], name: str, words: Vocabulary) -> Quantity | None:
    values = {Fraction(table[name]) for table in (words.numbers, words.ordinals, words.fractions) if name in table}
    if not values:
        return None
    unit = Unit("ratio", Fraction(1)) if values == {words.fractions.get(name)} else None
    return Quantity(*word.span(), frozenset(values), unit, weak=name in words.weak, word=True)


def _sum(total: int, section: int, number: int) -> tuple[int, int] | None:
    """What is read so far, the thousands apart, with one more number word; None if that begins another number."""
    units, tens = section % 10, section % 100
    if number >= 1000:
        return (total + section * number, 0) if section else (None if total else (number, 0))
    if section == 0:
        return total, number
    if number == 100 and section < 10:
        return total, section * 100
    if number == 20 and tens == 4:  # quatre-vingts
        return total, section + 76
    if (number < 10 and tens >= 20 and not units) or (number < 100 and not tens):
        return total, section + number
    if (10 <= number < 20 and tens in (60, 80)) or (7 <= number < 10 and tens in (10, 70, 90)):  # soixante-dix-sept
        return total, section + number
    return None
