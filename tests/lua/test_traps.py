# ruff: noqa: E501 - the HTML stands as Quarto writes it
"""Each kind of fault met in real books, in a few lines of HTML as Quarto renders it, with the right value."""

from __future__ import annotations

from pathlib import Path

import pytest

from lua.builder import blocks, build, cut, page, section

CALLOUT = """<div class="callout callout-style-default callout-tip callout-titled">
<div class="callout-header d-flex align-content-center">
<div class="callout-icon-container"><i class="callout-icon"></i></div>
<div class="callout-title-container flex-fill">
{title}
</div>
<div class="callout-btn-toggle d-inline-block"><i class="callout-toggle"></i></div>
</div>
<div class="callout-body-container callout-body">
{body}
</div>
</div>"""


def anchors(folder: Path, main: str) -> list[str]:
    return [part.anchor for part in cut(folder, main).sections]


# Headings that are not headings


def test_the_title_of_a_callout_cuts_no_section(tmp_path: Path) -> None:
    chapter = cut(tmp_path, section(2, "risks", "Risks", CALLOUT.format(title="Beware", body="<p>Deep water.</p>")))
    assert [part.title for part in chapter.sections] == ["Rivers", "Risks"]
    assert blocks(chapter) == [("heading", "Risks"), ("callout", "Beware"), ("callout", "Deep water.")]


def test_a_callout_in_a_list_item_of_an_exercise_stays_in_its_section(tmp_path: Path) -> None:
    body = CALLOUT.format(title="Solution", body="<p>Swim.</p>")
    exercise = (
        '<div id="exr-swim" class="theorem exercise"><p><span class="theorem-title"><strong>Exercise 2.1</strong></span> How?</p>'
        f"<ol><li><p>Try.</p>{body}</li></ol></div>"
    )
    chapter = cut(tmp_path, section(2, "work", "Work", exercise))
    assert [part.anchor for part in chapter.sections] == ["", "work"]
    assert [block.label for block in chapter.blocks[-4:]] == ["exr-swim"] * 4
    assert blocks(chapter)[1:] == [
        ("para", "Exercise 2.1 How?"),
        ("list", "Try."),
        ("callout", "Solution"),
        ("callout", "Swim."),
    ]


def test_a_section_in_a_theorem_is_one(tmp_path: Path) -> None:
    inner = (
        '<div id="exr-a" class="theorem exercise"><p>Do.</p>'
        + section(3, "plan", "Plan", "<p>First.</p>")
        + "</div><p>End.</p>"
    )
    chapter = cut(tmp_path, section(2, "work", "Work", inner))
    assert [(part.id, part.anchor) for part in chapter.sections] == [
        ("rivers.qmd", ""),
        ("rivers.qmd#work", "work"),
        ("rivers.qmd#plan", "plan"),
        ("rivers.qmd#work~2", "work"),
    ]
    assert chapter.sections[-1].blocks[0].text == "End."


def test_the_labels_of_tabs_cut_no_section_and_stand_before_their_tabs(tmp_path: Path) -> None:
    tabs = """<div class="panel-tabset">
<ul class="nav nav-tabs" role="tablist"><li class="nav-item"><a class="nav-link active" role="tab" aria-controls="t-1">Python</a></li>\
<li class="nav-item"><a class="nav-link" role="tab" aria-controls="t-2">R</a></li></ul>
<div class="tab-content"><div id="t-1" class="tab-pane active"><p>Snakes.</p></div><div id="t-2" class="tab-pane"><p>Rats.</p></div></div>
</div>"""
    assert blocks(cut(tmp_path, tabs)) == [("para", "Python"), ("para", "Snakes."), ("para", "R"), ("para", "Rats.")]


def test_the_name_of_a_definition_is_its_label_and_the_anchor_that_of_the_box(tmp_path: Path) -> None:
    box = (
        '<div id="def-weir" class="theorem definition"><p><span class="theorem-title"><strong>Definition 1.2 (Weir)</strong></span>'
        " A low dam.</p></div>"
    )
    manifest = build(tmp_path, {"rivers.html": page(box)})
    label = manifest.labels["def-weir"]
    assert (label.href, label.text, label.caption) == ("rivers.html#def-weir", "Definition 1.2", "Weir")
    assert manifest.chapters[0].blocks[-1].text == "Definition 1.2 (Weir) A low dam."


