--- A chapter as `book.js` has it: what follows from the rest is left out, and the panel works it out again
--- (`expand` in `widget/local.js`). A book then weighs a fifth less.
---
--- A block is its text, or [text, kind, context, label] without what is empty at the end; a kind of "" is a paragraph.
--- A section has a `path` only where it is not the path of the section around it and its own title. `chunks` are counts
--- of blocks. A label is its text, or [text, anchor] where the anchor is not the label itself.
local json = require("json")

local brief = {}

---@param values string[]
---@return string JSON: the first alone when all others are empty
local function trimmed(values)
  local last = #values
  while last > 1 and values[last] == "" do
    last = last - 1
  end
  return last == 1 and json.string(values[1]) or json.strings(table.move(values, 1, last, 1, {}))
end

---@param block Block
---@return string
local function block_json(block)
  return trimmed({ block.text, block.kind == "para" and "" or block.kind, block.context, block.label })
end

---@param section Section
---@param around string[] path of the section around it
---@return string
local function section_json(section, around)
  local heading, blocks = section.heading, {}
  for i, block in ipairs(section.blocks) do
    blocks[i] = block_json(block)
  end
  local fields = { "level", heading.level, "title", heading.title, "number", heading.number, "anchor", heading.anchor }
  local path = table.move(around, 1, #around, 1, {})
  path[#path + 1] = heading.title
  local own = json.strings(heading.path)
  return ('%s%s,"blocks":[%s]}'):format(
    json.object(fields):sub(1, -2), own == json.strings(path) and "" or ',"path":' .. own, table.concat(blocks, ",")
  )
end

---@param head (string|integer)[] what the manifest says of the chapter
---@param chapter Chapter
---@param pieces Piece[]
---@return string
function brief.chapter(head, chapter, pieces)
  local sections, counts, labels, above = {}, {}, {}, {}
  for i, section in ipairs(chapter.sections) do
    while #above > 0 and above[#above].level >= section.heading.level do
      table.remove(above)
    end
    sections[i] = section_json(section, #above > 0 and above[#above].path or {})
    above[#above + 1] = section.heading
  end
  for i, piece in ipairs(pieces) do
    counts[i] = #piece.blocks
  end
  for i, label in ipairs(chapter.labels) do
    local is_own = label.anchor == label.id
    local target = is_own and json.string(label.text) or json.strings({ label.text, label.anchor })
    labels[i] = json.string(label.id) .. ":" .. target
  end
  return ('%s,"sections":[%s],"chunks":[%s],"labels":{%s}}'):format(
    json.object(head):sub(1, -2), table.concat(sections, ","), table.concat(counts, ","), table.concat(labels, ",")
  )
end

return brief
