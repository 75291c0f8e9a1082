import json
import os
import re
import socket
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import ask_book.reports.pdf
from ask_book.reports.document import Document, joined
from ask_book.reports.page import Page, saved_page
from ask_book.reports.pdf import Made, Style, Tools, find_tools, make_pdf, style_of
from ask_book.reports.process import Runner
from ask_book.reports.typeset import Glyphs, pandoc_tree
from reports.attacks import payloads
from reports.samples import DRY, SITE, citation, of_the_book, saying
from reports.tex import ENGINES, as_tinytex, environment, fonts_of, jumps_of, links_of, program, read, text_of

pytestmark = [pytest.mark.tex, pytest.mark.skipif(sys.platform == "win32", reason="lays out a TinyTeX with links")]

CANARY = "kanarienvogel"
BROKEN = "exit 43"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An account with a TinyTeX."""
    folder = tmp_path_factory.mktemp("home")
    as_tinytex(folder)
    return folder


@pytest.fixture(scope="module")
def tools(home: Path) -> Tools:
    return find_tools(environment(home) | {"ASK_BOOK_API_KEY": "sk-secret", "OPENAI_API_KEY": "sk-secret"})


def page_of(document: Document) -> Page:
    return saved_page(document)


def made_of(document: Document, tools: Tools, style: Style | None = None, **only: Any) -> bytes:
    made = make_pdf(page_of(document), replace(tools, **only), style or Style())
    assert made.pdf, made.log
    return made.pdf


def only(tools: Tools, engine: str) -> dict[str, Any]:
    return {"engines": {engine: tools.engines[engine]}}


def test_tinytex_is_found_and_its_programs_come_first(tools: Tools, home: Path) -> None:
    assert list(tools.engines) == ENGINES
    assert all(found.startswith(str(home / ".TinyTeX")) for found in tools.engines.values())
    assert tools.env["PATH"].split(os.pathsep)[0] == str(home / ".TinyTeX/bin/x86_64-linux")
    assert str(home / ".TinyTeX") not in os.environ["PATH"]
    assert "secret" not in json.dumps(dict(tools.env))


def test_a_report_on_paper(tools: Tools) -> None:
    pdf = made_of(of_the_book(), tools)
    text, reader = text_of(pdf), read(pdf)
    assert DRY in text
    assert "[1] “La estación seca va de junio a septiembre.” — El clima › La lluvia" in text
    assert "1 de 1 citas están en el libro palabra por palabra" in text
    assert jumps_of(pdf) == ["note-1"]
    assert "note-1" in reader.named_destinations
    assert all(fonts_of(pdf).values())
    assert reader.metadata is not None
    assert (reader.metadata.title, reader.metadata.subject) == (DRY, "Guía del valle de Aré")
    width, height = (float(side) for side in reader.pages[0].mediabox[2:])
    assert (round(width), round(height)) == (595, 842)
    assert str(reader.root_object["/Lang"]) == "es"


def test_links_lead_to_the_site_of_the_book(tools: Tools) -> None:
    pdf = made_of(saying("Sí [1](#ask-book-1)."), tools, Style(paper="letter"))
    assert links_of(pdf) == [f"{SITE}/", f"{SITE}/clima.html#sec-lluvia", f"{SITE}/c1.html#s"]
    assert round(float(read(pdf).pages[0].mediabox[2])) == 612


SCRIPTS = r"""
# Título: ñ ü é “comillas” ‘simples’ — guion… «angulares»

Griego: Η γρήγορη αλεπού. Cirílico: Съешь же ещё этих мягких булок. Vietnamita: Tiếng Việt.

Árabe: القطة السوداء تجلس. Hebreo: שלום עולם. Chino: 知之為知之，不知為不知。 Japonés: これは文です。 Coreano: 한국어.

Suelto: ∑ ≤ ∞ ∈ ℝ α→β. Emoji: 😀 👨‍👩‍👧 🚀. Nadie lo tiene: 𓀀.

Fórmulas: $E = mc^2$, $\sum_{i=1}^n \frac{x_i}{\sqrt{2\pi}}$ y

$$\begin{cases} a & x>0 \\ b & x \le 0\end{cases}$$

```
if uno:
    return "dos"  # 中文 \end{verbatim}
```

