import re
from typing import Any

import pytest

from ask_book.reports.document import Document, joined
from ask_book.reports.markdown import markdown
from ask_book.reports.page import saved_page
from ask_book.reports.tree import parse
from reports.attacks import payloads
from reports.samples import DRY, SITE, citation, saying


def written(document: Document) -> str:
    return markdown(saved_page(document))


def test_notes_are_footnotes() -> None:
    text = written(saying("Sí [1](#ask-book-1), y [7](#ask-book-7)."))
    assert text.startswith(f"# {DRY}\n\n*Guía del valle de Aré* · Equipo ask-book · Preguntado el")
    assert "Sí [^1], y [7]." in text
    note = (
        f"[^1]: “La estación seca va de junio a septiembre.” — [El clima › La lluvia](<{SITE}/clima.html#sec-lluvia>)"
    )
    assert note in text.split("\n")
    assert f"- [Capítulo 1 › Sección](<{SITE}/c1.html#s>)" in text


def test_without_an_address_a_note_is_text() -> None:
    text = written(saying("Sí [1](#ask-book-1).", site_url=""))
    assert "” — El clima › La lluvia\n" in text
    assert "](" not in text


def test_a_conversation_numbers_its_notes_apart() -> None:
    text = written(joined([saying("A [1](#ask-book-1)."), saying("B [1](#ask-book-1).", question="¿Y luego?")]))
    assert "A [^1-1]." in text
    assert "B [^2-1]." in text
    assert len(re.findall(r"^\[\^[12]-1\]: ", text, re.MULTILINE)) == 2


@pytest.mark.parametrize(
    "answer",
    [
        "*a* **b** ~~c~~ `d` ``e ` f`` $x^2$", "> q\n>\n> r", "- a\n  - b\n\n    c\n- d", "3. a\n4. b",
        "```\nx ```` y\n```", "| a | b |\n|:---|---:|\n| $z$ | c |", "a\\\nb", "\\*not\\* \\<b\\> 1\\. \\# x",
        "$$\nx\n$$",
        "# T\n\ntext",
    ],
)  # fmt: skip
def test_what_is_written_means_the_same(answer: str) -> None:
    body = written(saying(answer)).split("\n\n", 2)[2].split("\n\n## ")[0]
    again = parse(body.replace("## ", "# "))
    assert again == parse(answer)


@pytest.mark.parametrize("attack", payloads("/f", "/o", "https://evil.example").values())
def test_attacks_are_text(attack: str) -> None:
    """Read again by a parser that knows HTML, links and images, nothing of an attack is any of these."""
    note = citation(quote=attack, chapter_title=attack, heading_path=(attack,))
    kinds: set[str] = set()

    def walk(tokens: Any) -> None:
        for token in tokens:
            kinds.add(token["type"])
            if token["type"] == "link":
                assert token["attrs"]["url"].startswith(f"{SITE}/")
            walk(token.get("children", []))

    import mistune

    walk(mistune.create_markdown(renderer=None)(written(saying(attack, question=attack, citations=(note,)))))
    assert not kinds & {"image", "inline_html", "block_html"}