def test_a_heading_in_a_comment_is_nothing(tmp_path: Path) -> None:
    assert blocks(cut(tmp_path, '<!-- <section id="x" class="level2"><h2>Old</h2></section> --><p>New.</p>')) == [
        ("para", "New.")
    ]


def test_a_comment_may_hold_what_looks_like_its_end_in_a_string(tmp_path: Path) -> None:
    assert blocks(cut(tmp_path, '<script>var s = "-->"; // <!-- </p></script><p>Text.</p>')) == [("para", "Text.")]


def test_marks_of_headings_in_code_are_code(tmp_path: Path) -> None:
    code = '<div class="sourceCode"><pre class="sourceCode r"><code><span id="cb1-1">## Load</span>\n<span id="cb1-2">x <span>&lt;-</span> 1</span></code></pre></div>'
    assert blocks(cut(tmp_path, code)) == [("code", "## Load\nx <- 1")]


def test_a_raw_heading_is_a_heading_without_a_section(tmp_path: Path) -> None:
    chapter = cut(tmp_path, section(2, "a", "A", "<h1>Raw</h1><p>Text.</p>"))
    assert [part.anchor for part in chapter.sections] == ["", "a"]
    assert blocks(chapter)[1:] == [("heading", "Raw"), ("para", "Text.")]


def test_a_heading_in_a_table_is_text_of_its_row(tmp_path: Path) -> None:
    assert blocks(cut(tmp_path, "<table><tbody><tr><td><h2>Name</h2></td>\n<td>Elbe</td></tr></tbody></table>")) == [
        ("table", "Name\tElbe")
    ]


def test_h5_and_h6_cut_no_section(tmp_path: Path) -> None:
    inner = section(5, "tiny", "Tiny", "<p>Text.</p>") + section(6, "less", "Less", "<p>More.</p>")
    chapter = cut(tmp_path, section(2, "a", "A", inner))
    assert [part.anchor for part in chapter.sections] == ["", "a"]
    assert ("heading", "Tiny") in blocks(chapter)


# Ids and titles


def test_the_same_heading_three_times_keeps_the_ids_of_the_page(tmp_path: Path) -> None:
    main = "".join(section(2, anchor, "Aims", "<p>Text.</p>") for anchor in ("aims", "aims-1", "aims-2"))
    assert anchors(tmp_path, main) == ["", "aims", "aims-1", "aims-2"]


def test_an_id_twice_in_a_page_leads_to_its_first_owner_only(tmp_path: Path) -> None:
    title = '<h1 class="title"><span id="releasing" class="quarto-section-identifier">Rivers</span></h1>'
    chapter = cut(tmp_path, section(2, "releasing", "Releasing", "<p>Now.</p>"), title=title)
    assert [(part.anchor, part.title) for part in chapter.sections] == [("", "Rivers"), ("", "Releasing")]
    assert [part.id for part in chapter.sections] == ["rivers.qmd", "rivers.qmd~2"]


def test_a_heading_named_like_a_part_of_the_page_has_no_anchor(tmp_path: Path) -> None:
    assert anchors(tmp_path, section(2, "toc-title", "TOC title", "<p>x</p>")) == ["", ""]


def test_a_jump_from_h2_to_h4_keeps_the_path(tmp_path: Path) -> None:
    chapter = cut(tmp_path, section(2, "a", "A", section(4, "b", "B", "<p>x</p>", "1.1.0.1"), "1.1"))
    assert chapter.sections[-1].heading_path == ("A", "B")
    assert (chapter.sections[-1].level, chapter.sections[-1].number) == (4, "1.1.0.1")


def test_a_footnote_code_math_and_emoji_in_a_heading(tmp_path: Path) -> None:
    title = (
        'The <code>run()</code> of <span class="math inline">\\(n\\)</span>&nbsp;🎉'
        '<a href="#fn1" class="footnote-ref" role="doc-noteref"><sup>1</sup></a>'
    )
    last = cut(tmp_path, section(2, "the-run-of-n", title, "<p>x</p>", "1.2")).sections[-1]
    assert (last.title, last.number) == ("The run() of \\(n\\) 🎉", "1.2")
    assert last.blocks[0].text == "1.2 The run() of \\(n\\) 🎉"


def test_a_title_of_digits_has_the_id_of_the_page(tmp_path: Path) -> None:
    chapter = cut(
        tmp_path, section(2, "section", "1.0.0", "<p>x</p>", "1.3") + section(2, "section-1", "—", "<p>y</p>", "1.4")
    )
    assert [(part.anchor, part.title, part.number) for part in chapter.sections[1:]] == [
        ("section", "1.0.0", "1.3"),
        ("section-1", "—", "1.4"),
    ]


