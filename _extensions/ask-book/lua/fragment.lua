--- The part of the manifest that comes from one page, as text ready to be put between its neighbours.
local brief = require("brief")
local chunks = require("chunks")
local json = require("json")

local fragment = {}

-- Stands for the chapter's index, which only the whole book knows; JSON never has this character bare.
local INDEX = "\1"

---@class Fragment
---@field counts string "sections=3 blocks=…"
---@field chapter string JSON
---@field brief string JSON
---@field chunks string JSON objects with commas between, or ""
---@field labels string[] alternating: id, JSON

---@param file string
---@param sections Section[]
---@return table<Section, string> ids: the file and the anchor, told apart where that is not enough
local function section_ids(file, sections)
  local ids, times = {}, {}
  for _, section in ipairs(sections) do
    local anchor = section.heading.anchor
    local id = anchor == "" and file or file .. "#" .. anchor
    times[id] = (times[id] or 0) + 1
    ids[section] = times[id] == 1 and id or id .. "~" .. times[id]
  end
  return ids
end

---Offsets of the blocks in the chapter's text: all texts joined by a newline.
---@param sections Section[]
---@return table<Block, integer> starts in code points
---@return integer size of the chapter
local function offsets(sections)
  local starts, at = {}, 0
  for _, section in ipairs(sections) do
    for _, block in ipairs(section.blocks) do
      starts[block] = at
      at = at + utf8.len(block.text) + 1
    end
  end
  return starts, math.max(0, at - 1)
end

---@param block Block
---@param start integer
---@return string
local function block_json(block, start)
  return ('{"kind":"%s","start":%d,"end":%d,"text":%s,"context":%s,"label":%s}'):format(
    block.kind, start, start + utf8.len(block.text),
    json.string(block.text), json.string(block.context), json.string(block.label)
  )
end

---@param section Section
---@param id string
---@param start integer
---@param stop integer
---@param starts table<Block, integer>
---@return string
local function section_json(section, id, start, stop, starts)
  local heading = section.heading
  local blocks = {}
  for i, block in ipairs(section.blocks) do
    blocks[i] = block_json(block, starts[block])
  end
  local head = json.object({
    "id", id, "anchor", heading.anchor, "level", heading.level, "title", heading.title, "number", heading.number,
  })
  return ('%s,"heading_path":%s,"start":%d,"end":%d,"blocks":[%s]}'):format(
    head:sub(1, -2), json.strings(heading.path), start, stop, table.concat(blocks, ",")
  )
end

---@param file string
---@param pieces Piece[]
---@param ids table<Section, string>
---@param starts table<Block, integer>
---@param size integer
---@return string
local function chunks_json(file, pieces, ids, starts, size)
  local encoded, times = {}, {}
  for i, piece in ipairs(pieces) do
    local words = { file, table.concat(piece.section.heading.path, "\n") }
    for _, block in ipairs(piece.blocks) do
      words[#words + 1] = block.text
    end
    local content = table.concat(words, "\n")
    times[content] = (times[content] or 0) + 1
    local id = pandoc.utils.sha1(content .. "\n" .. times[content]):sub(1, 16)
    local stop = pieces[i + 1] and starts[pieces[i + 1].blocks[1]] or size
    encoded[i] = ('{"id":"%s","chapter":%s,"section":%s,"start":%d,"end":%d}'):format(
      id, INDEX, json.string(ids[piece.section]), starts[piece.blocks[1]], stop
    )
  end
  return table.concat(encoded, ",")
end

---@param file string source path of the chapter
---@param href string
---@param chapter Chapter
---@return Fragment
function fragment.make(file, href, chapter)
  local starts, size = offsets(chapter.sections)
  local ids = section_ids(file, chapter.sections)
  local sections, blocks = {}, 0
  for i, section in ipairs(chapter.sections) do
    local following = chapter.sections[i + 1]
    local start = section.blocks[1] and starts[section.blocks[1]] or 0
    sections[i] = section_json(section, ids[section], start, following and starts[following.blocks[1]] or size, starts)
    blocks = blocks + #section.blocks
  end
  local pieces = chunks.cut(chapter.sections)
  local body = ('"sections":[%s]}'):format(table.concat(sections, ","))
  local head = { "file", file, "href", href, "title", chapter.title, "number", chapter.number, "part", chapter.part }
  local for_pages = brief.chapter(head, chapter, pieces)
  head[#head + 1], head[#head + 2] = "hash", pandoc.utils.sha1(json.object(head) .. body):sub(1, 16)

  local labels = {}
  for _, label in ipairs(chapter.labels) do
    local target = label.anchor == "" and href or href .. "#" .. label.anchor
    labels[#labels + 1] = label.id
    labels[#labels + 1] = json.object({ "href", target, "text", label.text, "caption", label.caption })
  end
  return {
    counts = ("sections=%d blocks=%d chunks=%d chars=%d"):format(#sections, blocks, #pieces, size),
    chapter = ('{"index":%s,%s,%s'):format(INDEX, json.object(head):sub(2, -2), body),
    brief = for_pages,
    chunks = chunks_json(file, pieces, ids, starts, size),
    labels = labels,
  }
end

---@param made Fragment
---@return string
function fragment.to_text(made)
  return table.concat({ made.counts, made.chapter, made.brief, made.chunks, table.unpack(made.labels) }, "\n")
end

---@param stored string
---@return Fragment
function fragment.from_text(stored)
  local lines, pos = {}, 1
  while pos do
    local stop = stored:find("\n", pos, true)
    lines[#lines + 1] = stored:sub(pos, (stop or 0) - 1)
    pos = stop and stop + 1
  end
  return {
    counts = lines[1], chapter = lines[2], brief = lines[3], chunks = lines[4],
    labels = table.move(lines, 5, #lines, 1, {}),
  }
end

---@param text string
---@param index integer from 0
---@param times? integer how often the text has it, if that is known: looking for more takes time
---@return string
function fragment.at(text, index, times)
  return (text:gsub(INDEX, tostring(index), times))
end

return fragment
