import os
import shutil
from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser

from ask_book.book.pandoc import Pandoc, find_pandoc
from ask_book.reports.html import html
from ask_book.reports.mathml import draw, with_drawn
from ask_book.reports.page import Page, saved_page
from reports.attacks import payloads
from reports.samples import citation, saying
from reports.tex import program


def page_of(text: str) -> Page:
    return saved_page(saying(text, citations=(citation(quote="Con \\(y^2\\)."),)))


@pytest.fixture(scope="module")
def pandoc() -> Pandoc:
    return find_pandoc(os.environ)


def test_formulas_are_drawn(pandoc: Pandoc) -> None:
    page = page_of("Es $x<1$ y\n\n$$\\frac{a}{b}$$\n\n$\\nosuch$")
    drawn = draw(page, pandoc, os.environ)
    assert set(drawn) == {("math", "x<1"), ("math", "y^2"), ("display", "\\frac{a}{b}")}
    tree = LexborHTMLParser(html(with_drawn(page, drawn)))
    assert [node.attributes["display"] for node in tree.css("math")] == ["inline", "block", "inline"]
    assert [node.text() for node in tree.css("code.math")] == ["\\nosuch"]
    assert len(tree.css("math mfrac")) == 1


def test_attacks_are_not(pandoc: Pandoc) -> None:
    attacks = payloads("/f", "/o", "https://evil.example")
    more = (r"$\text{<script>alert(1)</script>}$", r'$\text{" onload="x}$', r"$\operatorname{<img src=x>}$")
    page = page_of("\n\n".join((*attacks.values(), *more)))
    tree = LexborHTMLParser(html(with_drawn(page, draw(page, pandoc, os.environ))))
    assert tree.css("script, img, iframe, link, a[href^=javascript]") == []
    assert not [name for node in tree.css("*") for name in node.attributes if name.startswith("on")]


@pytest.mark.skipif(shutil.which("sh") is None, reason="the program is a shell script")
@pytest.mark.parametrize(
    "said",
    [
        "<math display=x onload=y></math>", '<math display="block"><script>x</script></math>', "nothing",
        '<math display="inline"><a href="javascript:x">x</a></math>',
        '<math xmlns="x"><mi style="a:url(b)">x</mi></math>',
    ],
)  # fmt: skip
def test_only_what_draws_is_taken(tmp_path: Path, said: str) -> None:
    made = program(tmp_path / "pandoc", f"cat <<'END'\n<div id=\"formula-0\">\n{said}\n</div>\nEND")
    assert draw(page_of("$x$"), Pandoc((str(made),), "3.6", "fake"), os.environ) == {}


def test_without_formulas_nothing_is_run() -> None:
    page = saved_page(saying("Sin fórmulas."))
    assert draw(page, Pandoc(("/not/there",), "3.6", "none"), {}) == {}