def test_an_empty_heading_has_a_section_without_a_title(tmp_path: Path) -> None:
    chapter = cut(tmp_path, section(2, "a", "A", section(3, "section-2", "", "<p>x</p>")))
    last = chapter.sections[-1]
    assert (last.anchor, last.title, last.heading_path) == ("section-2", "", ("A",))
    assert [block.text for block in last.blocks] == ["x"]


def test_ids_with_dots_accents_and_cjk_are_kept(tmp_path: Path) -> None:
    names = ["v1.2-é", "中文-标题", "sec:old"]
    assert anchors(tmp_path, "".join(section(2, name, "T", "<p>x</p>") for name in names)) == ["", *names]


def test_an_explicit_chapter_id_is_a_label_of_the_top(tmp_path: Path) -> None:
    title = (
        '<h1 class="title"><span id="sec-rivers" class="quarto-section-identifier"><span class="chapter-number">4</span>&nbsp; '
        '<span class="chapter-title">Rivers</span></span></h1>'
    )
    manifest = build(tmp_path, {"rivers.html": page("<p>x</p>", title)})
    chapter = manifest.chapters[0]
    assert (chapter.title, chapter.number, chapter.sections[0].anchor) == ("Rivers", "4", "")
    label = manifest.labels["sec-rivers"]
    assert (label.href, label.text, label.caption) == ("rivers.html", "Chapter 4", "Rivers")


def test_a_chapter_title_without_an_id_has_the_top_as_anchor(tmp_path: Path) -> None:
    title = (
        '<h1 class="title"><span class="chapter-number">2</span>&nbsp; <span class="chapter-title">Lakes</span></h1>'
    )
    top = cut(tmp_path, "<p>x</p>", title=title).sections[0]
    assert (top.anchor, top.level, top.title, top.number, top.heading_path) == ("", 1, "Lakes", "2", ())
    assert top.blocks[0].text == "2 Lakes"


def test_an_appendix_has_its_letter_and_bare_title(tmp_path: Path) -> None:
    trail = (
        '<nav class="quarto-title-breadcrumbs"><ol class="breadcrumb"><li class="breadcrumb-item"><a>Appendices</a></li>'
        '<li class="breadcrumb-item"><a><span class="chapter-number">B</span>&nbsp; <span class="chapter-title">Maps</span></a></li>'
        "</ol></nav>"
    )
    title = trail + '<h1 class="title">Appendix B — Maps</h1>'
    chapter = cut(tmp_path, section(2, "old", "Old", "<p>x</p>", "B.1"), title=title)
    assert (chapter.title, chapter.number, chapter.part) == ("Maps", "B", "Appendices")
    assert chapter.sections[1].number == "B.1"
    assert chapter.blocks[0].text == "Appendix B — Maps"


def test_an_appendix_without_a_trail_of_links(tmp_path: Path) -> None:
    chapter = cut(tmp_path, "<p>x</p>", title='<h1 class="title">Apéndice C — Mapas</h1>')
    assert (chapter.title, chapter.number) == ("Mapas", "C")


def test_an_index_with_several_h1(tmp_path: Path) -> None:
    main = (
        "<p>Before.</p>"
        + section(1, "preface", "Preface", section(2, "why", "Why", "<p>x</p>"))
        + section(1, "thanks", "Thanks", "")
    )
    chapter = cut(tmp_path, main, title='<h1 class="title">Water</h1>')
    assert chapter.title == "Water"
    assert [(part.anchor, part.level, part.heading_path) for part in chapter.sections] == [
        ("", 1, ()),
        ("preface", 1, ("Preface",)),
        ("why", 2, ("Preface", "Why")),
        ("thanks", 1, ("Thanks",)),
    ]


def test_no_h1_at_all_takes_the_title_of_the_book(tmp_path: Path) -> None:
    chapter = cut(tmp_path, "<p>x</p>", title='<h1 class="title"></h1>')
    assert (chapter.title, blocks(chapter)) == ("Water", [("para", "x")])


