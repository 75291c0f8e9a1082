from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ask_book.answering.quantities import Date, Facts, quantities


def values(text: str, lang: str) -> list[list[float]]:
    """What each quantity may mean, in its unit's base."""
    return [
        sorted(float(value * (item.unit.factor if item.unit else 1)) for value in item.values)
        for item in quantities(text, lang)
        if not item.weak
    ]


@pytest.mark.parametrize(
    ("lang", "text", "expected"),
    [
        ("en", "1,234.5 kg of 25 and 3 million", [[1234.5], [25], [3e6]]),
        ("en", "two hundred and five of twenty-five", [[205], [25]]),
        ("en", "50 %, half, two thirds, 40 per cent", [[0.5], [0.5], [2 / 3], [0.4]]),
        ("en", "half an hour, 7:30, 40k", [[1800], [450], [40000]]),
        ("en", "the 1990s, the nineteenth, the 19th", [[1990], [19], [19]]),
        ("es", "treinta y cinco mil de 1.500 y 14,5", [[35000], [1500], [14.5]]),
        ("es", "doscientos cinco en el siglo XIX y en el siglo V", [[205], [19], [5]]),
        ("es", "5 grados bajo cero, dos terceras partes", [[-5, 5], [2 / 3]]),
        ("fr", "quatre-vingt-dix-sept, soixante et onze, deux cent cinq mille", [[97], [71], [205000]]),
        ("fr", "1 350 au dix-neuvième siècle", [[1350], [19 * 1200]]),
        ("de", "fünfundzwanzig von zweihundertfünfzig, ein Drittel, 1.640", [[25], [250], [1 / 3], [1640]]),
        ("it", "ventuno, centoventi, duemila, un terzo", [[21], [120], [2000], [1 / 3, 3]]),
        ("pt", "vinte e cinco por cento de três mil e duzentos", [[0.25], [3200]]),
        ("zh", "八十度，六个小时，百分之二十，二〇〇八年", [[80], [21600], [0.2], [2008]]),
        ("zh", "15万人，一万二千块", [[150000], [12000]]),
        ("ja", "三つ、第三章、２０％、30分、四十八人", [[3], [3], [0.2], [1800], [48]]),
        ("xx", "12,5 and 3.000", [[12.5], [3000]]),
    ],
)  # fmt: skip
def test_what_is_read(lang: str, text: str, expected: list[list[float]]) -> None:
    assert values(text, lang) == [pytest.approx(each) for each in expected]


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        ("en", "12 March 1998"), ("en", "March 12, 1998"), ("en", "March 12th, 1998"), ("en", "1998-03-12"),
        ("en", "the 12th of March 1998"), ("es", "12 de marzo de 1998"), ("es", "12/3/1998"), ("fr", "12 mars 1998"),
        ("de", "12. März 1998"), ("de", "12.03.1998"), ("it", "12 marzo 1998"), ("pt", "12 de março de 1998"),
        ("zh", "1998年3月12日"), ("ja", "1998年3月12日"), ("zh", "一九九八年三月十二日"),
    ],
)  # fmt: skip
def test_a_date_is_a_date_in_every_form(lang: str, text: str) -> None:
    assert [item.dates for item in quantities(f"({text})", lang)] == [frozenset({Date(1998, 3, 12)})]


@pytest.mark.parametrize(
    ("lang", "text"), [("en", "they may march"), ("fr", "Mars est rouge"), ("pt", "o marco"), ("zh", "十分重要的一些")]
)
def test_other_words_are_no_dates_and_no_numbers(lang: str, text: str) -> None:
    assert [item for item in quantities(text, lang) if not item.weak] == []


def supports(source: str, claim: str, lang: str = "en") -> bool:
    found = [item for item in quantities(claim, lang) if not item.weak]
    assert found
    return all(map(Facts(source, (lang,)).support, found))


@pytest.mark.parametrize(
    ("source", "right", "wrong"),
    [
        ("41.3 m high", "about 41 m", "about 43 m"),
        ("204 steps", "more than 200 steps", "more than 205 steps"),
        ("12,480 pounds", "nearly 13,000 pounds", "12,500 pounds"),
        ("250 cm", "2.5 m", "2.5 km"),
        ("a third", "1/3", "2/3"),
        ("two years", "24 months", "24 days"),
        ("on 7 September 1838", "in September 1838", "in October 1838"),
        ("from May to October 1990", "in July", "in April"),
        ("in May and in October", "in May", "in July"),
        ("1821 to 1824", "three years", "four years"),
        ("12 May 1990", "12/5/1990", "12/6/1990"),
        ("on Mondays", "on a Monday", "on a Tuesday"),
        ("-5 °C", "5 degrees below zero", "5 degrees"),
        ("£48", "48 pounds", "$48"),
        ("less than 200 litres", "under 200 litres", "more than 200 litres"),
        ("no more than 200 litres", "at most 200 litres", "over 200 litres"),
        ("the four quarters of 2024", "4 of them", "5 of them"),
        ("article 11 of Law 147 of 2002", "Law 147-02", "Law 147-03"),
    ],
)  # fmt: skip
def test_what_a_source_supports(source: str, right: str, wrong: str) -> None:
    assert supports(source, right)
    assert not supports(source, wrong)


@given(st.integers(0, 999), st.sampled_from(["de", "it"]))
def test_every_whole_number_below_a_thousand_has_a_name(number: int, lang: str) -> None:
    from ask_book.answering.vocabulary import vocabulary

    assert number in vocabulary(lang).numbers.values()


@given(
    st.text(
        alphabet=st.sampled_from("0123456789.,'-/: %€kmy°年月日一二十百万半 aet\nIVX") | st.characters(), max_size=60
    ),
    st.sampled_from(["en", "es", "fr", "de", "it", "pt", "zh", "ja", "xx"]),
)
def test_a_text_supports_itself(text: str, lang: str) -> None:
    facts = Facts(text, (lang,))
    for item in quantities(text, lang):
        assert 0 <= item.start < item.end <= len(text)
        assert all(isinstance(value, Fraction) for value in item.values)
        assert facts.support(item)
