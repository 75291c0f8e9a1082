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
  return block.kind == "heading" and 0 or utf8.len((block.text:gsub("[\t-\r ]+", "")))
end

---A heading stays with what it heads, and "as follows:" with what follows.
---@param block Block
---@return boolean
local function may_end(block)
  return block.kind ~= "heading" and not (block.text:find(":$") or block.text:find("：$"))
end

---@param section Section
---@param blocks Block[]
---@param from integer
---@param to integer
---@return Piece
local function piece(section, blocks, from, to)
  local made = { section = section, blocks = table.move(blocks, from, to, 1, {}), size = 0, useful = 0 }
  for _, block in ipairs(made.blocks) do
    made.size = made.size + utf8.len(block.text) + 1
    made.useful = made.useful + useful_chars(block)
  end
  return made
end

---@param size integer
---@return number the size of equal parts that are not too large
local function fair_share(size)
  return size <= MAX_CHARS and size or size / math.ceil(size / AIM_CHARS)
end

---@param section Section
---@return Piece[] of about the same size, none larger than `MAX_CHARS` unless a block is
local function split(section)
  local blocks, pieces = section.blocks, {}
  local rest = piece(section, blocks, 1, #blocks).size
  local first, size, aim = 1, 0, fair_share(rest)
  for i, block in ipairs(blocks) do
    local own = utf8.len(block.text) + 1
    if size > 0 and (size + own > MAX_CHARS or size >= aim) then
      local last = i - 1
      while last >= first and not may_end(blocks[last]) do
        last = last - 1
      end
      if last >= first then
        local done = piece(section, blocks, first, last)
        pieces[#pieces + 1] = done
        rest, size, first = rest - done.size, size - done.size, last + 1
        aim = fair_share(rest)
      end
    end
    size = size + own
  end
  pieces[#pieces + 1] = piece(section, blocks, first, #blocks)
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
