--- Passages of the size that retrieval works on: they follow the sections and end where blocks end.
local chunks = {}

local MAX_CHARS = 1800
local AIM_CHARS = 1500
local MIN_USEFUL = 80

---@class Piece consecutive blocks of a chapter
---@field section Section the one that most of its text is from
---@field blocks Block[]
---@field size integer code points, with the newlines between blocks
---@field useful integer code points that are not spaces, headings apart

---@param block Block
---@return integer
local function useful_chars(block)
  return block.kind == "heading" and 0 or utf8.len((block.text:gsub("%s+", "")))
end

---@param section Section
---@return Piece
local function piece(section)
  return { section = section, blocks = {}, size = 0, useful = 0 }
end

---@param to Piece
---@param block Block
local function add(to, block)
  to.blocks[#to.blocks + 1] = block
  to.size = to.size + utf8.len(block.text) + 1
  to.useful = to.useful + useful_chars(block)
end

---A heading stays with what it heads, and "as follows:" with what follows.
---@param block Block
---@return boolean
local function may_end(block)
  return block.kind ~= "heading" and not block.text:find("[:：]$")
end

---@param blocks Block[]
---@return integer
local function total_size(blocks)
  local size = 0
  for _, block in ipairs(blocks) do
    size = size + utf8.len(block.text) + 1
  end
  return size
end

---@param section Section
---@return Piece[] of about the same size, none larger than `MAX_CHARS` unless a block is
local function split(section)
  local rest = total_size(section.blocks)
  local pieces = {}
  local current = piece(section)
  local aim = rest / math.ceil(rest / AIM_CHARS)
  for i, block in ipairs(section.blocks) do
    local size = utf8.len(block.text) + 1
    local before = section.blocks[i - 1]
    local full = current.size + size > MAX_CHARS or current.size >= aim
    if full and current.useful > 0 and may_end(before) then
      rest = rest - current.size
      aim = rest / math.ceil(rest / AIM_CHARS)
      pieces[#pieces + 1] = current
      current = piece(section)
    end
    add(current, block)
  end
  pieces[#pieces + 1] = current
  return pieces
end

---@param first Piece
---@param second Piece
---@return Piece
local function join(first, second)
  local larger = first.useful > second.useful and first or second
  local blocks = table.move(second.blocks, 1, #second.blocks, #first.blocks + 1, first.blocks)
  return {
    section = larger.section,
    blocks = blocks,
    size = first.size + second.size,
    useful = first.useful + second.useful,
  }
end

---@param sections Section[]
---@return Piece[] that cover every block once, in order
function chunks.cut(sections)
  local done = {}
  local waiting
  for _, section in ipairs(sections) do
    for _, current in ipairs(#section.blocks > 0 and split(section) or {}) do
      if waiting then
        local is_inside = current.section.heading.level > waiting.section.heading.level
        if is_inside or #done == 0 then
          current = join(waiting, current)
        else
          done[#done] = join(done[#done], waiting)
        end
        waiting = nil
      end
      if current.useful < MIN_USEFUL then
        waiting = current
      else
        done[#done + 1] = current
      end
    end
  end
  if waiting then
    done[math.max(1, #done)] = #done > 0 and join(done[#done], waiting) or waiting
  end
  return done
end

return chunks