def test_a_title_banner_outside_main_is_read(tmp_path: Path) -> None:
    banner = (
        '<header id="title-block-header" class="quarto-title-block"><div class="quarto-title-banner">'
        '<h1 class="title"><span class="chapter-number">4</span>&nbsp; <span class="chapter-title">Modèle</span></h1>'
        "</div></header><main><p>Corps.</p></main>"
    )
    chapter = build(tmp_path, {"rivers.html": f'<html lang="fr"><body>{banner}</body></html>'}).chapters[0]
    assert (chapter.title, chapter.number) == ("Modèle", "4")
    assert blocks(chapter) == [("heading", "4 Modèle"), ("para", "Corps.")]


# Structure and content


def test_text_before_the_first_heading_is_in_the_top_section(tmp_path: Path) -> None:
    chapter = cut(tmp_path, "<p>Early.</p>" + section(2, "a", "A", "<p>Late.</p>"))
    assert [block.text for block in chapter.sections[0].blocks] == ["Rivers", "Early."]


def test_scripts_styles_and_hidden_cells_are_not_prose(tmp_path: Path) -> None:
    main = """<style>p { color: red }</style><script type="ojs-module-contents">eyJ4IjoxfQ==</script>
<div class="cell"><details class="code-fold hidden"><summary>Code</summary><pre><code>viewof x = 1</code></pre></details>
<div class="cell-output cell-output-display"><div id="ojs-cell-1" data-nodetype="declaration"></div></div></div>
<template><p>no</p></template><noscript>no</noscript><p hidden>no</p><p style="display: none">no</p><p>Yes.</p>"""
    assert blocks(cut(tmp_path, main)) == [("para", "Yes.")]


def test_code_that_folds_is_code_without_its_button(tmp_path: Path) -> None:
    main = """<div class="cell"><details class="code-fold"><summary>Code</summary>
<div class="sourceCode cell-code"><pre class="sourceCode python code-with-copy"><code><span id="cb1-1"><a href="#cb1-1"></a>x <span>=</span> 1</span></code>\
<button title="Copy" class="code-copy-button"><i class="bi"></i></button></pre></div></details>
<div class="cell-output cell-output-stdout"><pre><code>[1]  2
 3</code></pre></div></div>"""
    assert blocks(cut(tmp_path, main)) == [("code", "x = 1"), ("output", "[1]  2\n 3")]


def test_annotated_code_has_neither_its_numbers_nor_their_gutter(tmp_path: Path) -> None:
    main = """<div class="sourceCode"><pre class="sourceCode python code-annotated"><code>\
<button class="code-annotation-anchor">1</button><span>run()</span><div class="code-annotation-gutter-bg"></div></code></pre></div>
<dl class="code-annotation-container-hidden code-annotation-container-grid"><dt>1</dt>
<dd><span>Runs it.</span></dd></dl>"""
    assert blocks(cut(tmp_path, main)) == [("code", "run()"), ("list", "Runs it.")]


def test_references_after_a_section_are_a_section_of_their_own(tmp_path: Path) -> None:
    refs = '<div id="refs" class="references" role="list"><div id="ref-k" class="csl-entry">Knuth. <em>The art</em>.</div></div>'
    last = cut(tmp_path, section(2, "a", "A", "<p>x</p>" + refs), lang="es").sections[-1]
    assert (last.anchor, last.title, last.heading_path) == ("refs", "Referencias", ("Referencias",))
    assert [(block.kind, block.text) for block in last.blocks] == [("list", "Knuth. The art.")]


def test_references_under_their_own_heading_stay_there(tmp_path: Path) -> None:
    refs = '<div id="refs" class="references"><div class="csl-entry">Knuth.</div></div>'
    last = cut(tmp_path, section(2, "sources", "Sources", refs)).sections[-1]
    assert (last.anchor, [block.text for block in last.blocks]) == ("sources", ["Sources", "Knuth."])


def test_a_table_is_read_row_by_row_with_its_header(tmp_path: Path) -> None:
    table = """<div id="tbl-len" class="quarto-float quarto-figure anchored"><figure class="quarto-float quarto-float-tbl figure">
<figcaption class="quarto-float-caption-top quarto-float-caption quarto-float-tbl">Table&nbsp;2.1: Lengths</figcaption>
<div><table class="table"><colgroup><col></colgroup><thead><tr><th>River</th>
<th>km</th></tr></thead><tbody><tr><td>Elbe</td>
<td>1,094</td></tr><tr><td></td><td></td></tr></tbody></table></div></figure></div>"""
    manifest = build(tmp_path, {"rivers.html": page(table)})
    rows = [(block.kind, block.text, block.context, block.label) for block in manifest.chapters[0].blocks[1:]]
    assert rows == [
        ("table", "Table 2.1: Lengths", "", "tbl-len"),
        ("table", "River\tkm", "", "tbl-len"),
        ("table", "Elbe\t1,094", "River · km", "tbl-len"),
    ]
    assert (manifest.labels["tbl-len"].text, manifest.labels["tbl-len"].caption) == ("Table 2.1", "Lengths")


