"""What a model may write, in four languages, and what a reader gets of it."""

from dataclasses import dataclass

import pytest

from answering.with_model import done, heard, shown, tagged
from ask_book.answering.open_book import OpenBook
from provider import says
from small_books import small_book


@dataclass(frozen=True)
class Case:
    """`model`: what it writes, `{words of the book}` standing for their tag. `answer`: `[1]` standing for the note 1.

    `marked`: the spans marked unsupported, and, behind a `?`, uncited.
    """

    lang: str
    question: str
    model: str
    answer: str
    quotes: tuple[str, ...] = ()
    marked: tuple[str, ...] = ()
    dropped: int = 0


ES_DRY, ES_RAIN = "La estación seca va de junio a septiembre.", "El valle tiene un clima templado y húmedo."
ES_MEAN = "La temperatura media anual es de 14,5 °C."
ES_FROST = "Además, rara vez hiela por debajo de los 600 metros."
ES_WIND, ES_NAME = "El viento del oeste trae la lluvia.", "Este viento se llama travesía y dura tres días."
EN_WEIGHT = "It should weigh at least 40 kg, or be tied down."
EN_AMES = "Dr. Ames ties hers with straps, e.g. the ones that movers use."
EN_DOOR = "Never place a hive less than 2.5 m from a door."
EN_SYRUP = "They take sugar syrup when it is warmer than 10 °C; below that they need fondant."
EN_FEEDING = (
    "Bees need feeding in late winter. They take sugar syrup when it is warmer than 10 °C; below that they need "
    "fondant. "
    "This is the most common mistake of beginners.\nTable 1.1: What to feed\nMonth Food Kilograms per hive\n"
    "February fondant 1.0\nMarch syrup 2.5\nm = 0.5 n + 2\nFondant is a soft paste of sugar and water."
)
EN_WINTER = "Bees need feeding in late winter."
FR_WHEEL = "La roue du moulin mesure 4,20 m de diamètre et porte 32 augets."
FR_TURNS = "Elle tourne six fois par minute quand la rivière est pleine."
FR_STONES, FR_WEIGHT = "Les deux meules viennent de La Ferté.", "Chacune pèse 1 500 kg."
FR_FLOUR = "La farine de seigle se garde quatre mois en bac."
FR_BAKER = "En 1911, le boulanger Aubert a quitté le village."
ZH_GREEN, ZH_BITTER = "绿茶要用八十度的水冲泡，红茶可以用沸水。", "水温太高会让绿茶变苦。"
ZH_SPRING, ZH_PICK = "泉水比自来水更好，因为它的矿物质少。", "春天的第一次采茶在清明之前，叶子最嫩。"
ZH_STEPS, ZH_DRY = "杀青、揉捻、干燥是制茶的三个步骤。", "茶叶在竹筛上干燥六个小时。"

DRY, MEAN, WIND = "¿Cuándo es la estación seca?", "¿Cuál es la temperatura media anual?", "¿Cómo se llama el viento?"
WEIGHT, FEED = "How much should a hive on a roof weigh?", "What do bees need in late winter?"
WHEEL, STONES = "Quel est le diamètre de la roue du moulin ?", "Combien pèsent les meules ?"
FLOUR = "Combien de temps se garde la farine de seigle ?"
WATER, PICK, MAKE = "绿茶用多少度的水冲泡？", "春天的第一次采茶在什么时候？", "制茶的三个步骤是什么？"

