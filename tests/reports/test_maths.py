import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ask_book.reports.maths import is_harmless


@pytest.mark.parametrize(
    "formula",
    [
        "E = mc^2", r"\sum_{i=1}^n \frac{x_i}{\sqrt{2\pi}}", r"\begin{cases} a & x>0 \\ b & x \le 0\end{cases}",
        r"\left( \frac{a}{b} \right]", r"\begin{array}{lr} 1 & 2 \end{array}", r"\operatorname*{arg\,max}_x f(x)",
        r"\text{si } x = 3\%", r"\int_0^\infty e^{-x^2}\,dx", r"\mathbb{R} \to \mathbb{C}", "α ≤ β", "a\nb", r"\{x\}",
    ],
)  # fmt: skip
def test_what_draws_something_passes(formula: str) -> None:
    assert is_harmless(formula)


@pytest.mark.parametrize(
    "formula",
    [
        r"\input{x}", r"\text{\input{x}}", r"\directlua{x}", r"\write18{x}", r"\def\x{\x}\x",
        r"\csname input\endcsname", "^^5cinput{x}", r"\catcode`\@=0", r"\special{x}", r"\openout1=x",
        r"\font\x=y", r"\loop", r"\begin{filecontents}", r"\begin{document}", r"\begin{cases} x",
        r"\end{cases}", r"\begin{cases}\end{matrix}", r"\begin {cases}", r"\begin%", r"\includegraphics{x}",
        r"\usepackage{x}", r"\newcommand{\x}{}", r"\href{x}{y}",
        r"\begin{matrix*}[\input{x}]\end{matrix*}\input{x}", r"\hbox{x}", r"\afterassignment", r"\left(",
        r"\right)", "{", "}", "a}{b", "x % y", "x # y", "x $ y", "a & b", "", "  ", "\\", "x\\", "a\n\nb",
        "\\inp\u0000ut", "x" * 2001,
    ],
)  # fmt: skip
def test_everything_else_does_not(formula: str) -> None:
    assert not is_harmless(formula)


def test_a_new_line_is_no_beginning_of_a_command() -> None:
    """Two backslashes end a row; the word behind them is a word."""
    assert is_harmless(r"\begin{matrix} a \\input \end{matrix}")


@given(st.text(alphabet="\\{}^_$%#&~ abinputwriteleftfrac18^\n", max_size=40))
def test_no_command_that_is_not_known_passes(formula: str) -> None:
    if is_harmless(formula):
        commands = set(re.findall(r"(?<!\\)(?:\\\\)*\\([a-zA-Z]+)", formula))
        assert commands <= {
            "left",
            "right",
            "frac",
            "in",
            "ni",
            "pi",
            "le",
            "ne",
            "epsilon",
            "iint",
            "int",
            "lt",
            "beta",
        }
        assert "^^" not in formula
        assert formula.count("{") - formula.count("\\{") == formula.count("}") - formula.count("\\}")
