"""Books in many languages and scripts: a question finds its passage, and one about something else is refused."""

from __future__ import annotations

import pytest

from ask_book.retrieval.language import locale
from retrieval.texts import index_of
from retrieval.vectors import book

RIVER_AND_WIND = {
    "es": ("El río crece en abril porque la nieve se funde.", "El viento del oeste sopla fuerte en invierno."),
    "ar": ("يرتفع النهر في أبريل لأن الثلج يذوب في الجبال.", "تهب الرياح الغربية بقوة في الشتاء."),
    "hi": ("नदी का पानी पहाड़ों से आता है और अप्रैल में बढ़ता है।", "पश्चिम की हवा सर्दियों में तेज़ चलती है।"),
    "ja": ("四月になると山の雪がとけて川の水がふえる。", "冬には西風が強く吹く。"),
    "th": ("แม่น้ำเพิ่มขึ้นในเดือนเมษายนเพราะหิมะละลาย", "ลมตะวันตกแรงในฤดูหนาว"),
    "vi": ("Nước sông dâng cao vào tháng tư vì tuyết tan trên núi.", "Gió tây thổi mạnh vào mùa đông."),
    "zh": ("四月河水上涨，因为山上的雪融化了。", "冬天的西风很强。"),
}


@pytest.mark.parametrize(
    ("lang", "question", "passage"),
    [
        ("es", "cuando crece el rio", 0), ("es", "¿Cómo sopla el víento del oeste?", 1),
        ("es", "¿Quién pintó Las Meninas?", None),
        ("ar", "لماذا يرتفع النهر؟", 0), ("ar", "متى تهب الرياح الغربية؟", 1),
        ("ar", "النَّهْر", 0), ("ar", "ما هي القهوة؟", None),
        ("hi", "अप्रैल में नदी का पानी क्यों बढ़ता है?", 0), ("hi", "हवा कब तेज़ चलती है?", 1), ("hi", "मंगल ग्रह पर जीवन", None),
        ("ja", "川の水はいつふえますか", 0), ("ja", "西風とは何ですか", 1), ("ja", "コーヒーとは", None),
        ("th", "ทำไมแม่น้ำเพิ่มขึ้น", 0), ("th", "ลมตะวันตกแรงเมื่อไหร่", 1), ("th", "กาแฟคืออะไร", None),
        ("vi", "Tại sao nước sông dâng cao?", 0), ("vi", "Gió tây thổi khi nào?", 1), ("vi", "cà phê là gì", None),
        ("zh", "什么是西风", 1), ("zh", "西风是什么？", 1), ("zh", "河水什么时候上涨？", 0), ("zh", "什么是咖啡", None),
    ],
)  # fmt: skip
@pytest.mark.parametrize("said", [True, False], ids=["said", "unsaid"])
def test_a_question_finds_its_passage(lang: str, question: str, passage: int | None, said: bool) -> None:
    """Also when the book does not say its language."""
    texts = [("1", text) for text in RIVER_AND_WIND[lang]]
    found = index_of(texts, lang if said else "").search(question)
    assert found.evidence.enough == (passage is not None)
    if passage is not None:
        assert found.hits[0].chunk == passage


def test_vietnamese_marks_tell_words_apart() -> None:
    texts = [("1", "Má tôi bán cá."), ("2", "Mạ non xanh trên đồng."), ("3", "Mã số của sách.")]
    assert [hit.chunk for hit in index_of(texts, "vi").search("mạ").hits] == [1]
    assert [hit.chunk for hit in index_of(texts, "").search("mạ").hits] == [1]


@pytest.mark.parametrize(
    ("question", "passage"),
    [
        ("¿Cuándo crece el río?", 0),
        ("When does the west wind blow?", 1),
        ("¿Quién descubrió América?", None),
        ("Who discovered America?", None),
    ],
)
def test_a_book_in_two_languages_answers_in_both(question: str, passage: int | None) -> None:
    spanish = "El río crece en abril porque la nieve se funde en las montañas y baja hasta el mar."
    english = "The west wind blows hard in winter and the boats stay in the harbour for weeks."
    for lang in ("es", "en", ""):
        found = index_of([("El río", spanish), ("The wind", english)], lang).search(question)
        assert found.evidence.enough == (passage is not None)
        assert passage is None or found.hits[0].chunk == passage


def test_where_no_table_is_the_words_of_many_passages_say_little() -> None:
    """Also when the book does not say its language; a small book has no such words yet."""
    russian = book("ru")
    assert russian.stopwords == {"в", "и", "на", "вода"}
    texts = [(chapter.title, chapter.text) for chapter in russian.manifest.chapters]
    assert index_of(texts, "").stopwords == index_of(texts, "ru").stopwords
    assert index_of(texts[:4], "ru").stopwords == locale("en").stopwords
    assert index_of(texts, "de").stopwords == locale("de").stopwords


@pytest.mark.parametrize(
    ("question", "enough"),
    [
        ("Когда построили мост?", True),
        ("Откуда в долине вода?", True),
        ("вода", True),
        ("Кто и когда написал оперу?", False),
        ("Что не в порядке с интернетом и в чём причина?", False),
    ],
)
def test_a_russian_book_answers_and_refuses(question: str, enough: bool) -> None:
    assert book("ru").search(question).evidence.enough == enough


def test_a_region_however_it_is_written_makes_no_other_language() -> None:
    texts = [("El viento", "El viento del oeste sopla en invierno."), ("El río", "El río crece en abril.")]
    found = [index_of(texts, lang).search("¿Cuándo crece el río en el valle?") for lang in ("es", "es-MX", "ES_mx")]
    assert found[0].evidence.enough
    assert found[0] == found[1] == found[2]


def test_small_words_of_another_language_find_nothing() -> None:
    """`a`, `come` and `in` are words of an Italian book, too, and say nothing there in an English question."""
    texts = [("Vento", "Il vento soffia come in inverno a valle."), ("Neve", "La neve cade in abril a monte.")]
    found = index_of(texts, "it").search("Does a wind come in, and is there a storm today?")
    assert not found.hits
