"""The words of eight languages that the check of claims knows: numbers, fractions, dates, units, hedges, negation.

All words are folded (`tokens.fold`): lower case, without accents. A language without a table here has none of these;
digits, symbols and names are still checked. It is a table of the sidecar alone: no page has to load it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from itertools import chain

from ask_book.retrieval.language import code_of


@dataclass(frozen=True)
class Vocabulary:
    """One language. Tables of words by value; the rest are alternatives of a regular expression.

    `weak` words may mean something else ("neuf" is also "new"): they support a claim and never refute one.
    `joins` stand inside a number ("treinta y cinco"), `lists` between the last two things of a list.
    `about`, `over` and `under` come before a number, `roughly` behind one. `denies` says no, `lessens` turns a bound
    or an amount round ("less", "without", "at most"); `idioms` look like either and are neither. `opposites` are
    beginnings of words, and what each is the negation of; `fillers` change nothing.
    """

    numbers: Mapping[str, int] = field(default_factory=dict)
    ordinals: Mapping[str, int] = field(default_factory=dict)
    fractions: Mapping[str, Fraction] = field(default_factory=dict)
    months: Mapping[str, int] = field(default_factory=dict)
    weekdays: Mapping[str, int] = field(default_factory=dict)
    weak: frozenset[str] = frozenset()
    joins: frozenset[str] = frozenset()
    lists: str = ""
    about: str = ""
    over: str = ""
    under: str = ""
    roughly: str = ""
    denies: str = ""
    lessens: str = ""
    idioms: str = ""
    opposites: Mapping[str, str] = field(default_factory=dict)
    fillers: frozenset[str] = frozenset()
    below_zero: str = ""
    titles: frozenset[str] = frozenset()


@cache
def vocabulary(lang: str) -> Vocabulary:
    """The words of a language tag such as `pt-BR`; none for a language without a table."""
    return _LANGUAGES.get(code_of(lang), Vocabulary())


def beginning(word: str) -> str:
    """What most forms of a word have in common."""
    return (word.removesuffix("s") if len(word) > 3 else word)[:6]


def _list(words: str) -> list[str]:
    return words.split()


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


def _counted(words: str, start: int = 0, step: int = 1) -> dict[str, int]:
    """Words for `start`, `start + step`, …; forms of the same value are joined by `/`."""
    values = enumerate(words.split())
    return {form: start + step * at for at, forms in values for form in forms.split("/")}


def _pairs(words: str) -> dict[str, str]:
    """`one:other …`, by how they begin."""
    return {beginning(one): beginning(other) for one, other in (pair.split(":") for pair in words.split())}


def _fractions(words: str) -> dict[str, Fraction]:
    """`word/word:2` means that these words say one half."""
    pairs = (item.split(":") for item in words.split())
    return {form: Fraction(1, int(below)) for forms, below in pairs for form in forms.split("/")}


def _german() -> Iterator[tuple[str, int]]:
    ones = _list("null ein zwei drei vier funf sechs sieben acht neun zehn elf zwolf")
    teens = [*ones, *_list("dreizehn vierzehn funfzehn sechzehn siebzehn achtzehn neunzehn")]
    tens = _list("zwanzig dreissig vierzig funfzig sechzig siebzig achtzig neunzig")
    below = dict(enumerate(teens)) | {10 * at: ten for at, ten in enumerate(tens, 2)}
    below |= {10 * at + n: f"{one}und{ten}" for at, ten in enumerate(tens, 2) for n, one in enumerate(ones[1:10], 1)}
    yield from ((word, value) for value, word in below.items())
    yield from (("eins", 1), ("hundert", 100), ("tausend", 1000), ("million", 10**6), ("millionen", 10**6))
    yield from (("milliarde", 10**9), ("milliarden", 10**9), ("dutzend", 12))
    yield from ((f"{word}mal", value) for value, word in below.items() if value)
    for hundreds in range(1, 10):
        yield from (
            (f"{ones[hundreds]}hundert{word if value else ''}", 100 * hundreds + value) for value, word in below.items()
        )
    yield from ((f"{word}tausend", 1000 * value) for value, word in below.items() if value)


def _german_ordinals() -> Iterator[tuple[str, int]]:
    for word, value in _german():
        if 10 < value < 100:
            yield from (
                (f"{word}{'te' if value < 20 else 'ste'}{ending}", value) for ending in ("", "n", "r", "s", "m")
            )


def _italian() -> Iterator[tuple[str, int]]:
    ones = "zero uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici"
    teens = [*ones.split(), "sedici", "diciassette", "diciotto", "diciannove"]
    tens = _list("venti trenta quaranta cinquanta sessanta settanta ottanta novanta")
    below = dict(enumerate(teens)) | {10 * at: ten for at, ten in enumerate(tens, 2)}
    below |= {
        10 * at + n: f"{ten[:-1] if n in (1, 8) else ten}{teens[n]}"
        for at, ten in enumerate(tens, 2)
        for n in range(1, 10)
    }
    yield from ((word, value) for value, word in below.items())
    for hundreds in range(1, 10):
        prefix = "cento" if hundreds == 1 else f"{teens[hundreds]}cento"
        yield from ((f"{prefix}{word if value else ''}", 100 * hundreds + value) for value, word in below.items())
    yield from ((f"{word}mila", 1000 * value) for value, word in below.items() if value > 1)
    yield from (("mille", 1000), ("mila", 1000), ("milione", 10**6), ("milioni", 10**6), ("dozzina", 12))
    yield from (("miliardo", 10**9), ("miliardi", 10**9))


_LANGUAGES = {
    "en": Vocabulary(
        numbers=_counted(
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
            "seventeen eighteen nineteen"
        )
        | _counted("twenty thirty forty fifty sixty seventy eighty ninety", 20, 10)
        | {
            "hundred": 100,
            "thousand": 1000,
            "million": 10**6,
            "billion": 10**9,
            "dozen": 12,
            "twice": 2,
            "double": 2,
            "triple": 3,
        },
        ordinals=_counted(
            "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
            "fifteenth sixteenth seventeenth eighteenth nineteenth twentieth",
            1,
        ),
        fractions=_fractions(
            "half/halves:2 third/thirds:3 quarter/quarters/fourth/fourths:4 fifth/fifths:5 tenth/tenths:10"
        ),
        months=_counted(
            "january/jan february/feb march/mar april/apr may june/jun july/jul august/aug september/sept/sep "
            "october/oct november/nov december/dec",
            1,
        ),
        weekdays=_counted(
            "monday/mondays tuesday/tuesdays wednesday/wednesdays thursday/thursdays friday/fridays "
            "saturday/saturdays sunday/sundays",
            1,
        ),
        weak=_set("one first second quarter quarters zero twice double"),
        joins=frozenset({"and"}),
        lists="and|or",
        about="about|around|roughly|approximately|approx|circa|some|close to|nearly|almost|in the region of",
        over="over|more than|above|upwards of|at least|exceeding|well over|just over",
        under="under|less than|fewer than|below|up to|just under|at most|nearly|almost|not quite",
        roughly="or so|approximately|roughly|or thereabouts",
        denies=r"not|no|never|cannot|\w+n['’]t|nobody|nothing|neither|nor|none|hardly|rarely|seldom|scarcely|unable",
        lessens="without|outside|except|less|fewer|below|under|lower|at most|maximum|"
        "decreas\\w+|shrink\\w*|before|lacks?|"
        "colder|cooler|smaller|shorter|worse|least",
        idioms="at least|not only|no matter|no doubt|not least|no longer|nothing but|more or less|no wonder|no \\d",
        opposites=_pairs(
            "less:more fewer:more decrease:increase lower:higher low:high smaller:larger small:large "
            "before:after below:above down:up downward:upward shorter:longer short:long worst:best "
            "worse:better last:first false:true wrong:right impossible:possible unable:able forbid:allow "
            "falls:rise loss:gain negative:positive minimum:maximum least:most outside:inside without:with "
            "weak:strong slow:fast exclude:include reject:accept fail:pass disable:enable close:open "
            "unlikely:likely unnecessary:necessary insufficient:sufficient earlier:later early:late"
        ),
        fillers=_set("a an the do does did always ever yet quite very just also either indeed already still"),
        below_zero="below zero|below freezing",
        titles=_set("dr mr mrs ms prof professor doctor sir lady king queen saint captain president bishop pope"),
    ),
    "es": Vocabulary(
        numbers=_counted(
            "cero uno/un/una dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciseis "
            "diecisiete dieciocho diecinueve veinte veintiuno/veintiun/veintiuna veintidos veintitres veinticuatro "
            "veinticinco veintiseis veintisiete veintiocho veintinueve"
        )
        | _counted("treinta cuarenta cincuenta sesenta setenta ochenta noventa", 30, 10)
        | _counted(
            "cien/ciento doscientos/doscientas trescientos/trescientas cuatrocientos/cuatrocientas "
            "quinientos/quinientas seiscientos/seiscientas setecientos/setecientas ochocientos/ochocientas "
            "novecientos/novecientas",
            100,
            100,
        )
        | {"mil": 1000, "millon": 10**6, "millones": 10**6, "docena": 12, "doble": 2, "triple": 3},
        ordinals=_counted(
            "primero/primera/primer segundo/segunda tercero/tercera/tercer/terceras cuarto/cuarta quinto/quinta "
            "sexto/sexta "
            "septimo/septima octavo/octava noveno/novena decimo/decima",
            1,
        ),
        fractions=_fractions(
            "mitad:2 tercio/tercios/tercera/terceras:3 cuarto/cuartos/cuarta/cuartas:4 quinto/quintos/quinta/quintas:5 "
            "decimo/decimos/decima:10"
        ),
        months=_counted(
            "enero febrero marzo abril mayo junio julio agosto septiembre/setiembre octubre noviembre diciembre", 1
        ),
        weekdays=_counted("lunes martes miercoles jueves viernes sabado/sabados domingo/domingos", 1),
        weak=_set("uno un una primero primera primer segundo segunda cuarto cuartos cero doble"),
        joins=frozenset({"y"}),
        lists="y|e|o|u",
        about="unos|unas|cerca de|alrededor de|aproximadamente|aprox|casi|en torno a|mas o menos|sobre|practicamente",
        over="mas de|por encima de|al menos|como minimo|superior a|superiores a|supera los|superan los",
        under="menos de|casi|por debajo de|hasta|como maximo|no llega a|inferior a",
        roughly="aproximadamente|mas o menos|aprox",
        denies="no|nunca|jamas|nadie|nada|ningun|ninguna|ninguno|tampoco|ni|apenas|rara vez|raramente",
        lessens="sin|salvo|excepto|menos(?! mal)|debajo|inferior\\w*|como maximo|disminu\\w+|antes|carece\\w*|peor|"
        "menor|menores|minimo",
        idioms="como minimo|no solo|no solamente|no obstante|sin embargo|sin duda|mas o menos|al menos|"
        "por lo menos|no mas que|nada mas|ni siquiera|cuando menos|sin parar",
        opposites=_pairs(
            "menos:mas disminuir:aumentar reduce:aumenta baja:sube inferior:superior menor:mayor "
            "antes:despues debajo:encima peor:mejor ultimo:primero falso:verdadero imposible:posible "
            "prohibe:permite negativo:positivo minimo:maximo fuera:dentro sin:con debil:fuerte lento:rapido "
            "excluye:incluye rechaza:acepta cerrado:abierto corto:largo pequeno:grande bajo:alto "
            "innecesario:necesario insuficiente:suficiente"
        ),
        fillers=_set("el la los las un una unos unas lo siempre muy tambien ya todavia aun se"),
        below_zero="bajo cero",
        titles=_set(
            "dr dra doctor doctora sr sra don dona profesor profesora rey reina san santa obispo papa almirante maestro"
        ),
    ),
    "fr": Vocabulary(
        numbers=_counted(
            "zero un/une deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize"
        )
        | _counted("vingt/vingts trente quarante cinquante soixante septante octante nonante", 20, 10)
        | {"cent": 100, "cents": 100, "mille": 1000, "million": 10**6, "millions": 10**6, "milliard": 10**9}
        | {"milliards": 10**9, "douzaine": 12, "double": 2, "triple": 3},
        ordinals=_counted(
            "premier/premiere deuxieme/second/seconde troisieme quatrieme cinquieme sixieme septieme huitieme neuvieme "
            "dixieme onzieme douzieme treizieme quatorzieme quinzieme seizieme",
            1,
        ),
        fractions=_fractions("moitie/demi/demie:2 tiers:3 quart/quarts:4 cinquieme/cinquiemes:5 dixieme/dixiemes:10"),
        months=_counted("janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre", 1),
        weekdays=_counted(
            "lundi/lundis mardi/mardis mercredi/mercredis jeudi/jeudis vendredi/vendredis "
            "samedi/samedis dimanche/dimanches",
            1,
        ),
        weak=_set("un une neuf premier premiere second seconde demi demie zero double"),
        joins=frozenset({"et"}),
        lists="et|ou",
        about="environ|pres de|autour de|a peu pres|approximativement|quelque|presque|dans les|aux alentours de",
        over="plus de|au moins|au-dessus de|superieur\\w* a|depasse",
        under="moins de|presque|au plus|en dessous de|jusqu'a|pres de|inferieur\\w* a",
        roughly="environ|a peu pres",
        denies="ne|n|pas|jamais|personne|rien|aucun|aucune|ni|guere|rarement|non",
        lessens="sans|sauf|excepte|hors|moins|au plus|dessous|inferieur\\w*|diminu\\w+|baiss\\w+|avant|"
        "manque\\w*|pire|moindre",
        idioms="non seulement|sans doute|plus ou moins|au moins|ne \\w+ que|n['’]\\w+ que|neanmoins|du moins|"
        "pas seulement|le moins du monde|sans cesse",
        opposites=_pairs(
            "moins:plus diminuer:augmenter baisse:hausse inferieur:superieur avant:apres pire:meilleur "
            "dernier:premier faux:vrai impossible:possible interdit:permet negatif:positif minimum:maximum "
            "hors:dans sans:avec faible:fort lent:rapide exclut:inclut rejette:accepte ferme:ouvert "
            "court:long petit:grand inutile:utile insuffisant:suffisant"
        ),
        fillers=_set("le la les l un une des du de d toujours tres aussi deja encore"),
        below_zero="au-dessous de zero|sous zero|en dessous de zero",
        titles=_set("dr docteur docteure m mme mlle professeur professeure roi reine saint sainte eveque pape"),
    ),
    "pt": Vocabulary(
        numbers=_counted(
            "zero um/uma dois/duas tres quatro cinco seis sete oito nove dez onze doze treze catorze/quatorze quinze "
            "dezasseis/dezesseis dezassete/dezessete dezoito dezanove/dezenove"
        )
        | _counted("vinte trinta quarenta cinquenta sessenta setenta oitenta noventa", 20, 10)
        | _counted(
            "cem/cento duzentos/duzentas trezentos/trezentas quatrocentos/quatrocentas quinhentos/quinhentas "
            "seiscentos/seiscentas setecentos/setecentas oitocentos/oitocentas novecentos/novecentas",
            100,
            100,
        )
        | {"mil": 1000, "milhao": 10**6, "milhoes": 10**6, "bilhao": 10**9, "bilhoes": 10**9, "duzia": 12},
        ordinals=_counted(
            "primeiro/primeira segundo/segunda terceiro/terceira quarto/quarta quinto/quinta sexto/sexta "
            "setimo/setima oitavo/oitava nono/nona decimo/decima",
            1,
        ),
        fractions=_fractions("metade:2 terco/tercos/terca:3 quarto/quartos/quarta:4 quinto/quintos:5 decimo/decima:10"),
        months=_counted("janeiro fevereiro marco abril maio junho julho agosto setembro outubro novembro dezembro", 1),
        weekdays=_counted(
            "segunda-feira/segundas-feiras terca-feira/tercas-feiras quarta-feira/quartas-feiras "
            "quinta-feira/quintas-feiras sexta-feira/sextas-feiras sabado/sabados domingo/domingos",
            1,
        ),
        weak=_set("um uma primeiro primeira segundo segunda terca quarto quarta quinta sexta zero"),
        joins=frozenset({"e"}),
        lists="e|ou",
        about="cerca de|uns|umas|aproximadamente|aprox|quase|em torno de|por volta de|perto de",
        over="mais de|acima de|pelo menos|no minimo|superior a|ao menos",
        under="menos de|quase|abaixo de|ate|no maximo|inferior a",
        roughly="aproximadamente|mais ou menos",
        denies="nao|nunca|jamais|ninguem|nada|nenhum|nenhuma|nem|tampouco|raramente|raras vezes",
        lessens="sem|salvo|exceto|menos|abaixo|inferior\\w*|no maximo|diminu\\w+|antes|pior|menor|menores",
        idioms="nao so|nao apenas|nao obstante|sem duvida|mais ou menos|pelo menos|ao menos|nada mais|nem sequer",
        opposites=_pairs(
            "menos:mais diminuir:aumentar reduz:aumenta inferior:superior menor:maior antes:depois "
            "abaixo:acima pior:melhor ultimo:primeiro falso:verdadeiro impossivel:possivel proibe:permite "
            "negativo:positivo minimo:maximo fora:dentro sem:com fraco:forte lento:rapido exclui:inclui "
            "rejeita:aceita fechado:aberto curto:longo pequeno:grande"
        ),
        fillers=_set("o a os as um uma uns umas sempre muito tambem ja ainda se"),
        below_zero="abaixo de zero|negativos",
        titles=_set("dr dra doutor doutora sr sra professor professora rei rainha sao santa bispo papa almirante"),
    ),
    "de": Vocabulary(
        numbers=dict(_german()),
        ordinals={
            f"{stem}{ending}": value
            for value, stem in enumerate(_list("erst zweit dritt viert funft sechst siebt acht neunt zehnt"), 1)
            for ending in ("e", "en", "er", "es", "em")
        }
        | dict(_german_ordinals()),
        fractions=_fractions(
            "halfte/halb/halbe/halben/halber/halbes:2 drittel:3 viertel:4 funftel:5 achtel:8 zehntel:10"
        ),
        months=_counted("januar/janner februar marz april mai juni juli august september oktober november dezember", 1),
        weekdays=_counted(
            "montag/montags dienstag/dienstags mittwoch/mittwochs donnerstag/donnerstags "
            "freitag/freitags samstag/samstags/sonnabend sonntag/sonntags",
            1,
        ),
        weak=_set("ein eins erste ersten erster erstes erstem zweite zweiten zweiter zweites null"),
        lists="und|oder|sowie",
        about="etwa|ungefahr|rund|circa|ca|zirka|an die|um die|fast|knapp|beinahe|annahernd",
        over="uber|mehr als|mindestens|wenigstens",
        under="unter|weniger als|hochstens|maximal|fast|knapp|bis zu|beinahe",
        roughly="ungefahr|etwa",
        denies="nicht|kein\\w*|nie|niemals|niemand|nichts|weder|noch nie|kaum|selten",
        lessens="ohne|ausser|weniger|unterhalb|hochstens|maximal|sinkt|sinken|abnehm\\w+|bevor|vor(?= dem| der)|kalter|"
        "kleiner|niedriger|schlechter",
        idioms="nicht nur|mehr oder weniger|kein wunder|nicht zuletzt|nichts als",
        opposites=_pairs(
            "weniger:mehr sinkt:steigt kleiner:grosser niedriger:hoher vor:nach unter:uber schlechter:besser "
            "letzte:erste falsch:richtig unmoglich:moglich verboten:erlaubt negativ:positiv minimum:maximum "
            "ohne:mit schwach:stark langsam:schnell geschlossen:offen kurz:lang ausserhalb:innerhalb"
        ),
        fillers=_set("der die das den dem des ein eine einen einem einer eines immer sehr auch schon noch"),
        below_zero="unter null|minus",
        titles=_set("dr herr herrn frau professor professorin prof doktor konig konigin sankt bischof papst graf"),
    ),
    "it": Vocabulary(
        numbers=dict(_italian()),
        ordinals={
            f"{stem}{ending}": value
            for value, stem in enumerate(_list("prim second terz quart quint sest settim ottav non decim"), 1)
            for ending in "oaie"
        }
        | {f"{word[:-1]}esimo": value for word, value in _italian() if 10 < value < 100},
        fractions=_fractions("meta:2 terzo/terzi:3 quarto/quarti:4 quinto/quinti:5 decimo/decimi:10"),
        months=_counted(
            "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre", 1
        ),
        weekdays=_counted("lunedi martedi mercoledi giovedi venerdi sabato/sabati domenica/domeniche", 1),
        weak=_set("uno sei primo prima primi prime secondo seconda secondi seconde nona none noni meta zero"),
        joins=frozenset({"e"}),
        lists="e|ed|o",
        about="circa|all'incirca|quasi|intorno a|pressappoco|approssimativamente|attorno a",
        over="piu di|oltre|almeno|sopra|superiore a|al di sopra",
        under="meno di|quasi|sotto|al massimo|fino a|inferiore a",
        roughly="circa|all'incirca",
        denies="non|mai|nessun|nessuno|nessuna|niente|nulla|ne|neppure|neanche|raramente|di rado",
        lessens="senza|tranne|eccetto|meno|sotto|inferior\\w*|al massimo|diminu\\w+|prima|peggio|minore|minori",
        idioms="non solo|non soltanto|senza dubbio|piu o meno|nientemeno|perlomeno|a meno che",
        opposites=_pairs(
            "meno:piu diminuire:aumentare riduce:aumenta inferiore:superiore minore:maggiore prima:dopo "
            "sotto:sopra peggiore:migliore ultimo:primo falso:vero impossibile:possibile vieta:permette "
            "negativo:positivo minimo:massimo fuori:dentro senza:con debole:forte lento:veloce "
            "esclude:include rifiuta:accetta chiuso:aperto corto:lungo piccolo:grande"
        ),
        fillers=_set("il lo la i gli le l un uno una dei degli delle sempre molto anche gia ancora si"),
        below_zero="sotto zero",
        titles=_set(
            "dott dottor dottore dottoressa sig signor signora professor professoressa re regina san vescovo papa "
            "maestro"
        ),
    ),
    "zh": Vocabulary(
        weekdays={f"{name}{day}": at for name in ("星期", "周", "礼拜") for at, day in enumerate("一二三四五六日", 1)}
        | {"星期天": 7, "周天": 7},
        lists="和|与|及|以及|或",
        about="大约|约|大概|将近|近|差不多|几乎",
        over="超过|多于|至少|不少于|高于",
        under="不到|少于|不足|至多|最多|低于|将近|近",
        roughly="左右|上下|多",
        denies="不|没|无法|未|勿|别|从不|从未|莫",
        lessens="少于|低于|不足|以下|最多|至多|之前|以前|减少|下降|变少|变低|更低|更少",
        idioms="不仅|不但|不过|不同|不少于|不少|差不多|不错|不断|不久|不论|不管|没错|没准|特别|分别|区别|类别|级别|识别|个别|别的",
        below_zero="零下",
    ),
    "ja": Vocabulary(
        weekdays={f"{day}曜{end}": at for end in ("", "日") for at, day in enumerate("月火水木金土日", 1)},
        lists="と|や|および|または",
        about="約|およそ|おおよそ|ほぼ|だいたい",
        over="少なくとも|最低",
        under="最大|最高|せいぜい",
        roughly="ほど|程度|くらい|ぐらい|前後|以上|以下|弱|強",
        denies="ない|なかった|ません|なく|せず|ずに|まい|なし",
        lessens="少ない|以下|未満|下回\\w*|減\\w|より前|以前|までに",
        idioms="少なくとも|なければなら(?:ない|ず|ません)|ねばならない|ほかならない|かもしれ(?:ない|ません)|だけでなく|間もなく|"
        "なくてはなら(?:ない|ません)|なくてはいけ(?:ない|ません)|違いない",
        below_zero="氷点下|零下",
    ),
}


@dataclass(frozen=True)
class Unit:
    """`factor` times the base unit of a dimension; values of one dimension can be compared."""

    dimension: str
    factor: Fraction


def _units(dimension: str, rows: str) -> Iterator[tuple[str, Unit]]:
    """Lines of `factor word word …`; `+` in a word stands for a space."""
    for row in rows.strip().splitlines():
        factor, *names = row.split()
        yield from ((name.replace("+", " "), Unit(dimension, Fraction(factor))) for name in names)


SYMBOLS = dict(
    chain(
        _units("length", "1/1000 mm\n1/100 cm\n1 m\n1000 km\n1/1000000 µm μm\n1/1000000000 nm"),
        _units("mass", "1/1000000 mg\n1/1000 g\n1 kg\n1000 t"),
        _units("volume", "1/1000 ml mL\n1/100 cl\n1/10 dl\n1 l L\n1000 m³ m3\n100 hl"),
        _units("area", "1/10000 cm² cm2\n1 m² m2\n10000 ha\n1000000 km² km2"),
        _units("seconds", "1/1000 ms\n1 s\n60 min\n3600 h"),
        _units("speed", "1 m/s\n5/18 km/h"),
        _units("celsius", "1 °C ℃ ºC"),
        _units("fahrenheit", "1 °F ℉ ºF"),
        _units("degree", "1 ° º"),
        _units("ratio", "1/100 %\n1/1000 ‰"),
        _units("power", "1 W\n1000 kW\n1000000 MW\n1000000000 GW"),
        _units("energy", "1 J\n1000 kJ\n3600000 kWh"),
        _units("calories", "1 cal\n1000 kcal"),
        _units("tension", "1 V\n1000 kV"),
        _units("current", "1 A\n1/1000 mA"),
        _units("frequency", "1 Hz\n1000 kHz\n1000000 MHz\n1000000000 GHz"),
        _units("pressure", "1 Pa\n100 hPa\n1000 kPa\n100000 bar"),
        _units("bytes", "1000 kB KB\n1000000 MB\n1000000000 GB\n1000000000000 TB"),
        _units("pound", "1 lb lbs"),
        _units("foot", "1 ft"),
        _units("mile", "1 mi"),
        _units("euro", "1 € EUR"),
        _units("dollar", "1 $ USD US$"),
        _units("sterling", "1 £ GBP"),
        _units("yen", "1 ¥ JPY"),
    )
)
"""Units that are written with symbols; case matters."""

UNIT_WORDS = dict(
    chain(
        _units(
            "length",
            """1/1000 millimetre millimetres millimeter millimeters millimeter milimetro
            1/1000 milimetros millimetro millimetri 毫米 ミリ ミリメートル
            1/100 centimetre centimetres centimeter centimeters centimetro centimetros
            1/100 zentimeter zentimetern centimetri 厘米 センチ センチメートル
            1 metre metres meter meters metern metro metros metri 米 公尺 メートル
            1000 kilometre kilometres kilometer kilometers kilometern kilometro kilometros
            1000 quilometro quilometros chilometro chilometri 公里 千米 キロメートル""",
        ),
        _units(
            "mass",
            """1/1000 gram grams gramme grammes gramo gramos grama gramas gramm grammo grammi 克 グラム
            1 kilogram kilograms kilogramme kilogrammes kilo kilos kilogramo kilogramos quilo quilos quilograma
            1 quilogramas kilogramm chilogrammo chilogrammi chilo chili 公斤 千克 キロ キログラム
            1000 tonne tonnes ton tons tonelada toneladas tonnen tonnellata tonnellate 吨 トン""",
        ),
        _units(
            "volume",
            """1/1000 millilitre millilitres milliliter milliliters mililitro
            1/1000 mililitros millilitro millilitri 毫升 ミリリットル
            1000 cubic+metres cubic+meters metros+cubicos metres+cubes kubikmeter metri+cubi 立方米
            1 litre litres liter liters litern litro litros litri 升 公升 リットル""",
        ),
        _units(
            "area",
            """1 square+metres square+meters metros+cuadrados metros+quadrados
            1 metres+carres quadratmeter metri+quadrati 平方米
            10000 hectare hectares hectarea hectareas hektar ettaro ettari 公顷 ヘクタール
            1000000 square+kilometres square+kilometers kilometros+cuadrados quilometros+quadrados
            1000000 kilometres+carres quadratkilometer chilometri+quadrati 平方公里""",
        ),
        _units(
            "seconds",
            """1 second seconds segundo segundos seconde secondes sekunde sekunden secondi 秒 秒钟 秒間
            60 minute minutes minuto minutos minuten minuti 分 分钟 分間
            3600 hour hours hora horas heure heures stunde stunden ora ore 小时 个小时 時間 钟头
            86400 day days dia dias jour jours tag tage tagen giorno giorni 天 日 日間 日间
            604800 week weeks semana semanas semaine semaines woche wochen settimana settimane 周 星期 个星期 週間""",
        ),
        _units(
            "months",
            """1 month months mes meses mois monat monate monaten mese mesi 个月 か月 ヶ月 カ月 箇月
            12 year years ano anos ans annee annees jahr jahre jahren anno anni 年 年間 年间
            120 decade decades decada decadas decennie decennies jahrzehnt jahrzehnte decennio decenni
            1200 century centuries siglo siglos siecle siecles jahrhundert jahrhunderte
            1200 jahrhunderts seculo seculos secolo secoli 世纪 世紀""",
        ),
        _units(
            "celsius",
            "1 celsius degrees+celsius grados+centigrados grados+celsius degres+celsius grad+celsius gradi+celsius "
            "graus+celsius graus+centigrados 摄氏度",
        ),
        _units("fahrenheit", "1 fahrenheit degrees+fahrenheit grados+fahrenheit grad+fahrenheit 华氏度"),
        _units("degree", "1 degree degrees grado grados degre degres grad grado gradi grau graus 度"),
        _units("ratio", "1/100 percent per+cent por+ciento pour+cent prozent per+cento por+cento パーセント"),
        _units("euro", "1 euro euros euri 欧元 ユーロ"),
        _units("dollar", "1 dollar dollars dolar dolares dollaro dollari 美元 ドル"),
        _units("peso", "1 peso pesos 比索"),
        _units("peseta", "1 peseta pesetas"),
        _units("franc", "1 franc francs franco francos franken franchi 法郎 フラン"),
        _units("cent", "1 cents centavos centimos centimes centesimi 美分"),
        _units("reais", "1 reais"),
        _units("lira", "1 lira liras lire"),
        _units("yuan", "1 yuan yuanes 元 块 人民币"),
        _units("yen", "1 yen yenes 円 日元"),
        _units("pound", "1 pound pounds libra libras pfund"),
        _units("foot", "1 foot feet pies pieds pes fuss piedi"),
        _units("inch", "1 inch inches pulgada pulgadas pouces zoll pollici 英寸 インチ"),
        _units("knots", "1 nautical+mile nautical+miles millas+nauticas milles+marins seemeilen miglia+nautiche 海里"),
        _units("mile", "1 mile miles milla millas meile meilen miglia 英里 マイル"),
    )
)
"""Units that are written as words; folded."""

COMPATIBLE = {("degree", "celsius"), ("degree", "fahrenheit"), ("yen", "yuan"), ("pound", "sterling")}
"""Dimensions of which one says less than the other, or shares its sign."""