def test_lists_in_the_cells_of_a_grid_table_are_one_row(tmp_path: Path) -> None:
    table = "<table><tbody><tr><td><ul>\n<li>a</li>\n<li>b</li>\n</ul>\n<p>c</p></td>\n<td><p>d</p></td></tr></tbody></table>"
    assert blocks(cut(tmp_path, table)) == [("table", "a b c\td")]


def test_a_long_table_in_a_collapsed_callout_is_cut_between_rows(tmp_path: Path) -> None:
    rows = "".join(f"<tr><td>Reach {i}</td>\n<td>{'deep ' * 30}</td></tr>" for i in range(60))
    box = CALLOUT.format(
        title="All", body=f"<table><thead><tr><th>Reach</th><th>State</th></tr></thead><tbody>{rows}</tbody></table>"
    )
    manifest = build(tmp_path, {"rivers.html": page(box)})
    chapter = manifest.chapters[0]
    starts = {block.start for block in chapter.blocks}
    assert len(manifest.chunks) > 5
    assert all(chunk.start in starts and chunk.end - chunk.start <= 1801 for chunk in manifest.chunks)


def test_a_line_of_three_thousand_characters_stays_whole(tmp_path: Path) -> None:
    line = "water " * 520
    manifest = build(tmp_path, {"rivers.html": page(section(2, "a", "A", f"<p>{line}</p>"))})
    assert manifest.chapters[0].blocks[-1].text == line.strip()
    assert [manifest.text(tag) for tag in manifest.tags()] == [manifest.chapters[0].text]


def test_code_and_formulas_are_never_cut(tmp_path: Path) -> None:
    code = "\n".join(f"flow[{i}] <- {i}" for i in range(400))
    main = section(2, "a", "A", f"<p>{'Before. ' * 200}</p><pre><code>{code.replace('<', '&lt;')}</code></pre>")
    manifest = build(tmp_path, {"rivers.html": page(main)})
    passages = [manifest.text(tag) for tag in manifest.tags()]
    assert len(passages) == 2
    assert passages[1] == code


def test_a_definition_list_has_the_term_as_context(tmp_path: Path) -> None:
    chapter = cut(tmp_path, "<dl><dt>Weir</dt><dd>A low dam.</dd><dd><p>A fence.</p></dd></dl>")
    assert [(block.kind, block.text, block.context) for block in chapter.blocks[1:]] == [
        ("list", "Weir", ""),
        ("list", "A low dam.", "Weir"),
        ("list", "A fence.", "Weir"),
    ]


def test_prose_in_the_output_of_a_cell(tmp_path: Path) -> None:
    cell = '<div class="cell"><div class="cell-output cell-output-display"><p>Computed: <strong>42</strong>.</p></div></div>'
    assert blocks(cut(tmp_path, cell)) == [("para", "Computed: 42.")]


def test_an_alternative_text_is_context_of_the_caption(tmp_path: Path) -> None:
    figure = """<div id="fig-map" class="quarto-float quarto-figure anchored"><figure class="quarto-float quarto-float-fig figure">
<div><img src="m.png" class="figure-img" alt="Mapa del delta"></div>
<figcaption class="quarto-float-caption quarto-float-fig">Figura&nbsp;3.2: El delta, con <span class="math inline">\\(x\\)</span>
</figcaption></figure></div>"""
    manifest = build(tmp_path, {"rivers.html": page(figure, lang="es")})
    block = manifest.chapters[0].blocks[-1]
    assert (block.kind, block.text, block.context, block.label) == (
        "figure",
        "Figura 3.2: El delta, con \\(x\\)",
        "[Figura: Mapa del delta]",
        "fig-map",
    )
    assert manifest.labels["fig-map"].text == "Figura 3.2"


def test_an_image_without_a_caption_leaves_its_words_to_the_text_before(tmp_path: Path) -> None:
    chapter = cut(tmp_path, '<p>See:</p><p><img src="a.png" alt="A heron"></p><p>After.</p>')
    assert [(block.text, block.context) for block in chapter.blocks[1:]] == [
        ("See:", "[Figure: A heron]"),
        ("After.", ""),
    ]


