import pytest

from ask_book.answering.polarity import contradicts

MEAN = "It is sensitive to outliers: extreme values pull the mean toward them, which is quite representative otherwise."
BASE = "Une base de données amène des avantages, et elle n'est pas toujours nécessaire à la couche présentation."
PATIO = "Los horarios pueden regularse (comercios hasta las 22:00) para que no haya conflictos."

TURNED = [
    ("en", MEAN, "The author explains that it is not sensitive to outliers."),
    ("en", MEAN, "It isn't sensitive to outliers, as the book says."),
    ("en", "The event can violently shift probabilities.", "It shows that the event cannot shift probabilities."),
    ("en", "We have not yet articulated, in our code, how to plot.", "We have already articulated, in our code, how."),
    ("en", "There is a general upward movement over the years.", "The data show a general downward movement."),
    ("en", "The tower is open without a guide in May.", "In May the tower is open with a guide."),
    ("en", "It is impossible to assign a value to points.", "It is possible to assign a value to the points."),
    ("es", PATIO, "El autor dice que los horarios no pueden regularse."),
    (
        "es",
        "Algunos elementos de la lista se inspiran en Mozilla.",
        "Ningún elemento de la lista se inspira en Mozilla.",
    ),
    ("fr", BASE, "On y lit que des avantages existent, et elle est toujours nécessaire à la couche présentation."),
    (
        "de",
        "Die Sole darf nicht wärmer als 15 Grad werden.",
        "Im Sommer ist alles anders: Die Sole darf wärmer als 15 Grad werden.",
    ),
    ("zh", "夏天不使用雾笛。", "夏天使用雾笛。"),
]
SAME = [
    ("en", MEAN, "Outliers do not leave it unchanged: it is sensitive to them."),
    ("en", "Do not assume that the mean is representative.", "One should not think the mean is representative."),
    ("en", "Fisher passes the tests that Laspeyres fails.", "Laspeyres does not pass the tests, whereas Fisher does."),
    ("en", "The change is the product of the factors, not the sum of the rates.", "It is not the sum of the rates."),
    ("en", "It can be used not only for maps, but for tables.", "It can be used for maps."),
    ("en", "Only what is interdisciplinary is interesting.", "What is interdisciplinary is interesting."),
    ("es", PATIO, "Para que no haya conflictos se pueden regular los horarios."),
    ("fr", "On ne peut pas le valider sans le coder.", "On ne peut le valider qu'en le codant."),
    ("fr", "La classe n'est jamais modélisée.", "Elle n'est pas modélisée, cette classe."),
]


@pytest.mark.parametrize(("lang", "source", "claim"), TURNED, ids=[claim for *_, claim in TURNED])
def test_what_is_turned_round_is_seen(lang: str, source: str, claim: str) -> None:
    assert contradicts(claim, source, lang)


@pytest.mark.parametrize(("lang", "source", "claim"), SAME, ids=[claim for *_, claim in SAME])
def test_what_says_the_same_is_left_alone(lang: str, source: str, claim: str) -> None:
    assert not contradicts(claim, source, lang)


@pytest.mark.parametrize("lang", ["en", "fr", "ja", "xx"])
@pytest.mark.parametrize("text", ["", "not", "no no no", "un " * 3000, "(" * 3000])
def test_no_text_is_too_odd(lang: str, text: str) -> None:
    assert isinstance(contradicts(text, "It is not so.", lang), bool)
    assert isinstance(contradicts("It is so.", text, lang), bool)
