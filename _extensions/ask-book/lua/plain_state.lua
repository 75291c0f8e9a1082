--- A chapter in the making: its numbers, its labels, and the small tools that all its parts use.

local formulas = require("plain_formulas")
local html = require("plain_html")

local M = {}

---@class PlainLabel what `@fig-map` points to
---@field id string
---@field kind string `fig`, `tbl`, `sec`, `chapter`, `appendix`, `thm` …
---@field number string "" when it has none
---@field title string HTML of a heading
---@field top boolean it is the page itself, or has no anchor that is certain

---@class PlainBook what is the same for all chapters
---@field config table
---@field titles PlainWords
---@field prefixes PlainWords
---@field profiles table<string, boolean>
---@field number_sections boolean
---@field number_depth integer
---@field kinds table<string, boolean> prefixes of ids that are cross-references

---@class PlainChapter
---@field book PlainBook
---@field cells PlainCell[]
---@field meta table
---@field number string "3", "A", or "" for a page that has none
---@field counters integer[] the sections so far, by level
---@field counts table<string, integer> the floats and theorems so far, by kind
---@field labels PlainLabel[]
---@field toc { level: integer, id: string, html: string, number: string }[]
---@field appendix boolean
---@field tabsets integer
---@field cites string[] the keys that are cited, in order
---@field cited table<string, boolean>
local Chapter = {}
Chapter.__index = Chapter
M.Chapter = Chapter

local NBSP = "\u{A0}"

--- What the part of an id before its `-` says: such an id is a cross-reference.
M.KINDS = {}
for kind in ("sec fig tbl lst eq nte tip wrn imp cau rem sol thm lem cor prp cnj def exm exr alg"):gmatch("%a+") do
  M.KINDS[kind] = true
end

-- A page of plain text has no margin: what stands there comes after the paragraph.
local NOTES = { margin = "end-of-block", block = "end-of-block", section = "end-of-section" }
local WRITER = pandoc.WriterOptions({
  wrap_text = "none",
  html_math_method = "mathml",
  email_obfuscation = "none",
  section_divs = true,
})

---@param id string
---@return string|nil
function M.kind_of(id)
  return id:match("^(%a+)%-.")
end

---@param text string HTML
---@return any
function M.raw(text)
  return pandoc.RawBlock("html", text)
end

---@param blocks any
---@param notes? string where footnotes go, as Quarto's `reference-location` says it; at the end without
---@return string
function M.block_html(blocks, notes)
  WRITER.reference_location = NOTES[notes] or "end-of-document"
  local text = pandoc.write(pandoc.Pandoc(blocks), "html5", WRITER)
  return (formulas.wrap(text):gsub("\n+$", ""))
end

---@param inlines any
---@return string
function M.inline_html(inlines)
  local parts = {}
  for at, inline in ipairs(inlines) do
    local text = inline.t == "Str" and inline.text or (inline.t == "Space" and " ")
    if not text then
      parts = nil
      break
    end
    parts[at] = text
  end
  if parts then
    return html.escape(table.concat(parts))
  end
  return M.block_html({ pandoc.Plain(inlines) })
end

--- Inlines of a short Markdown text.
---@param text string
---@return any
function M.inlines(text)
  local blocks = pandoc.read(text, "markdown").blocks
  return blocks[1] and blocks[1].content or pandoc.Inlines({})
end

---@param value any metadata
---@return any inlines
function M.as_inlines(value)
  local kind = pandoc.utils.type(value)
  if kind == "Inlines" then
    return value
  elseif kind == "Blocks" then
    return pandoc.utils.blocks_to_inlines(value)
  end
  return M.inlines(pandoc.utils.type(value) == "string" and value or tostring(value))
end

--- The chapter's number with a number in it: "3.2"; only "2" in a chapter without number.
---@param n string|integer
---@return string
function Chapter:within(n)
  local first = self.appendix and self.number or tostring(self.counters[1] or 0)
  return (first == "0" or first == "") and tostring(n) or first .. "." .. n
end

--- The next number of a kind of float, theorem or equation.
---@param kind string
---@return string
function Chapter:next_number(kind)
  self.counts[kind] = (self.counts[kind] or 0) + 1
  return self:within(self.counts[kind])
end

---@param id string
---@param kind string
---@param number string
---@param title string|nil
---@param top boolean|nil
function Chapter:label(id, kind, number, title, top)
  self.labels[#self.labels + 1] = { id = id, kind = kind, number = number, title = title or "", top = top == true }
end

--- "Figure 3.2" as inlines.
---@param kind string
---@param number string
---@return any
function Chapter:name(kind, number)
  return pandoc.Inlines({ pandoc.Str((self.book.titles[kind] or kind) .. NBSP .. number) })
end

return M