| A | B |
|:--|--:|
| uno | $x^2$ |
| una celda muy larga que tiene muchas palabras para que la tabla sea más ancha que la página | dos |

https://example.org/una/direccion/muy/larga/que/no/cabe/en/una/linea/porque/tiene/muchos/segmentos?y=parametros#ancla

1. uno
   - dos

#$%&_{}~^\ [1](#ask-book-1)
"""


def test_every_script(tools: Tools) -> None:
    """What is drawn is there to be read; what no font has is named."""
    made = make_pdf(page_of(saying(SCRIPTS, question="¿Qué dice 中文 & \\x{} $5?")), tools)
    assert made.pdf
    text = text_of(made.pdf)
    for words in ("ñ ü é “comillas” ‘simples’ — guion… «angulares»", "#$%&_{}~^\\ [1]", "Tiếng Việt"):
        assert words in text
    no_space = re.sub(r"\s", "", text)
    address = re.search(r"https://\S+", SCRIPTS)
    assert address
    for words in ('ifuno:return"dos"', "\\end{verbatim}", address[0], "másanchaquelapágina"):
        assert words in no_space
    shown = {
        "Η γρήγορη αλεπού": "U+03", "Съешь же ещё": "U+04", "知之為知之": "U+77E5", "これは文です": "U+3053",
        "한국어": "U+D5", "∑ ≤ ∞ ∈ ℝ α→β": "U+22", "😀": "U+1F600", "🚀": "U+1F680", "𓀀": "U+13000", "שלום": "U+05",
    }  # fmt: skip
    for words, number in shown.items():
        assert re.sub(r"\s", "", words) in no_space or number in no_space, words
    assert all(fonts_of(made.pdf).values())
    assert read(made.pdf).metadata.title == "¿Qué dice 中文 & \\x{} $5?"  # type: ignore[union-attr]
    assert ("U+13000 egyptian hieroglyph a001" in made.lost) == ("[U+13000]" in no_space)
    assert all(one.split(" ")[0] in no_space for one in made.lost.split(", ") if one)


def test_five_thousand_words(tools: Tools) -> None:
    words = [f"palabra{n}" for n in range(5000)]
    paragraphs = [" ".join(words[at : at + 90]) + " [1](#ask-book-1)." for at in range(0, 5000, 90)]
    pdf = made_of(saying("\n\n".join(paragraphs)), tools)
    text = re.sub(r"-?\s+", "", " ".join(page.extract_text() for page in read(pdf).pages))
    assert len(read(pdf).pages) > 8
    assert [word for word in words if word not in text] == []


def test_a_conversation(tools: Tools) -> None:
    whole = joined([of_the_book(), saying("Luego [1](#ask-book-1).", question="¿Y luego?")])
    pdf = made_of(whole, tools)
    assert jumps_of(pdf) == ["note-1-1", "note-2-1"]
    assert [str(item["/Title"]) for item in read(pdf).outline[1] if isinstance(item, dict)] == [DRY, "¿Y luego?"]


def test_the_main_font_of_the_book(tools: Tools) -> None:
    if not any(font.family == "Latin Modern Sans" for font in tools.fonts):
        pytest.skip("Latin Modern is not among the fonts of fontconfig")
    assert any("LMSans" in name for name in fonts_of(made_of(of_the_book(), tools, Style(font="Latin Modern Sans"))))


def test_a_main_font_that_is_not_installed(home: Path, tmp_path: Path) -> None:
    """Where it can be known, no attempt is spent on it."""
    tools = with_programs(home, tmp_path, **dict.fromkeys(ENGINES, "exit 1"))
    made = make_pdf(page_of(of_the_book()), replace(tools, pandocs=tools.pandocs[:1]), Style(font="No Such Font"))
    assert "mainfont" not in made.log
    made = make_pdf(
        page_of(of_the_book()), replace(tools, pandocs=tools.pandocs[:1], fonts=()), Style(font="No Such Font")
    )
    assert ["mainfont" in attempt.command for attempt in made.attempts[:2]] == [True, False]


def test_a_formula_that_is_wrong_does_not_cost_the_document(tools: Tools) -> None:
    made = make_pdf(page_of(saying("Mal: $x^2^3$.")), tools)
    assert made.pdf
    assert "Mal: x^2^3." in text_of(made.pdf)
    assert [attempt.ended for attempt in made.attempts] == ["Exit code 43.", "Exit code 0."]


@pytest.fixture(scope="module")
def canary(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[dict[str, str], Path, list[bytes]]]:
    """The attacks on a file, a command and a server; the file that a command would make; what the server was asked."""
    folder = tmp_path_factory.mktemp("canary")
    (folder / "file.tex").write_text(CANARY, encoding="utf-8")
    asked: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

        def listen() -> None:
            while True:
                connection, _ = listener.accept()
                with connection:
                    asked.append(connection.recv(1000))
                    if asked[-1] == b"end":
                        return

        thread = threading.Thread(target=listen)
        thread.start()
        yield payloads(str(folder / "file.tex"), str(folder / "out"), f"http://127.0.0.1:{port}"), folder / "out", asked
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(b"end")
        thread.join()


def survives(made: Made, out: Path, asked: list[bytes]) -> str:
    assert made.pdf, made.log
    text = text_of(made.pdf)
    assert CANARY not in text
    assert CANARY.encode() not in made.pdf
    assert not out.exists()
    assert asked == []
    assert all(link.startswith(f"{SITE}/") for link in links_of(made.pdf))
    return text


@pytest.mark.parametrize("engine", ENGINES)
def test_attacks(tools: Tools, canary: tuple[dict[str, str], Path, list[bytes]], engine: str) -> None:
    """All at once, in every field; each by itself: `pytest -m bench tests/bench/test_attacks.py`."""
    attacks, out, asked = canary
    notes = tuple(
        citation(n, quote=attack, chapter_title=attack, heading_path=(attack,))
        for n, attack in enumerate(attacks.values())
    )
    document = saying("\n\n".join(attacks.values()), question=" ".join(list(attacks.values())[:9]), citations=notes)
    document = replace(
        document, book=replace(document.book, title=attacks["input"], authors=tuple(attacks.values())[:3])
    )
    survives(make_pdf(page_of(document), replace(tools, **only(tools, engine))), out, asked)


@pytest.mark.parametrize("attack", ["input", "write18", "openout", "special", "macro loop"])
def test_the_walls_behind(
    tools: Tools, canary: tuple[dict[str, str], Path, list[bytes]], attack: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Were raw TeX to get through, it could still read and write nothing, run nothing, and not run for ever."""
    attacks, out, _ = canary

    def with_raw(page: Page, glyphs: Glyphs) -> dict[str, Any]:
        tree = pandoc_tree(page, glyphs)
        tree["blocks"].append({"t": "RawBlock", "c": ["latex", attacks[attack]]})
        return tree

    monkeypatch.setattr(ask_book.reports.pdf, "pandoc_tree", with_raw)
    monkeypatch.setitem(ask_book.reports.pdf.SECONDS, "xelatex", 8.0)
    made = make_pdf(page_of(of_the_book()), replace(tools, **only(tools, "xelatex"), pandocs=tools.pandocs[:1]))
    assert not out.exists()
    if made.pdf:
        assert CANARY not in text_of(made.pdf)
        assert CANARY.encode() not in made.pdf


