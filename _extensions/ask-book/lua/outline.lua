--- The sections of a page in reading order, each with its blocks.
local outline = {}

---@class Heading
---@field anchor string an id that leads here, or "" for the top of the page
---@field level integer
---@field title string without its number
---@field number string as the reader sees it
---@field path string[] titles from the outermost section to this one, the chapter's apart

---@class Block
---@field kind string
---@field text string
---@field context string
---@field label string

---@class Section
---@field heading Heading
---@field blocks Block[]

---@class Outline
---@field sections Section[]
---@field pending string[] contexts still without a block
local Outline = {}
Outline.__index = Outline

---@return Outline
function outline.new()
  return setmetatable({ sections = {}, pending = {} }, Outline)
end

---Text after a subsection that belongs to the section around it opens that section once more.
---@param heading Heading
---@param block Block
---@return Block
function Outline:add(heading, block)
  local last = self.sections[#self.sections]
  if not last or last.heading ~= heading then
    last = { heading = heading, blocks = {} }
    self.sections[#self.sections + 1] = last
  end
  last.blocks[#last.blocks + 1] = block
  if #self.pending > 0 then
    local waiting = self.pending
    self.pending = {}
    outline.annotate(block, waiting)
  end
  return block
end

---@param heading Heading
---@return boolean whether a heading is all that there is of the section so far
function Outline:is_bare(heading)
  local last = self.sections[#self.sections]
  return last ~= nil and last.heading == heading and #last.blocks == 1 and last.blocks[1].kind == "heading"
end

---@param block Block
---@param contexts string[]
function outline.annotate(block, contexts)
  local words = table.concat(contexts, " ")
  block.context = block.context == "" and words or block.context .. " " .. words
end

---Words about something that has no text of its own go to the block before it, else to the next one.
---@param heading Heading
---@param contexts string[]
function Outline:annotate(heading, contexts)
  local last = self.sections[#self.sections]
  if last and last.heading == heading then
    outline.annotate(last.blocks[#last.blocks], contexts)
  else
    table.move(contexts, 1, #contexts, #self.pending + 1, self.pending)
  end
end

return outline