CASES = {
    # one claim, one note; the tag before or behind the full stop
    "es plain": Case("es", DRY, f"Va de junio a septiembre {{{ES_DRY}}}.", "Va de junio a septiembre [1].", (ES_DRY,)),
    "es behind the stop": Case(
        "es",
        DRY,
        f"Va de junio a septiembre. {{{ES_DRY}}}",
        "Va de junio a septiembre. [1]",
        (ES_DRY,),
    ),
    "es glued": Case("es", DRY, f"Va de junio a septiembre{{{ES_DRY}}}.", "Va de junio a septiembre[1].", (ES_DRY,)),
    "es two notes on one claim": Case(
        "es",
        WIND,
        f"El viento del oeste trae lluvia y dura tres días {{{ES_WIND}}}{{{ES_NAME}}}.",
        "El viento del oeste trae lluvia y dura tres días [1][2].",
        (ES_WIND, ES_NAME),
    ),
    "es the same source twice is one note": Case(
        "es",
        MEAN,
        f"La media es de 14,5 °C {{{ES_MEAN}}}. Es decir, 14,5 grados {{{ES_MEAN}}}.",
        "La media es de 14,5 °C [1]. Es decir, 14,5 grados [1].",
        (ES_MEAN,),
    ),
    "es notes in order of first use": Case(
        "es",
        MEAN,
        f"Rara vez hiela {{{ES_FROST}}}. La media es de 14,5 °C {{{ES_MEAN}}}. Casi no hiela {{{ES_FROST}}}.",
        "Rara vez hiela [1]. La media es de 14,5 °C [2]. Casi no hiela [1].",
        (ES_FROST, ES_MEAN),
    ),
    "es two paragraphs": Case(
        "es",
        MEAN,
        f"El clima es templado y húmedo {{{ES_RAIN}}}.\n\nLa media es de 14,5 °C {{{ES_MEAN}}}.\n",
        "El clima es templado y húmedo [1].\n\nLa media es de 14,5 °C [2].",
        (ES_RAIN, ES_MEAN),
    ),
    "es a wrong number": Case(
        "es",
        MEAN,
        f"La media es de 15,4 °C {{{ES_MEAN}}}.",
        "La media es de 15,4 °C [1].",
        (ES_MEAN,),
        ("La media es de 15,4 °C [1].",),
    ),
    "es a wrong name": Case(
        "es",
        WIND,
        f"En la costa de Arauco el viento se llama travesía {{{ES_NAME}}}.",
        "En la costa de Arauco el viento se llama travesía [1].",
        (ES_NAME,),
        ("En la costa de Arauco el viento se llama travesía [1].",),
    ),
    "es a claim without a source": Case(
        "es",
        MEAN,
        f"La media es de 14,5 °C {{{ES_MEAN}}}. Eso gusta a los turistas.",
        "La media es de 14,5 °C [1]. Eso gusta a los turistas.",
        (ES_MEAN,),
        ("?Eso gusta a los turistas.",),
    ),
    "es forged tags": Case(
        "es",
        DRY,
        f"Va de junio a septiembre {{{ES_DRY}}} [f1-204-245] [f12-1-2] [f1-204].",
        "Va de junio a septiembre [1].",
        (ES_DRY,),
        (),
        3,
    ),
    "es a row of a table": Case(
        "es",
        "¿Cuánta lluvia cae en abril?",
        "En abril caen 204 mm en 16 días {Abril 204 16}.",
        "En abril caen 204 mm en 16 días [1].",
        ("Abril 204 16",),
    ),
    # brackets and marks of small models
    "en bold": Case(
        "en",
        WEIGHT,
        f"It weighs **at least 40 kg** **{{{EN_WEIGHT}}}**.",
        "It weighs **at least 40 kg** [1].",
        (EN_WEIGHT,),
    ),
    "en full width": Case("en", WEIGHT, "At least 40 kg 【f1-41-90】.", "At least 40 kg.", (), (), 1),
    "en in parentheses": Case("en", WEIGHT, f"At least 40 kg ({{{EN_WEIGHT}}}).", "At least 40 kg [1].", (EN_WEIGHT,)),
    "en two in one bracket": Case(
        "en",
        FEED,
        "They need feeding, and below 10 °C fondant [f1-211-244, f1-245-326].",
        "They need feeding, and below 10 °C fondant [1][2].",
        (EN_WINTER, EN_SYRUP),
    ),
    "en an anchor": Case(
        "en",
        FEED,
        "They need feeding in late winter [#sec-feeding].",
        "They need feeding in late winter [1].",
        (EN_FEEDING,),
    ),
    "en an anchor of nothing": Case(
        "en",
        FEED,
        f"They need feeding {{{EN_WINTER}}} [#sec-winter].",
        "They need feeding [1].",
        (EN_WINTER,),
        (),
        1,
    ),
    "en its own notes are no notes": Case(
        "en",
        FEED,
        f"They need feeding {{{EN_WINTER}}} [2](#ask-book-2).",
        "They need feeding [1].",
        (EN_WINTER,),
        (),
        1,
    ),
    "en a name from the heading": Case(
        "en",
        WEIGHT,
        f"In Hives, Dr. Ames ties hers with straps {{{EN_AMES}}}.",
        "In Hives, Dr. Ames ties hers with straps [1].",
        (EN_AMES,),
    ),
    "en another's name": Case(
        "en",
        WEIGHT,
        f"The well-known Dr. Brown ties hers with straps {{{EN_AMES}}}.",
        "The well-known Dr. Brown ties hers with straps [1].",
        (EN_AMES,),
        ("The well-known Dr. Brown ties hers with straps [1].",),
    ),
    "en swapped sources": Case(
        "en",
        FEED,
        f"A hive weighs at least 40 kg {{{EN_SYRUP}}}. Syrup is for above 10 °C {{{EN_WEIGHT}}}.",
        "A hive weighs at least 40 kg [1]. Syrup is for above 10 °C [2].",
        (EN_SYRUP, EN_WEIGHT),
        ("A hive weighs at least 40 kg [1].", "Syrup is for above 10 °C [2]."),
    ),
    "en turned around": Case(
        "en",
        "May a hive be near a door?",
        f"Place a hive less than 2.5 m from a door {{{EN_DOOR}}}.",
        "Place a hive less than 2.5 m from a door [1].",
        (EN_DOOR,),
        ("Place a hive less than 2.5 m from a door [1].",),
    ),
    # French: spaces in numbers, quotes, cut anywhere
    "fr plain": Case("fr", WHEEL, f"Elle mesure 4,20 m {{{FR_WHEEL}}}.", "Elle mesure 4,20 m [1].", (FR_WHEEL,)),
    "fr another spelling of the number": Case(
        "fr",
        STONES,
        f"Chacune pèse 1500 kg {{{FR_WEIGHT}}}.",
        "Chacune pèse 1500 kg [1].",
        (FR_WEIGHT,),
    ),
    "fr ten times too much": Case(
        "fr",
        STONES,
        f"Chacune pèse 15 000 kg {{{FR_WEIGHT}}}.",
        "Chacune pèse 15 000 kg [1].",
        (FR_WEIGHT,),
        ("Chacune pèse 15 000 kg [1].",),
    ),
    "fr a number in words": Case(
        "fr",
        WHEEL,
        f"Elle tourne 6 fois par minute {{{FR_TURNS}}}.",
        "Elle tourne 6 fois par minute [1].",
        (FR_TURNS,),
    ),
    "fr another year": Case(
        "fr",
        "Quand le boulanger Aubert a-t-il quitté le village ?",
        f"Aubert est parti en 1912 {{{FR_BAKER}}}.",
        "Aubert est parti en 1912 [1].",
        (FR_BAKER,),
        ("Aubert est parti en 1912 [1].",),
    ),
    "fr a question and a heading claim nothing": Case(
        "fr",
        FLOUR,
        f"# La farine\n\nCombien de temps ? Quatre mois en bac {{{FR_FLOUR}}}.",
        "# La farine\n\nCombien de temps ? Quatre mois en bac [1].",
        (FR_FLOUR,),
    ),
    "fr nothing but the tag": Case("fr", FLOUR, f"{{{FR_FLOUR}}}", "[1]", (FR_FLOUR,)),
    "fr two sources": Case(
        "fr",
        STONES,
        f"Les meules viennent de La Ferté {{{FR_STONES}}} et pèsent chacune 1 500 kg {{{FR_WEIGHT}}}.",
        "Les meules viennent de La Ferté [1] et pèsent chacune 1 500 kg [2].",
        (FR_STONES, FR_WEIGHT),
    ),
    "fr a tag with blanks, one character short": Case(
        "fr",
        WHEEL,
        f"Elle porte 32 augets {{{FR_WHEEL}}} [f1-8 - 70].",
        "Elle porte 32 augets [1].",
        (FR_WHEEL,),
        (),
        1,
    ),
    # Chinese: no spaces, full-width punctuation
    "zh plain": Case(
        "zh", WATER, f"绿茶要用八十度的水冲泡{{{ZH_GREEN}}}。", "绿茶要用八十度的水冲泡[1]。", (ZH_GREEN,)
    ),
    "zh behind the stop": Case(
        "zh", WATER, f"水温太高会让绿茶变苦。{{{ZH_BITTER}}}", "水温太高会让绿茶变苦。[1]", (ZH_BITTER,)
    ),
    "zh two claims": Case(
        "zh",
        WATER,
        f"绿茶要用八十度的水{{{ZH_GREEN}}}。泉水更好{{{ZH_SPRING}}}。",
        "绿茶要用八十度的水[1]。泉水更好[2]。",
        (ZH_GREEN, ZH_SPRING),
    ),
    "zh in digits": Case(
        "zh", WATER, f"绿茶要用80度的水冲泡{{{ZH_GREEN}}}。", "绿茶要用80度的水冲泡[1]。", (ZH_GREEN,)
    ),
    "zh a wrong number": Case(
        "zh",
        WATER,
        f"绿茶要用95度的水冲泡{{{ZH_GREEN}}}。",
        "绿茶要用95度的水冲泡[1]。",
        (ZH_GREEN,),
        ("绿茶要用95度的水冲泡[1]。",),
    ),
    "zh without a source": Case(
        "zh",
        MAKE,
        f"杀青、揉捻、干燥{{{ZH_STEPS}}}。茶叶很香。",
        "杀青、揉捻、干燥[1]。茶叶很香。",
        (ZH_STEPS,),
        ("?茶叶很香。",),
    ),
    "zh forged": Case("zh", PICK, f"在清明之前{{{ZH_PICK}}}［f0-1-9］。", "在清明之前[1]。", (ZH_PICK,), (), 1),
    "zh hours": Case("zh", "茶叶在竹筛上干燥几个小时？", f"干燥六个小时{{{ZH_DRY}}}。", "干燥六个小时[1]。", (ZH_DRY,)),
}