def with_programs(home: Path, tmp_path: Path, **scripts: str) -> Tools:
    """The tools of the account, some of them replaced by scripts."""
    for name, script in scripts.items():
        program(tmp_path / "bin" / name, script)
    tools = find_tools(environment(home))
    engines = {
        name: str(tmp_path / "bin" / name) if name in scripts else found for name, found in tools.engines.items()
    }
    return replace(tools, engines=engines, env={**tools.env, "PATH": f"{tmp_path / 'bin'}:{tools.env['PATH']}"})


def test_a_broken_engine_leads_to_the_next(home: Path, tmp_path: Path) -> None:
    tools = with_programs(home, tmp_path, xelatex="echo '! LaTeX Error: File `unicode-math.sty not found.'; exit 1",
                          lualatex=BROKEN)  # fmt: skip
    made = make_pdf(page_of(of_the_book()), tools)
    assert made.pdf
    assert made.by.endswith("pdflatex")
    assert "unicode-math.sty" in made.attempts[0].said
    assert "La estación seca va de junio" in text_of(made.pdf)


def test_without_xelatex_what_pdflatex_cannot_draw_is_named(tools: Tools) -> None:
    made = make_pdf(page_of(saying("Griego α y chino 中, ñ.")), replace(tools, **only(tools, "pdflatex")))
    assert made.pdf
    assert "Griego [U+03B1] y chino [U+4E2D], ñ." in text_of(made.pdf)
    assert made.lost == "U+03B1 greek small letter alpha, U+4E2D cjk unified ideograph-4e2d"


