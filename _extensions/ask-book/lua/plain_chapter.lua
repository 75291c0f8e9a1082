--- A chapter's blocks as Quarto would have written them.
---
--- References to figures, sections and so on stay as comments (`REFERENCE`) in the HTML: what
--- they point to may be in a chapter that comes later.

local text_of = require("plain_text")
local state = require("plain_state")
require("plain_conditions")
require("plain_floats")
require("plain_divs")
require("plain_code")

local M = { inlines = state.inlines, as_inlines = state.as_inlines, inline_html = state.inline_html }
M.block_html, M.KINDS = state.block_html, state.KINDS
local Chapter = state.Chapter

--- A reference in a page's HTML that is still to be filled in: id, mode, prefix.
M.REFERENCE = "<!%-%-ask%-book%-ref ([^ ]+) (%w+) (.-)%-%->"

---@param header any
---@return any
function Chapter:header(header)
  local level, counters = header.level, self.counters
  local title, number = state.inline_html(header.content), ""
  if not header.classes:includes("unnumbered") and not header.classes:includes("-") then
    counters[level] = (counters[level] or 0) + 1
    for deeper = level + 1, 6 do
      counters[deeper] = 0
    end
    if level == 1 then
      self.counts = {}
    end
    local parts = {}
    for at = 1, level do
      parts[at] = tostring(counters[at] or 0)
    end
    if self.appendix and parts[1] == "1" then
      parts[1] = self.number
    elseif not self.numbered and parts[1] == "0" then
      table.remove(parts, 1)
    end
    number = table.concat(parts, ".")
  end
  local numbered = number ~= "" and self.numbered and level <= self.book.number_depth
  if header.identifier:match("^sec%-") then
    local kind = level == 1 and (self.appendix and "appendix" or "chapter") or "sec"
    self:label(header.identifier, kind, self.book.number_sections and number or "", title)
  end
  if numbered then
    header.attributes["data-number"] = number
    header.content:insert(1, pandoc.Space())
    header.content:insert(1, pandoc.Span(number, { class = "header-section-number" }))
  end
  if not header.classes:includes("unlisted") then
    local shown = numbered and number or ""
    self.toc[#self.toc + 1] = { level = level, id = header.identifier, html = title, number = shown }
  end
  return header
end

---@param block any
---@return any block or blocks
function Chapter:block(block)
  local t = block.t
  if t == "Para" or t == "Plain" then
    return self:lone_picture(block) or self:equations(block) or block
  elseif t == "Header" then
    return self:header(block)
  elseif t == "Div" then
    return self:div(block)
  elseif t == "CodeBlock" then
    return self:code(block)
  elseif t == "Figure" then
    return self:figure(block)
  elseif t == "Table" then
    return self:table(block)
  elseif t == "BlockQuote" then
    block.content = self:blocks(block.content)
  elseif t == "BulletList" or t == "OrderedList" then
    local items = {}
    for at, item in ipairs(block.content) do
      items[at] = self:blocks(pandoc.Blocks(item))
    end
    block.content = items
  elseif t == "DefinitionList" then
    local items = {}
    for at, item in ipairs(block.content) do
      local definitions = {}
      for n, definition in ipairs(item[2]) do
        definitions[n] = self:blocks(pandoc.Blocks(definition))
      end
      items[at] = { item[1], definitions }
    end
    block.content = items
  end
  return block
end

---@param blocks any
---@return any
function Chapter:blocks(blocks)
  local out = pandoc.Blocks({})
  for _, block in ipairs(blocks) do
    local result = self:block(block)
    if result.t then
      out:insert(result)
    else
      out:extend(result)
    end
  end
  return out
end

--- Starts a chapter.
---@param book PlainBook
---@param loaded PlainSource
---@param number string
---@param appendix boolean
---@param home boolean
---@return PlainChapter
function M.new(book, loaded, number, appendix, home)
  local own = loaded.meta["number-sections"]
  local numbered = book.number_sections and number ~= ""
  if own ~= nil then
    numbered = numbered and not text_of.is_false(own)
  end
  return setmetatable({
    book = book,
    cells = loaded.cells,
    meta = loaded.meta,
    number = number,
    appendix = appendix,
    numbered = numbered,
    counters = { appendix and 1 or home and 0 or tonumber(number) or 0 },
    counts = {},
    labels = {},
    toc = {},
    tabsets = 0,
    cites = {},
    cited = {},
  }, Chapter)
end

return M