def test_an_alternative_text_that_repeats_the_caption_is_not_said_twice(tmp_path: Path) -> None:
    figure = '<figure class="figure"><p><img src="a.png" alt="A heron"></p><figcaption>A heron</figcaption></figure>'
    assert [(block.text, block.context) for block in cut(tmp_path, figure).blocks[1:]] == [("A heron", "")]


def test_subfigures_are_named_after_their_figure(tmp_path: Path) -> None:
    def inner(name: str, text: str) -> str:
        return (
            f'<div class="quarto-layout-cell"><div id="{name}" class="quarto-float quarto-figure"><figure class="quarto-subfloat-fig">'
            f'<img src="a.png"><figcaption class="quarto-subfloat-caption">{text}</figcaption></figure></div></div>'
        )

    figure = (
        '<div id="fig-all" class="quarto-layout-panel"><figure class="quarto-float quarto-float-fig figure">'
        + inner("fig-a", "(a) Dry")
        + inner("fig-b", "(b) Wet")
        + '<figcaption class="quarto-float-caption">Figure&nbsp;1.2: Both</figcaption></figure></div>'
    )
    labels = build(tmp_path, {"rivers.html": page(figure)}).labels
    assert {name: (label.text, label.caption) for name, label in labels.items()} == {
        "fig-a": ("Figure 1.2 (a)", "Dry"),
        "fig-b": ("Figure 1.2 (b)", "Wet"),
        "fig-all": ("Figure 1.2", "Both"),
    }


def test_a_caption_inside_a_figure_does_not_name_it(tmp_path: Path) -> None:
    figure = (
        '<div id="fig-all" class="quarto-float"><figure><div class="quarto-figure"><figure><img src="x"><figcaption>'
        'Dry in 1984</figcaption></figure></div><figcaption class="quarto-float-caption">Figure&nbsp;1.2</figcaption>'
        "</figure></div>"
    )
    label = build(tmp_path, {"rivers.html": page(figure)}).labels["fig-all"]
    assert (label.text, label.caption) == ("Figure 1.2", "")


def test_a_displayed_formula_is_a_block_with_its_number(tmp_path: Path) -> None:
    main = '<p><span id="eq-flow"><span class="math display">\\[\nq &lt; v\n\\tag{1.3}\\]</span></span></p>'
    manifest = build(tmp_path, {"rivers.html": page(main, lang="es")})
    block = manifest.chapters[0].blocks[-1]
    assert (block.kind, block.text, block.label) == ("math", "\\[ q < v \\tag{1.3}\\]", "eq-flow")
    assert manifest.labels["eq-flow"].text == "Ecuación 1.3"


INLINE, DISPLAY = 'class="math inline"', 'class="math display"'
TEX = '<annotation encoding="application/x-tex">{}</annotation></semantics></math>'
MATHML = '<math display="{}"><semantics><msup><mi>x</mi><mn>2</mn></msup>' + TEX


@pytest.mark.parametrize(
    ("inline", "display"),
    [
        (f"<span {INLINE}>\\(x^2\\)</span>", f"<span {DISPLAY}>\\[x^2 &lt; 1\\tag{{1.3}}\\]</span>"),
        (f"<span {INLINE}>x^2</span>", f"<span {DISPLAY}>\nx^2 &lt; 1\\tag{{1.3}}</span>"),
        (MATHML.format("inline", "x^2"), MATHML.format("block", "\nx^2 &lt; 1\\tag{1.3}")),
        (f'<img src="x.svg" alt="x^2" {INLINE}>', f'<img src="y.svg" alt="x^2 &lt; 1\\tag{{1.3}}" {DISPLAY}>'),
        ('<eq env="math">x^2</eq>', '<eq env="displaymath">\nx^2 &lt; 1\\tag{1.3}</eq>'),
        (f"<span {INLINE}>$x^2$</span>", f"<span {DISPLAY}>$$\nx^2 &lt; 1\\tag{{1.3}}$$</span>"),
    ],
    ids=["MathJax", "KaTeX", "MathML", "webtex", "gladtex", "plain"],
)
def test_a_formula_is_the_same_however_it_is_shown(tmp_path: Path, inline: str, display: str) -> None:
    main = f'<p>Here {inline} flows.</p><p><span id="eq-flow">{display}</span></p>'
    manifest = build(tmp_path, {"rivers.html": page(main)})
    assert [(block.kind, block.text.replace("[ ", "["), block.label) for block in manifest.chapters[0].blocks[1:]] == [
        ("para", "Here \\(x^2\\) flows.", ""),
        ("math", "\\[x^2 < 1\\tag{1.3}\\]", "eq-flow"),
    ]
    assert manifest.labels["eq-flow"].text == "Equation 1.3"