def test_a_broken_pandoc_leads_to_the_next(home: Path, tmp_path: Path) -> None:
    pandoc = program(tmp_path / "pandoc/pandoc", f'[ "$1" = --version ] && echo "pandoc 3.6" || {BROKEN}').parent
    tools = find_tools(environment(home, pandoc))
    assert [found.origin for found in tools.pandocs] == ["the system's pandoc", "pypandoc-binary"]
    made = make_pdf(page_of(of_the_book()), replace(tools, **only(tools, "xelatex")))
    assert made.by.startswith("pypandoc-binary")
    assert [attempt.ended for attempt in made.attempts] == ["Exit code 43.", "Exit code 0."]


def test_when_all_fail_the_log_says_all(home: Path, tmp_path: Path) -> None:
    tools = with_programs(home, tmp_path, **dict.fromkeys(ENGINES, "echo '! Emergency stop.'; exit 1"))
    made = make_pdf(page_of(saying("Sin fórmulas.")), tools)
    assert made.pdf is None
    assert len(made.attempts) == len(ENGINES) * len(tools.pandocs)
    for attempt, engine in zip(made.attempts, ENGINES, strict=False):
        assert f"--pdf-engine={tmp_path / 'bin' / engine}" in attempt.command
        assert "geometry=margin=2.2cm" in attempt.command
    assert made.log.count("Exit code 43.") == len(made.attempts)
    assert str(tmp_path) not in made.attempts[0].said


def test_without_tools_there_is_nothing_to_try(tmp_path: Path) -> None:
    tools = find_tools(environment(tmp_path))
    assert not tools.are_complete
    made = make_pdf(page_of(of_the_book()), tools)
    assert (made.pdf, made.attempts) == (None, ())
    assert "nothing to try" in made.log


def test_an_engine_that_hangs_is_killed_with_its_children(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ask_book.reports.pdf.SECONDS, "xelatex", 1.5)
    pulse = tmp_path / "pulse"
    script = f"while :; do echo x >> '{pulse}'; sleep 0.05; done & sleep 60"
    tools = with_programs(home, tmp_path, xelatex=script)
    made = make_pdf(page_of(of_the_book()), replace(tools, **only(tools, "xelatex"), pandocs=tools.pandocs[:1]))
    assert [attempt.ended for attempt in made.attempts] == ["Killed: its time was over."]
    size = pulse.stat().st_size
    threading.Event().wait(0.3)
    assert pulse.stat().st_size == size


def test_no_secret_reaches_an_engine_and_nothing_is_left(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASK_BOOK_API_KEY", "sk-secret")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    told = tmp_path / "told"
    tools = with_programs(home, tmp_path, xelatex=f"{{ env; pwd; ls; }} > '{told}'; exit 1")
    make_pdf(page_of(of_the_book()), replace(tools, **only(tools, "xelatex"), pandocs=tools.pandocs[:1]))
    said = told.read_text(encoding="utf-8")
    assert "sk-secret" not in said
    assert "openin_any=p" in said
    assert "openout_any=p" in said
    assert re.search(rf"^TMPDIR={tmp_path}/ask-book-pdf-", said, re.MULTILINE)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bin", "told"]


def test_a_closed_runner_makes_nothing(tools: Tools) -> None:
    runner = Runner()
    runner.close()
    assert make_pdf(page_of(of_the_book()), tools, Style(), runner).pdf is None


def test_what_a_book_says_of_its_looks() -> None:
    assert style_of("a5paper", "Libertinus Serif") == Style("a5", "Libertinus Serif")
    assert style_of("Letter", "") == Style("letter", "")
    assert style_of("a4}\\input{x", "x}\\input{y") == Style()
