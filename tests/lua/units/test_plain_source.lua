local cells_of = require("plain_cells")
local shortcodes = require("plain_shortcodes")
local source = require("plain_source")
local words = require("plain_words")
local lu = require("luaunit")

local function load(files, name, home)
  return source.load(name, home == true, {
    read = function(path)
      return files[path]
    end,
    warn = function() end,
    config = { book = { title = "The *book*" } },
    variables = {},
    environment = function() end,
  })
end

TestPlainSource = {}

function TestPlainSource:test_the_first_heading_becomes_the_title()
  local loaded = load({ ["a.qmd"] = "# One {#x}\n\n## Two\n" }, "a.qmd")
  lu.assertEquals(loaded.heading, "One {#x}")
  lu.assertEquals(loaded.text, "\n\n## Two\n")
end

function TestPlainSource:test_the_home_page_keeps_its_heading()
  local loaded = load({ ["index.qmd"] = "# One\n" }, "index.qmd", true)
  lu.assertNil(loaded.heading)
  lu.assertEquals(loaded.text, "# One\n")
end

function TestPlainSource:test_a_heading_in_a_comment_only_counts_for_the_number()
  local loaded = load({ ["a.qmd"] = "<!--\n# Old\n-->\n\n# New {.unnumbered}\n" }, "a.qmd")
  lu.assertEquals(loaded.heading, "New {.unnumbered}")
  lu.assertEquals(loaded.number_heading, "Old")
end

function TestPlainSource:test_all_files_that_were_read_are_told()
  local files = { ["s/a.qmd"] = "{{< include _b.md >}}", ["s/_b.md"] = '{{< include "/c.md" >}}', ["c.md"] = "end" }
  local loaded = load(files, "s/a.qmd")
  lu.assertEquals(loaded.files, { "s/a.qmd", "s/_b.md", "c.md" })
  lu.assertEquals(loaded.text, "end\n")
end

TestPlainCells = {}

function TestPlainCells:test_a_cell_becomes_a_code_block_that_pandoc_understands()
  local cells = {}
  local lines = { "```{r my-label, echo=FALSE, fig.cap='A cap'}", "#| fig-alt: words", "x", "```" }
  lu.assertEquals(cells_of.mark(lines, false, cells, error), { '```{.r .cell-code ask-book-cell="1"}', "x", "```" })
  lu.assertEquals(cells[1].options.label, "my-label")
  lu.assertEquals(cells[1].options.echo, false)
  lu.assertEquals(cells[1].options["fig-cap"], "A cap")
  lu.assertEquals(pandoc.utils.stringify(cells[1].options["fig-alt"]), "words")
end

function TestPlainCells:test_fences_that_are_no_cells()
  for _, fence in ipairs({ "```python", "```{.python}", "```{=html}", "```{#id .r}", "````" }) do
    local lines = { fence, "x", fence:match("^`+") }
    lu.assertEquals(cells_of.mark(lines, false, {}, error), lines)
  end
end

function TestPlainCells:test_a_cell_that_never_ends_stays_as_it_is()
  lu.assertEquals(cells_of.mark({ "```{r}", "x" }, false, {}, error), { "```{r}", "x" })
end

TestPlainShortcodes = {}

local function expanded(text, meta)
  local context = { config = { book = { title = "The *book*" } }, variables = { a = { b = 3 } }, environment = function() end }
  return shortcodes.expand(text, false, context, meta or {})
end

function TestPlainShortcodes:test_values()
  lu.assertEquals(expanded("{{< meta book.title >}} {{<var a.b>}} {{< env NO 'or this' >}}"), "The *book* 3 or this")
  lu.assertEquals(expanded("{{< meta none >}} {{< unknown x=1 >}}."), "?meta:none .")
end

function TestPlainShortcodes:test_escapes_are_shown()
  lu.assertEquals(expanded("{{{< meta a >}}} {{</* meta a */>}}"), "{{< meta a >}} {{< meta a >}}")
end

TestPlainWords = {}

function TestPlainWords:test_every_language_has_every_word()
  local english = words.of("en", {})
  for _, lang in ipairs({ "es", "fr", "pt", "de", "it" }) do
    local own = words.of(lang, {})
    for name in pairs(english) do
      lu.assertNotNil(own[name], lang .. " " .. name)
    end
  end
  lu.assertEquals(words.of("es-MX", {}).fig, "Figura")
  lu.assertEquals(words.of("xx", {}).fig, "Figure")
end

function TestPlainWords:test_the_author_has_the_last_word()
  local titles, prefixes = words.of("fr", { crossref = { ["fig-prefix"] = "fig." }, language = { ["crossref-tbl-title"] = "Tableau" } })
  lu.assertEquals({ titles.fig, prefixes.fig, titles.tbl, prefixes.tbl }, { "Figure", "fig.", "Tableau", "Tableau" })
end
