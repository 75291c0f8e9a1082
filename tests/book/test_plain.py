"""What the plain rendition makes of each construct. The expected values are those of Quarto 1.7 on the same text."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest

from ask_book.book.pandoc import find_pandoc
from ask_book.book.plain import make_plain, plain_manifest, plain_site
from ask_book.errors import AskBookError
from book.plain_book import PlainBook, listed, made, plain_book, project_at, write_book

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)

INDEX = """# Preface {.unnumbered}

See @sec-one, @fig-map and @sec-apx.

## Sub
"""

ONE = """# Chapter one {#sec-one}

Here: @sec-deep, @fig-map, [-@fig-map], [Fig. @fig-map], @fig-part-b, @tbl-x, @eq-e, @thm-p, @lst-c, @tip-x, @sec-two,
@sec-apx, @sec-sub, @fig-none.

![The *map*](img/a.png){#fig-map fig-alt="Two rivers"}

![Only a caption](img/a.png)

::: {#fig-both layout-ncol=2}

![Left](img/a.png){#fig-part-a}

![Right](img/a.png){#fig-part-b}

Both parts
:::

| a | b |
|---|---|
| 1 | 2 |

: In a table {#tbl-x .striped}

::: {#tbl-div}

| c |
|---|
| 3 |

Table in a div
:::

$$
a = b
$$ {#eq-e}

::: {#thm-p}
## Pythagoras *theorem*

Square it.
:::

::: {#thm-q}
No name.
:::

::: {#def-d}
### A name
Body.
:::

::: {#exr-1 name="Given"}
Do it.
:::

::: {.proof}
It is so.
:::

::: {.remark #rem-r}
Note it.
:::

```{#lst-c .python lst-cap="A listing"}
print(1)
```

## Two levels {#sec-deep}

### Three levels

#### Four levels

## Two levels

::: {.callout-note}
## Its title {#sec-gone}

Note body.
:::

::: {.callout-tip #tip-x collapse="true" title="Named"}
Tip body.
:::

::: {.callout-warning appearance="simple"}
Warned.
:::

::: {.callout-important}
### Two levels

Important body.
:::

::: {.callout-caution}
Careful.

## Not its title

More.
:::

## Two levels

::: {.panel-tabset}
## Tab A

In A.

### Inside a tab

## Tab B

In B.
:::

## Loose {.unnumbered}

### Under it

## After
"""

TWO = """---
title: "From *YAML*"
subtitle: And under it
abstract: In short.
---

# A heading of its own {#sec-two}

![Second](../img/a.png){#fig-two}

@fig-two and [back](../one.qmd#sec-deep), [the page](../one.qmd), [a file](../data/table.csv).
"""

APPENDIX = """# Extra {#sec-apx}

## More {#sec-sub}

![In the appendix](img/a.png){#fig-apx}

@fig-apx, @sec-sub
"""

CHAPTERS = """  subtitle: Under the title
  author: [Ann Author, Bob Binder]
  chapters:
    - index.qmd
    - part: First Part
      chapters: [one.qmd, sub/two.qmd]
    - part: part.qmd
      chapters: [three.qmd]
  appendices: [extra.qmd]
"""


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> PlainBook:
    folder = tmp_path_factory.mktemp("plain")
    files: dict[str, str | bytes] = {
        "index.qmd": INDEX,
        "one.qmd": ONE,
        "sub/two.qmd": TWO,
        "part.qmd": "# The second part {#sec-part}\n\nText of the part.\n\n## In the part\n",
        "three.qmd": "Before.\n\n# Three\n\n## Sub three\n\n# Again\n\n## Sub again\n",
        "extra.qmd": APPENDIX,
        "img/a.png": PIXEL,
        "data/table.csv": "a,b\n",
    }
    return made(write_book(folder, files, CHAPTERS))


def test_chapters_have_the_numbers_and_titles_of_quarto(book: PlainBook) -> None:
    assert [(chapter.href, chapter.number, chapter.title, chapter.part) for chapter in book.manifest.chapters] == [
        ("index.html", "", "A Book", ""),
        ("one.html", "1", "Chapter one", "First Part"),
        ("sub/two.html", "2", "From YAML", "First Part"),
        ("part.html", "", "The second part", "The second part"),
        ("three.html", "3", "Three", "The second part"),
        ("extra.html", "A", "Extra", ""),
    ]


def test_headings_consumed_by_callouts_and_tabs_still_count(book: PlainBook) -> None:
    assert re.findall(r'<section id="([^"]+)"', book.main("one.html")) == [
        "sec-deep",
        "three-levels",
        "four-levels",
        "two-levels",
        "not-its-title",
        "two-levels-2",
        "inside-a-tab",
        "loose",
        "under-it",
        "after",
    ]


def test_sections_are_numbered_through_the_chapter(book: PlainBook) -> None:
    numbers = dict(re.findall(r'<section id="([^"]+)"[^>]*data-number="([^"]+)"', book.main("one.html")))
    assert numbers == {
        "sec-deep": "1.1",
        "three-levels": "1.1.1",
        "four-levels": "1.1.1.1",
        "two-levels": "1.2",
        "not-its-title": "1.3",
        "two-levels-2": "1.4",
        "inside-a-tab": "1.4.1",
        "under-it": "1.4.2",
        "after": "1.5",
    }


def test_a_second_level_one_heading_takes_the_next_number(book: PlainBook) -> None:
    main = book.main("three.html")
    assert '<span class="chapter-number">3</span>' in main
    assert re.search(r'<section id="again" class="level1" data-number="4"', main)
    assert re.search(r'<section id="sub-again" class="level2" data-number="4.1"', main)
    assert book.words("three.html").startswith("3 Three Before. 3.1 Sub three 4 Again")


def test_the_home_page_has_the_title_of_the_book_and_keeps_its_heading(book: PlainBook) -> None:
    assert book.anchors("index.html")[-2:] == ["preface", "sub"]
    assert book.words("index.html").startswith("A Book Under the title Ann Author Bob Binder Preface")
    assert "0.1" not in book.words("index.html")


def test_a_title_in_the_front_matter_leaves_the_heading_a_section(book: PlainBook) -> None:
    assert book.anchors("sub/two.html")[-1] == "sec-two"
    words = book.words("sub/two.html")
    assert words.startswith("2 From YAML And under it Abstract In short. 3 A heading of its own Figure 3.1: Second")


def test_a_title_without_explicit_id_has_no_anchor(book: PlainBook) -> None:
    assert 'id="three"' not in book.main("three.html")
    assert '<span id="sec-one" class="quarto-section-identifier">' in book.main("one.html")


def test_references_over_the_whole_book(book: PlainBook) -> None:
    assert (
        "Here: Section 1.1 , Figure 1.1 , 1.1 , Fig. 1.1 , Figure 1.2 (b) , Table 1.1 , Equation 1.1 , "
        "Theorem 1.1 , Listing 1.1 , Tip 1.1 , Chapter 3 , Appendix A , Section A.1 , ?fig-none ."
    ) in book.words("one.html").replace("\u00a0", " ")
    assert "See Chapter 1 , Figure 1.1 and Appendix A ." in book.words("index.html").replace("\u00a0", " ")


def test_references_point_to_the_right_page_and_place(book: PlainBook) -> None:
    links = re.findall(r'<a href="([^"]*)" class="quarto-xref"', book.main("index.html"))
    assert links == ["one.html#sec-one", "one.html#fig-map", "extra.html#sec-apx"] or links == [
        "one.html",
        "one.html#fig-map",
        "extra.html",
    ]
    assert '<a href="#fig-two" class="quarto-xref">' in book.main("sub/two.html")


def test_links_to_chapters_and_files(book: PlainBook) -> None:
    main = book.main("sub/two.html")
    assert '<a href="../one.html#sec-deep">back</a>' in main
    assert '<a href="../one.html">the page</a>' in main
    assert '<a href="../data/table.csv">a file</a>' in main
    assert (plain_site(book.project) / "data/table.csv").read_text() == "a,b\n"
    assert (plain_site(book.project) / "img/a.png").read_bytes() == PIXEL


@pytest.mark.skipif(os.name == "nt", reason="no file has such a name there")
def test_pages_of_any_name_are_linked(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "capítulo uno.qmd": "# Uno\n\nVer @sec-dos y [esto](C%23%20100%25.qmd).\n",
        "C# 100%.qmd": "# Dos {#sec-dos}\n\nLa presa de Olvera.\n",
        "a: b?.qmd": "# Tres\n",
    }
    chapters = '  chapters: [index.qmd, "capítulo uno.qmd", "C# 100%.qmd", "a: b?.qmd"]\n'
    book = made(write_book(tmp_path, {"index.qmd": "# Hola\n", **files}, chapters))
    page = book.page("capítulo uno.html")
    links = [unquote(url) for url in re.findall(r'href="([^"#]*\.html)(?:#[^"]*)?"', page)]
    assert set(links) == {"index.html", "capítulo uno.html", "C# 100%.html", "a: b?.html"}
    assert len(links) == 8, "the list of chapters, two links, previous and next"
    assert not re.search(r'href="[^"]*(?:C#|b\?)', page)


def test_figures(book: PlainBook) -> None:
    main = book.main("one.html")
    assert re.search(r'<div id="fig-map" class="quarto-float[^>]*>\s*<figure.*?alt="Two rivers"', main, re.DOTALL)
    words = book.words("one.html").replace("\u00a0", " ")
    assert "Figure 1.1: The map" in words
    assert "Only a caption (a) Left (b) Right Figure 1.2: Both parts" in words
    assert book.manifest.labels["fig-map"].href == "one.html#fig-map"
    assert book.manifest.labels["fig-map"].text.replace("\u00a0", " ") == "Figure 1.1"


def test_tables(book: PlainBook) -> None:
    words = book.words("one.html").replace("\u00a0", " ")
    assert "Table 1.1: In a table a b 1 2 Table 1.2: Table in a div c 3" in words
    assert "{#tbl-x" not in words


def test_equations(book: PlainBook) -> None:
    main = book.main("one.html")
    assert re.search(r'<span id="eq-e"><span class="math display"><math display="block".*?<mi>a</mi>', main)
    assert '<span class="equation-number">(1.1)</span>' in main
    (formula,) = [block for block in book.chapter("one.html").blocks if block.kind == "math"]
    assert formula.text == r"\[ a = b \tag{1.1}\]"


def test_a_formula_in_a_title_and_one_without_dollars(tmp_path: Path) -> None:
    book = plain_book(
        tmp_path,
        {
            "m.qmd": "# The $x^2$ rule\n\nText $a < b$ and $\\unknown{x}$.\n\n## Of $y$\n\nEnd.\n",
            "tex.qmd": "# TeX\n\n\\begin{align*}\nx &= 1 \\\\\n&= y\n\\end{align*}\n\n\\newpage\n\nEnd.\n",
        },
    )
    assert book.chapter("m.html").title == r"The \(x^2\) rule"
    assert r"<title>1  The \(x^2\) rule – A Book</title>" in book.page("m.html").replace("\u00a0", " ")
    assert book.chapter("m.html").blocks[-1].text == "End."
    assert r"Text \(a < b\) and \(\unknown{x}\)." in book.chapter("m.html").text
    assert book.page("m.html").count('<span class="math inline"><math') == 5
    assert [(block.kind, block.text) for block in book.chapter("tex.html").blocks[1:]] == [
        ("math", r"\[\begin{align*} x &= 1 \\ &= y \end{align*}\]"),
        ("para", "End."),
    ]


def test_theorems_take_their_name_from_the_first_heading(book: PlainBook) -> None:
    words = book.words("one.html").replace("\u00a0", " ")
    for expected in (
        "Theorem 1.1 (Pythagoras theorem ) Square it.",
        "Theorem 1.2 No name.",
        "Definition 1.1 (A name) Body.",
        "Exercise 1.1 (Given) Do it.",
        "Proof . It is so.",
        "Remark 1.1 . Note it.",
    ):
        assert expected in words
    assert '<div id="thm-p" class="theorem">' in book.main("one.html")
    assert '<div id="def-d" class="theorem definition">' in book.main("one.html")


def test_callouts(book: PlainBook) -> None:
    words = book.words("one.html").replace("\u00a0", " ")
    assert "Its title Note body. Tip 1.1: Named Tip body. Warned. Two levels Important body. Caution Careful." in words
    assert 'id="sec-gone"' not in book.main("one.html")


def test_tabs(book: PlainBook) -> None:
    assert "Tab A Tab B In A. 1.4.1 Inside a tab In B." in book.words("one.html")
    assert len(re.findall(r'class="tab-pane', book.main("one.html"))) == 2


def test_appendices_have_letters(book: PlainBook) -> None:
    words = book.words("extra.html").replace("\u00a0", " ")
    assert words == "Appendix A — Extra A.1 More Figure A.1: In the appendix Figure A.1 , Section A.1"


def test_every_page_has_the_widget_and_its_settings(book: PlainBook) -> None:
    for chapter in book.manifest.chapters:
        page = book.page(chapter.href)
        root = "../" if "/" in chapter.href else ""
        match = re.search(r'<script type="application/json" id="ask-book-config">(.*?)</script>', page)
        assert match
        config = json.loads(match[1])
        assert config["href"] == chapter.href
        assert config["root"] == root
        about = {"id": book.manifest.book.id, "title": "A Book", "lang": "en"}
        assert config["book"] == {**about, "authors": list(book.manifest.book.authors)}
        assert config["shortcut"] == "i"
        assert f'src="{root}ask-book/widget/launcher.js"' in page
    assert (plain_site(book.project) / "ask-book/widget/launcher.js").is_file()
    assert (plain_site(book.project) / "ask-book/book.js").read_text().startswith("if (location.protocol")


def test_the_pages_ask_nobody_else(book: PlainBook) -> None:
    for chapter in book.manifest.chapters:
        assert re.findall(r'(?:src|href)="(?:https?:)?//[^"]*"', book.page(chapter.href)) == []


def test_previous_and_next(book: PlainBook) -> None:
    page = book.page("sub/two.html")
    assert re.search(r'<a class="prev" rel="prev" href="../one.html">', page)
    assert re.search(r'<a class="next" rel="next" href="../part.html">', page)


def test_chapter_titles_that_are_not_there(tmp_path: Path) -> None:
    files = {
        "none.qmd": "Only words.\n",
        "second.qmd": "Words.\n\n## At level two\n\nMore.\n",
        "code.qmd": "```bash\n# a comment\n```\n\n# The title\n",
        "setext.qmd": "Under a line\n============\n\nText.\n",
        "many.qmd": "# Example\n\n## Example\n\n## Example\n\n## 1.0.0\n\n## Título con ñ y *é*\n\nGlued\n## no\n",
    }
    book = plain_book(tmp_path, files)
    titles = {chapter.href: (chapter.number, chapter.title) for chapter in book.manifest.chapters}
    assert titles["none.html"] == ("1", "none")
    assert titles["second.html"] == ("2", "At level two")
    assert titles["code.html"] == ("3", "The title")
    assert titles["setext.html"] == ("4", "Under a line")
    # The title is out of the text before ids are counted.
    assert [anchor for anchor in book.anchors("many.html") if anchor] == [
        "example",
        "example-1",
        "section",
        "título-con-ñ-y-é",
    ]
    assert "Glued ## no" in book.words("many.html")


def test_conditional_content(tmp_path: Path) -> None:
    text = """# C

::: {.content-visible when-format="html"}
## Web

for the web
:::

::: {.content-visible when-format="pdf"}
## Print

for print
:::

::: {.content-hidden when-format="html"}
not on the web
:::

::: {.content-visible unless-format="pdf"}
unless print
:::

::: {.content-visible when-profile="advanced"}
advanced
:::

::: {.content-visible when-meta="flags.draft"}
draft
:::

::: {.content-hidden}
never
:::

[inline web]{.content-visible when-format="html"}[inline print]{.content-visible when-format="pdf"}
"""
    book = plain_book(tmp_path, {"c.qmd": text}, "lang: en\nflags:\n  draft: true")
    assert book.words("c.html") == "1 C 1.1 Web for the web unless print draft inline web"


def test_includes(tmp_path: Path) -> None:
    files = {
        "sub/one.qmd": "# One\n\n{{< include _part.md >}}\n\n## Own\n",
        "sub/two.qmd": "# Two\n\n{{< include _part.md >}}\n",
        "sub/_part.md": "---\ntitle: not this\n---\n## Shared\n\nShared words.\n\n{{< include /_deep.md >}}\n",
        "_deep.md": "Deep words.\n",
        "lost.qmd": "# Lost\n\n{{< include nowhere.md >}}\n\nAfter.\n",
        "loop.qmd": "# Loop\n\n{{< include _loop.md >}}\n",
        "_loop.md": "Round.\n\n{{< include _loop.md >}}\n",
        "out.qmd": "# Out\n\n{{< include ../../secret.md >}}\n\nSafe.\n",
    }
    (tmp_path / "secret.md").write_text("SECRET")
    book = plain_book(tmp_path, files)
    assert book.words("sub/one.html") == "1 One 1.1 Shared Shared words. Deep words. 1.2 Own"
    assert book.words("sub/two.html") == "2 Two 2.1 Shared Shared words. Deep words."
    assert book.words("lost.html") == "3 Lost After."
    assert book.words("loop.html").startswith("4 Loop Round. Round.")
    assert book.words("out.html") == "5 Out Safe."


def test_shortcodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASK_BOOK_TEST_WORD", "from outside")
    text = """---
own: "my *own*"
---

# S

{{< meta own >}}, {{< meta book.title >}}, {{< var release.name >}}, {{< env ASK_BOOK_TEST_WORD >}},
{{< env ASK_BOOK_NOT_SET fallback >}}, {{< kbd Ctrl-C >}}. {{< pagebreak >}}{{< fa star >}}{{< lipsum 3 >}}

{{< video https://example.org/v.mp4 title="A film" >}}

Shown: {{{< meta own >}}}

```
{{< meta own >}}
```
"""
    book = plain_book(tmp_path, {"s.qmd": text, "_variables.yml": "release:\n  name: 1.2\n"})
    assert book.words("s.html") == (
        "1 S my own , A Book, 1.2, from outside, fallback, Ctrl-C . A film Shown: {{< meta own >}} my own"
    )


def test_cells_that_were_not_run(tmp_path: Path) -> None:
    text = """# Cells

See @fig-plot and @tbl-data.

```{python}
#| label: fig-plot
#| fig-cap: "The *plot*"
import plots
```

```{python}
#| echo: false
hidden = 1
```

```{r setup, include=FALSE}
never = 1
```

```{python}
#| code-fold: true
#| code-summary: "Show it"
folded = 1
```

```{r}
#| label: tbl-data
#| tbl-cap: Its data
shown <- 1
```

```{block, type="summary"}
Prose **in** a cell.
```

````
## code
````
"""
    book = plain_book(tmp_path, {"cells.qmd": text})
    words = book.words("cells.html").replace("\u00a0", " ")
    assert words == (
        "1 Cells See Figure 1.1 and Table 1.1 . import plots Figure 1.1: The plot Show it folded = 1 "
        "Table 1.1: Its data shown <- 1 Prose in a cell. ## code"
    )
    assert '<div class="summary">' in book.main("cells.html")


def test_cells_of_a_chapter_without_engine_are_shown_as_written(tmp_path: Path) -> None:
    text = "---\nengine: markdown\n---\n\n# M\n\n```{r}\n#| echo: false\nx <- 1\n```\n"
    assert plain_book(tmp_path, {"m.qmd": text}).words("m.html") == "1 M #| echo: false x <- 1"


def test_a_book_hides_its_code_unless_a_cell_shows_it(tmp_path: Path) -> None:
    text = "---\nexecute: {warning: false}\n---\n\n# Q\n\n```{r}\nx <- 1\n```\n\n```{r}\n#| echo: true\ny <- 1\n```\n"
    assert plain_book(tmp_path, {"q.qmd": text}, "execute: {echo: false}").words("q.html") == "1 Q y <- 1"


def test_notebooks(tmp_path: Path) -> None:
    def cell(kind: str, source: str, **more: object) -> dict[str, object]:
        return {"cell_type": kind, "source": source.splitlines(keepends=True), "metadata": {}, **more}

    cells = [
        cell("markdown", "# A notebook {#sec-nb}\n\n## Same"),
        cell("markdown", "## Same"),
        cell("code", "1 + 1", outputs=[{"output_type": "execute_result", "data": {"text/plain": ["2"]}}]),
        cell("code", "#| echo: false\nprint(3)", outputs=[{"output_type": "stream", "text": ["3\n"]}]),
        {**cell("code", "secret", outputs=[]), "metadata": {"tags": ["remove-cell"]}},
        {**cell("code", "input", outputs=[]), "metadata": {"tags": ["remove_input"]}},
    ]
    notebook = json.dumps({"cells": cells, "metadata": {"kernelspec": {"language": "python"}}, "nbformat": 4})
    book = plain_book(tmp_path, {"nb.ipynb": notebook, "broken.ipynb": '{"cells": ['})
    assert book.words("nb.html") == "1 A notebook 1.1 Same 1.2 Same 1 + 1 2 3"
    assert [anchor for anchor in book.anchors("nb.html") if anchor][-2:] == ["same", "same-1"]
    assert book.words("broken.html") == "2 broken"


def test_citations(tmp_path: Path) -> None:
    bibliography = """@book{knuth, title={Programming}, author={Knuth, Donald}, year={1968}, publisher={AW}}
@book{other, title={Another}, author={Other, Olga and Prat, Pep}, year={2001}, publisher={AW}}
@book{unused, title={Unused}, author={Nobody}, year={1999}, publisher={AW}}
"""
    files = {
        "one.qmd": "# One\n\nAs in [@knuth, p. 3; @other] and @knuth, not [@missing].\n",
        "references.qmd": "# Literature {.unnumbered}\n\n::: {#refs}\n:::\n",
        "refs.bib": bibliography,
    }
    book = plain_book(tmp_path, files, "lang: es\nbibliography: refs.bib\ncsl: https://example.org/style.csl")
    words = book.words("one.html")
    assert "( Knuth 1968, 3 ; Other y Prat 2001 ) and Knuth ( 1968 )" in words
    assert "Programming" not in words
    assert 'href="references.html#ref-knuth"' in book.main("one.html")
    assert 'id="ref-knuth"' in book.main("references.html")
    # Quarto makes this list in English, whatever the language of the book
    assert "Other, Olga, and Pep Prat. 2001. Another" in book.words("references.html")
    assert "Unused" not in book.words("references.html")


def test_a_list_of_references_stays_in_the_chapter_when_no_page_is_for_it(tmp_path: Path) -> None:
    files = {
        "one.qmd": "# One\n\nAs [@knuth].\n",
        "refs.bib": "@book{knuth, title={Programming}, author={Knuth, D}, year={1968}}",
    }
    book = plain_book(tmp_path, files, "bibliography: refs.bib")
    assert "Programming" in book.words("one.html")
    assert 'href="#ref-knuth"' in book.main("one.html")


@pytest.mark.parametrize(
    ("lang", "words"),
    [
        ("es", "Figura 1.1: Mapa Teorema 1.1 Texto. Precaución Ojo. Figura 1.1 , Capítulo 1 , Sección 1.1 1.1 Aquí"),
        ("en", "Figure 1.1: Mapa Theorem 1.1 Texto. Caution Ojo. Figure 1.1 , Chapter 1 , Section 1.1 1.1 Aquí"),
        (
            "fr",
            "Figure 1.1: Mapa Théorème 1.1 Texto. Mise en garde Ojo. Figure 1.1 , Chapitre 1 , Section 1.1 1.1 Aquí",
        ),
        ("zh", "图 1.1: Mapa 定理 1.1 Texto. 注意 Ojo. 图 1.1 , 章节 1 , 小节 1.1 1.1 Aquí"),
        ("de", "Abbildung 1.1: Mapa Theorem 1.1 Texto. Vorsicht Ojo. Abbildung 1.1 , Kapitel 1 , Kapitel 1.1 1.1 Aquí"),
    ],
)
def test_the_words_of_the_language(tmp_path: Path, lang: str, words: str) -> None:
    text = (
        "# Uno {#sec-u}\n\n![Mapa](a.png){#fig-m}\n\n::: {#thm-t}\nTexto.\n:::\n\n::: {.callout-caution}\nOjo.\n:::\n\n"
        "@fig-m, @sec-u, @sec-a\n\n## Aquí {#sec-a}\n"
    )
    book = plain_book(tmp_path, {"uno.qmd": text, "a.png": PIXEL}, f"lang: {lang}")
    assert book.words("uno.html").replace("\u00a0", " ") == f"1 Uno {words}"


def test_the_author_may_choose_the_words(tmp_path: Path) -> None:
    settings = "lang: es\ncrossref:\n  fig-title: Lámina\n  fig-prefix: Lám.\nlanguage:\n  callout-note-title: Ojo"
    text = "# Uno\n\n![Mapa](a.png){#fig-m}\n\n@fig-m, @Fig-m\n\n::: {.callout-note}\nNota.\n:::\n"
    words = plain_book(tmp_path, {"uno.qmd": text, "a.png": PIXEL}, settings).words("uno.html").replace("\u00a0", " ")
    assert words == "1 Uno Lámina 1.1: Mapa Lám. 1.1 , Lám. 1.1 Ojo Nota."


def test_a_book_without_section_numbers_refers_by_title(tmp_path: Path) -> None:
    files = {"one.qmd": "# First {#sec-f}\n\n## Deep {#sec-d}\n\nSee @sec-d, @sec-f.\n"}
    book = plain_book(tmp_path, files, "lang: en\nnumber-sections: false")
    assert book.words("one.html") == "First Deep See Deep , First ."


def test_number_depth(tmp_path: Path) -> None:
    settings = "format:\n  html:\n    number-depth: 2"
    book = plain_book(tmp_path, {"one.qmd": "# A\n\n## B\n\n### C\n"}, settings)
    assert book.words("one.html") == "1 A 1.1 B C"


def test_text_of_all_kinds(tmp_path: Path) -> None:
    text = """# Kinds

Foot[^1] and inline^[Inline note.].

[^1]: Foot text.

Term
: Its definition

A [margin note]{.aside} here.

::: {.column-margin}
In the margin.
:::

:::: {.columns}
::: {.column width="50%"}
Left.
:::
::: {.column width="50%"}
Right.
:::
::::

```{.python filename="a.py"}
y = 1
```

"Quoted" -- dash...

<!-- ## Not a heading -->

| line
| block

- item

  ::: {.callout-tip}
  ## In a list
  body
  :::
"""
    book = plain_book(tmp_path, {"kinds.qmd": text})
    assert book.words("kinds.html") == (
        "1 Kinds Foot 1 and inline 2 . Term Its definition A margin note here. In the margin. Left. Right. a.py y = 1 "
        "“Quoted” – dash… line block item In a list body Foot text. ↩︎ Inline note. ↩︎"
    )
    assert set(book.anchors("kinds.html")) <= {"", "footnotes"}


def test_notes_of_the_margin_follow_their_paragraph(tmp_path: Path) -> None:
    text = "# N\n\n## A\n\nTea^[From *China*.] is hot.\n\n## B\n\nMilk.\n"
    book = plain_book(tmp_path, {"n.qmd": text}, "format: {html: {reference-location: margin}}")
    assert [(block.kind, block.text) for block in book.chapter("n.html").sections[1].blocks] == [
        ("heading", "1.1 A"),
        ("para", "Tea is hot."),
        ("footnote", "From China."),
    ]
    assert [section.anchor for section in book.chapter("n.html").sections] == ["", "a", "b"]


def test_raw_html_is_made_well_formed(tmp_path: Path) -> None:
    text = """# Raw

```{=html}
<div class="box"><p>Open <b>bold</div></section></main>
<script>var a = "</div>";</script>
```

## After

<span onclick="x">words</span> </em>

```{=latex}
\\\\newpage
```
"""
    book = plain_book(tmp_path, {"raw.qmd": text})
    main = re.sub(r"<script>.*?</script>", "", book.main("raw.html"))
    for tag in ("div", "section", "p", "b", "main"):
        assert len(re.findall(rf"<{tag}\b", main)) == len(re.findall(rf"</{tag}>", main)), tag
    assert "1.1 After words" in book.words("raw.html")
    assert [anchor for anchor in book.anchors("raw.html") if anchor] == ["after"]
    assert "newpage" not in main


@pytest.mark.parametrize("prefix", [b"\xef\xbb\xbf", b""])
def test_line_ends_marks_and_broken_bytes(tmp_path: Path, prefix: bytes) -> None:
    content = (
        prefix + b"---\r\nsubtitle: Under\r\n---\r\n\r\n# Caf\xc3\xa9\r\n\r\nBad \xff byte, bell\x07.\r\n\r\n## Sub\r\n"
    )
    book = plain_book(tmp_path, {"crlf.qmd": content})
    assert book.words("crlf.html") == "1 Café Under Bad \ufffd byte, bell. 1.1 Sub"


def test_broken_front_matter_does_not_lose_the_chapter(tmp_path: Path) -> None:
    book = plain_book(tmp_path, {"bad.qmd": "---\ntitle: [a\n---\n\n# Bad\n\nText.\n"})
    assert book.words("bad.html") == "1 Bad Text."


def test_files_outside_the_project_are_not_copied(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    text = "# L\n\n[up](../secret.txt) [link](link.txt) [hidden](.env) [config](_quarto.yml) [ok](ok%20file.txt)\n"
    project = write_book(
        tmp_path,
        {"index.qmd": "# P\n", "l.qmd": text, ".env": "KEY=1", "ok file.txt": "fine"},
        listed("index.qmd", "l.qmd"),
    )
    if sys.platform != "win32":
        (project.root / "link.txt").symlink_to(tmp_path / "secret.txt")
    made(project)
    files = {
        path.relative_to(plain_site(project)).as_posix() for path in plain_site(project).rglob("*") if path.is_file()
    }
    assert {name for name in files if not name.startswith("ask-book/")} == {"index.html", "l.html", "ok file.txt"}


def test_a_second_run_does_nothing_and_a_change_is_seen(tmp_path: Path) -> None:
    book = plain_book(
        tmp_path, {"one.qmd": "# One\n\n{{< include _inc.md >}}\n", "_inc.md": "Old words.\n", "two.qmd": "# Two\n"}
    )
    said: list[str] = []
    pandoc = find_pandoc(os.environ)
    make_plain(book.project, pandoc, said.append)
    assert said == []
    untouched = (plain_site(book.project) / "two.html").stat().st_mtime_ns
    (book.project.root / "_inc.md").write_text("New and longer words.\n")
    make_plain(project_at(tmp_path), pandoc, said.append)
    assert len(said) == 2
    assert "New and longer words." in PlainBook(book.project, book.manifest).words("one.html")
    assert (plain_site(book.project) / "two.html").stat().st_mtime_ns == untouched


@pytest.mark.parametrize("name", ["manifest.json", "site/one.html", "site/ask-book/book.js", "stamp.json"])
def test_what_was_damaged_is_made_again(tmp_path: Path, name: str) -> None:
    book = plain_book(tmp_path, {"one.qmd": "# One\n\nWords of one.\n"})
    file = book.project.cache_dir / name
    before = file.read_bytes()
    file.write_bytes(before[:40])
    again = made(project_at(tmp_path))
    assert again.words("one.html") == "1 One Words of one."
    if name != "stamp.json":
        assert file.read_bytes() == before


def test_a_chapter_taken_out_leaves_no_ghost(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "index.qmd": "# P\n",
        "one.qmd": "# One\n\n![x](a.png)\n",
        "two.qmd": "# Two\n\nSee @sec-x.\n",
        "a.png": PIXEL,
    }
    made(write_book(tmp_path, files, listed("index.qmd", "one.qmd", "two.qmd")))
    book = made(write_book(tmp_path, files, listed("index.qmd", "two.qmd")))
    assert [chapter.href for chapter in book.manifest.chapters] == ["index.html", "two.html"]
    assert book.chapter("two.html").number == "2"
    assert not (plain_site(book.project) / "one.html").exists()
    assert not (plain_site(book.project) / "a.png").exists()


def test_the_same_book_gives_the_same_bytes(tmp_path: Path) -> None:
    files = {f"c{n}.qmd": f"# C{n}\n\n@sec-x and words.\n" for n in range(9)}
    one = plain_book(tmp_path / "one", files)
    two = plain_book(tmp_path / "two", files)
    assert plain_manifest(one.project).read_bytes() == plain_manifest(two.project).read_bytes()
    assert one.page("c5.html") == two.page("c5.html")


MAKE = """
import os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from ask_book.book.pandoc import find_pandoc
from ask_book.book.plain import make_plain
from book.plain_book import project_at
make_plain(project_at(Path(sys.argv[1])), find_pandoc(os.environ), print)
"""


def run_make(folder: Path) -> subprocess.Popen[str]:
    tests = Path(__file__).resolve().parents[1]
    return subprocess.Popen(
        [sys.executable, "-c", MAKE, str(folder), str(tests)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_two_runs_at_once_take_turns(tmp_path: Path) -> None:
    files = {"index.qmd": "# P\n", "one.qmd": "# One\n\nWords.\n"}
    project = write_book(tmp_path, files, listed("index.qmd", "one.qmd"))
    runs = [run_make(tmp_path) for _ in range(2)]
    outputs = [run.communicate(timeout=120) for run in runs]
    assert [run.returncode for run in runs] == [0, 0], outputs
    assert sorted(bool(out) for out, _ in outputs) == [False, True]
    assert PlainBook(project, made(project).manifest).words("one.html") == "2 One Words."


def test_a_run_that_is_killed_leaves_the_old_rendition(tmp_path: Path) -> None:
    book = plain_book(tmp_path, {"one.qmd": "# One\n\nOld.\n"})
    before = plain_manifest(book.project).read_bytes()
    (book.project.root / "one.qmd").write_text("# One\n\nNew words.\n")
    run = run_make(tmp_path)
    assert run.stdout
    run.stdout.readline()
    run.kill()
    run.communicate()
    after = plain_manifest(book.project).read_bytes()
    assert after == before
    assert "Old." in book.words("one.html")
    assert "New words." in made(project_at(tmp_path)).words("one.html")


def test_a_failure_of_pandoc_leaves_the_old_rendition(tmp_path: Path) -> None:
    book = plain_book(tmp_path, {"one.qmd": "# One\n\nOld.\n"})
    (book.project.root / "one.qmd").write_text("# One\n\nNew.\n")
    broken = find_pandoc(os.environ)
    wrong = type(broken)((sys.executable, "-c", "import sys; sys.exit('it broke')"), broken.version, "a stand-in")
    with pytest.raises(AskBookError, match="it broke"):
        make_plain(project_at(tmp_path), wrong, lambda _: None)
    assert "Old." in book.words("one.html")