def test_the_number_at_the_end_of_an_equation_is_its_number(tmp_path: Path) -> None:
    shown = '<math display="block"><semantics><mi>f</mi><mo>(</mo><mn>2</mn><mo>)</mo>'
    equations = [
        ("eq-tex", shown + TEX.format("f(2) \\qquad(A.4)")),
        ("eq-symbols", f"<span {DISPLAY}><em>f</em>(2)\u2001\u2001(A.5)</span>"),
        ("eq-bare", shown + "<mspace></mspace><mrow><mo>(</mo><mn>A.6</mn><mo>)</mo></mrow></semantics></math>"),
    ]
    main = "".join(f'<p><span id="{name}">{formula}</span></p>' for name, formula in equations)
    manifest = build(tmp_path, {"rivers.html": page(main, lang="pt")})
    assert [manifest.labels[name].text for name, _ in equations] == ["Equação A.4", "Equação A.5", "Equação A.6"]
    assert [block.text for block in manifest.chapters[0].blocks[1:]] == [
        "\\[f(2) \\qquad(A.4)\\]",
        "\\[f(2) (A.5)\\]",
        "\\[f(2)(A.6)\\]",
    ]


def test_each_equation_of_a_paragraph_has_a_block(tmp_path: Path) -> None:
    equation = '<span id="eq-{0}"><span class="math display">\\[{0}\\tag{{1.{1}}}\\]</span></span>'
    main = f"<p>If {equation.format('a', 1)} holds, {equation.format('b', 2)} does.</p>"
    labelled = [(block.text, block.label) for block in cut(tmp_path, main).blocks[1:]]
    assert labelled == [("If \\[a\\tag{1.1}\\] holds,", "eq-a"), ("\\[b\\tag{1.2}\\] does.", "eq-b")]


def test_footnotes_are_kept_without_marks_and_know_their_section(tmp_path: Path) -> None:
    call = '<p>Text<a href="#fn1" class="footnote-ref" id="fnref1" role="doc-noteref"><sup>1</sup></a>.</p>'
    notes = (
        '<section id="footnotes" class="footnotes footnotes-end-of-document" role="doc-endnotes"><hr><ol><li id="fn1"><p>A note.'
        '<a href="#fnref1" class="footnote-back" role="doc-backlink">↩︎</a></p></li></ol></section>'
    )
    chapter = cut(tmp_path, section(2, "a", "Banks", call) + notes)
    assert chapter.sections[1].blocks[-1].text == "Text."
    last = chapter.sections[-1]
    assert (last.anchor, last.title) == ("footnotes", "Notes")
    assert [(block.kind, block.text, block.context) for block in last.blocks] == [("footnote", "A note.", "Banks")]


def test_a_note_in_the_margin_is_read_where_it_stands(tmp_path: Path) -> None:
    main = (
        '<div class="page-columns page-full"><p> Text with aside.</p><div class="no-row-height column-margin column-container">'
        '<span class="margin-aside">In the margin.</span></div></div>'
    )
    assert blocks(cut(tmp_path, main)) == [("para", "Text with aside."), ("para", "In the margin.")]


def test_a_footnote_in_the_margin_is_a_footnote(tmp_path: Path) -> None:
    main = '<p>Text.</p><div class="column-margin"><div id="fn1"><p><sup>1</sup>&nbsp;Aside.</p></div></div>'
    assert blocks(cut(tmp_path, main))[-1] == ("footnote", "1 Aside.")


def test_quotes_and_lists_have_their_kinds(tmp_path: Path) -> None:
    main = "<blockquote><p>All flows.</p></blockquote><ul>\n<li>One\n<ul>\n<li>Inner</li>\n</ul></li>\n<li><p>Two</p></li></ul>"
    assert blocks(cut(tmp_path, main)) == [("quote", "All flows."), ("list", "One"), ("list", "Inner"), ("list", "Two")]


