from pathlib import Path

import pytest

from ask_book.reports.font import Font, is_font_name
from ask_book.reports.fonts import choose_fonts, installed_fonts

SANS = Font("Some Sans", ((0x370, 0x52F), (0x600, 0x6FF), (0x2200, 0x22FF)))
EAST = tuple(Font(f"Noto Serif CJK {region}", ((0x370, 0x52F), (0x3000, 0x9FFF))) for region in ("JP", "SC", "TC"))
MONO = Font("Some Mono", ((0x20, 0xFFFF),))
ALL = (SANS, *EAST, MONO)


@pytest.mark.parametrize(
    ("chars", "lang", "families"),
    [
        ("中文", "es", ["Noto Serif CJK SC"]), ("中文", "zh-TW", ["Noto Serif CJK TC"]),
        ("中文", "ja", ["Noto Serif CJK JP"]),
        ("日本ご", "es", ["Noto Serif CJK JP"]), ("αβ", "es", ["Some Sans"]),
        ("α中", "zh", ["Noto Serif CJK SC", "Some Sans"]),
        ("→", "es", ["Some Mono"]), ("", "es", []),
    ],
)  # fmt: skip
def test_a_font_for_each_script(chars: str, lang: str, families: list[str]) -> None:
    chosen, rest = choose_fonts(frozenset(chars), ALL, lang)
    assert [family for family, _ in chosen] == families
    assert rest == frozenset()


def test_what_no_font_has_is_left() -> None:
    chosen, rest = choose_fonts(frozenset("α😀"), ALL, "es")
    assert chosen == (("Some Sans", frozenset("α")),)
    assert rest == frozenset("😀")
    assert choose_fonts(frozenset("α"), (), "es") == ((), frozenset("α"))


def test_no_character_is_given_twice() -> None:
    chosen, _ = choose_fonts(frozenset("αβ中文→"), ALL, "es")
    assert sum(len(share) for _, share in chosen) == 5


@pytest.mark.parametrize("name", ["Libertinus Serif", "Noto Sans CJK SC", "TeX Gyre Termes-Math", "Arial"])
def test_names_of_fonts(name: str) -> None:
    assert is_font_name(name)


@pytest.mark.parametrize("name", ["", "x}\\input{y", "[/etc/passwd]", "a:b", "/etc/x", "{a}", "x" * 80, "a\nb", "-x"])
def test_what_is_no_name_of_a_font(name: str) -> None:
    assert not is_font_name(name)


def test_the_fonts_that_fontconfig_lists(tmp_path: Path) -> None:
    program = tmp_path / "fc-list"
    rows = r"A Serif\tFalse\t0\t80\t20-7e 3b1\nA Serif\tFalse\t100\t80\t20-7e\nBold\tFalse\t0\t200\t20-7e\n"
    rows += r"Emoji\tTrue\t0\t80\t1f600-1f64f\n[odd]\tFalse\t0\t80\t20\nVar\tFalse\t0\t[0 210]\t41\nbroken\n"
    program.write_text(f"#!/bin/sh\nprintf '{rows}'\n", encoding="utf-8")
    program.chmod(0o755)
    assert installed_fonts({"PATH": f"{tmp_path}:/bin:/usr/bin"}) == (
        Font("A Serif", ((0x20, 0x7E), (0x3B1, 0x3B1))),
        Font("Var", ((0x41, 0x41),)),
    )


@pytest.mark.parametrize("script", ["exit 1", "kill -9 $$", "printf '\\377\\t\\t'"])
def test_a_fontconfig_that_does_not_work(tmp_path: Path, script: str) -> None:
    program = tmp_path / "fc-list"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o755)
    assert installed_fonts({"PATH": f"{tmp_path}:/bin"}) == ()
    assert installed_fonts({"PATH": ""}) == ()
