local html = require("html")
local labels = require("labels")
local lu = require("luaunit")
local words = require("words")

TestWords = {}

function TestWords:test_collapse()
  lu.assertEquals(words.collapse(" a\n\t b\u{A0}\u{2003}c\u{3000}d \0\1 "), "a b c d")
  lu.assertEquals(words.collapse("é\u{301} ← 水 🎉"), "é\u{301} ← 水 🎉")
  lu.assertEquals(words.collapse("\u{A0}"), "")
end

function TestWords:test_blocks_and_line_breaks_are_spaces()
  lu.assertEquals(words.of(html.parse("a<br>b<ul><li>c</li><li>d</li></ul>e<b>f</b>")), "a b c d ef")
end

function TestWords:test_what_is_found_on_the_way()
  local found = words.nothing()
  local page = html.parse(
    '<img alt="An  old map"><img alt=""><a class="footnote-ref" href="x.html#fn2">2</a>'
      .. '<span id="eq-a"><span class="math display">\\[x\\tag{1.2}\\]</span></span>'
  )
  lu.assertEquals(words.of(page, found), "\\[x\\tag{1.2}\\]")
  lu.assertEquals(found, {
    alts = { "An old map" },
    notes = { "fn2" },
    equations = { { id = "eq-a", number = "1.2" } },
    formulas = 1,
  })
end

function TestWords:test_code_keeps_its_lines()
  local page = html.parse("<pre>\n\n  a\tb\0 \n c\n\n</pre>")
  lu.assertEquals(words.code(page[1]), "  a\tb \n c")
end

TestLabels = {}

function TestLabels:test_split()
  local cases = {
    ["Figure 3.2: Rivers of 1900"] = { "Figure 3.2", "Rivers of 1900" },
    ["Tabla A.1: Cuencas"] = { "Tabla A.1", "Cuencas" },
    ["Theorem 2.3 (Euler)"] = { "Theorem 2.3", "Euler)" },
    ["Figure 7"] = { "Figure 7", "" },
    ["图 3.1: 水"] = { "图 3.1", "水" },
    ["Abbildung 1.4 — Éire"] = { "Abbildung 1.4", "Éire" },
    ["Rivers of the year 1900"] = { "", "Rivers of the year 1900" },
    ["No number"] = { "", "No number" },
    ["Rivers: in 1900"] = { "", "Rivers: in 1900" },
  }
  for shown, expected in pairs(cases) do
    lu.assertEquals({ labels.split(shown) }, expected)
  end
end

function TestLabels:test_a_subfigure_needs_the_name_of_its_figure()
  local list = {
    { id = "fig-a", text = "", part = "a", outer = "fig-x" },
    { id = "fig-b", text = "", part = "b", outer = "fig-unknown" },
    { id = "fig-x", text = "Figure 1.2" },
  }
  labels.complete(list)
  lu.assertEquals({ list[1].text, list[2].text, list[3].text }, { "Figure 1.2 (a)", "", "Figure 1.2" })
end