def test_a_listing_has_a_label(tmp_path: Path) -> None:
    main = """<div id="lst-run" class="listing quarto-float quarto-figure"><figure class="quarto-float quarto-float-lst figure">
<figcaption class="quarto-float-caption quarto-float-lst">Listing&nbsp;1.1: Run</figcaption><pre><code>run()</code></pre></figure></div>"""
    chapter = cut(tmp_path, main)
    assert [(block.kind, block.text, block.label) for block in chapter.blocks[1:]] == [
        ("code", "Listing 1.1: Run", "lst-run"),
        ("code", "run()", "lst-run"),
    ]


def test_a_key_is_not_read_twice(tmp_path: Path) -> None:
    main = '<p>Press <kbd aria-hidden="true">Ctrl+C</kbd><span class="visually-hidden">Ctrl+C</span>.</p>'
    assert blocks(cut(tmp_path, main)) == [("para", "Press Ctrl+C.")]


def test_a_drawing_is_read_and_its_style_is_not(tmp_path: Path) -> None:
    main = "<p><svg><style>.a{}</style><title>t</title><g><text>Source</text><text>Mouth</text></g><path d='M0'/></svg></p>"
    assert blocks(cut(tmp_path, main)) == [("para", "Source Mouth")]


def test_the_source_of_a_diagram_only_helps_to_find(tmp_path: Path) -> None:
    chapter = cut(tmp_path, '<p>Flow:</p><pre class="mermaid mermaid-js">graph TD;\n A--&gt;B</pre>')
    assert [(block.text, block.context) for block in chapter.blocks[1:]] == [("Flow:", "graph TD; A-->B")]


def test_raw_html_without_end_tags(tmp_path: Path) -> None:
    main = "<p>One<p>Two<br>lines<ul><li>a<li>b</ul><table><tr><td>c<td>d<tr><td>e</table><p class=x id='y>z'>Three"
    assert blocks(cut(tmp_path, main)) == [
        ("para", "One"),
        ("para", "Two lines"),
        ("list", "a"),
        ("list", "b"),
        ("table", "c\td"),
        ("table", "e"),
        ("para", "Three"),
    ]


def test_loose_text_between_blocks(tmp_path: Path) -> None:
    assert blocks(cut(tmp_path, "<div>before <p>in</p> after <b>bold</b></div>")) == [
        ("para", "before"),
        ("para", "in"),
        ("para", "after bold"),
    ]


def test_spaces_are_collapsed_and_code_keeps_its_own(tmp_path: Path) -> None:
    main = "<p>a&nbsp;&nbsp; b\n\tc\u2003d\u3000e</p><pre><code>\n  a\tb \r\n\n  c\n</code></pre>"
    assert blocks(cut(tmp_path, main)) == [("para", "a b c d e"), ("code", "  a\tb \n\n  c")]


def test_entities_of_every_kind(tmp_path: Path) -> None:
    main = "<p>&lt;&#228;&#xE4;&auml;&#150;&#0;&#x110000;&nosuch; AT&T &amp;lt; &NotEqualTilde;</p>"
    assert blocks(cut(tmp_path, main)) == [("para", "<äää–\ufffd\ufffd&nosuch; AT&T &lt; ≂̸")]


def test_crlf_and_a_byte_order_mark(tmp_path: Path) -> None:
    content = "\ufeff" + page("<p>a\r\nb</p>").replace("\n", "\r\n")
    chapter = build(tmp_path, {"rivers.html": content}).chapters[0]
    assert blocks(chapter) == [("para", "a b")]


def test_the_same_include_in_two_files_has_two_chunk_ids(tmp_path: Path) -> None:
    body = page(section(2, "note", "Note", f"<p>{'Shared words. ' * 20}</p>"))
    manifest = build(tmp_path, {"a.html": body, "sub/b.html": body})
    assert len({chunk.id for chunk in manifest.chunks}) == len(manifest.chunks) == 2
    assert {section.id for chapter in manifest.chapters for section in chapter.sections} >= {
        "a.qmd#note",
        "sub/b.qmd#note",
    }


def test_a_part_page_without_chapters_is_a_chapter(tmp_path: Path) -> None:
    manifest = build(tmp_path, {"part.html": page("", '<h1 class="title">Part II</h1>')})
    assert [(chapter.title, chapter.text) for chapter in manifest.chapters] == [("Part II", "Part II")]
    assert len(manifest.chunks) == 1


def test_a_page_in_another_language_than_the_book(tmp_path: Path) -> None:
    refs = '<p>x</p><div id="refs"><div class="csl-entry">K.</div></div>'
    assert cut(tmp_path, refs, lang="fr-CA").sections[-1].title == "Références"