@pytest.fixture(scope="module")
def books(tmp_path_factory: pytest.TempPathFactory) -> dict[str, OpenBook]:
    return {lang: small_book(tmp_path_factory.mktemp(lang), lang) for lang in ("es", "en", "fr", "zh")}


@pytest.mark.parametrize("piece", [1, 1000])
@pytest.mark.parametrize("name", CASES)
def test_what_a_reader_gets(books: dict[str, OpenBook], name: str, piece: int) -> None:
    case = CASES[name]
    book = books[case.lang]
    with heard(book, case.question, says(tagged(book.manifest, case.model), piece=piece)) as (_, events):
        found = done(events)
    if not case.quotes:
        assert (found.mode, found.notices[0].code) == ("extractive", "model_uncited")
        return
    assert found.answer == _with_links(case.answer)
    assert shown(events) == found.answer
    assert tuple(note.quote for note in found.citations) == case.quotes
    assert all(note.verified for note in found.citations)
    marks = [
        ("?" if mark.kind == "uncited" else "") + found.answer[mark.start : mark.end] for mark in found.claims.marks
    ]
    assert tuple(marks) == tuple(map(_with_links, case.marked))
    assert found.claims.dropped_tags == case.dropped


def _with_links(text: str) -> str:
    for n in range(1, 4):
        text = text.replace(f"[{n}]", f"[{n}](#ask-book-{n})")
    return text
