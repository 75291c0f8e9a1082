local chunks = require("chunks")
local lu = require("luaunit")

--- A section from sizes: a number is a paragraph of so many characters, a text a block of its own.
local function section(level, items)
  local blocks = { { kind = "heading", text = "Title" } }
  for _, item in ipairs(items) do
    local text = type(item) == "number" and ("x"):rep(item) or item
    blocks[#blocks + 1] = { kind = "para", text = text }
  end
  return { heading = { level = level }, blocks = blocks }
end

--- How many blocks each piece has.
local function counts(sections)
  local result = {}
  for i, piece in ipairs(chunks.cut(sections)) do
    result[i] = #piece.blocks
  end
  return result
end

TestChunks = {}

function TestChunks:test_a_section_of_moderate_size_is_one()
  lu.assertEquals(counts({ section(2, { 900, 800 }), section(2, { 300 }) }), { 3, 2 })
end

function TestChunks:test_a_long_section_is_split_evenly()
  lu.assertEquals(counts({ section(2, { 500, 500, 500, 500 }) }), { 3, 2 })
end

function TestChunks:test_no_piece_ends_with_a_heading_or_a_colon()
  local long = section(2, { 900, "As follows:", 1000 })
  table.insert(long.blocks, 3, { kind = "heading", text = "Inner" })
  lu.assertEquals(counts({ long }), { 2, 3 })
end

function TestChunks:test_a_block_longer_than_the_limit_stays_whole()
  lu.assertEquals(counts({ section(2, { 100, 5000, 100 }) }), { 2, 1, 1 })
end

function TestChunks:test_a_tiny_section_joins_its_first_subsection()
  local tiny, inner = section(2, { 10 }), section(3, { 200 })
  local pieces = chunks.cut({ section(2, { 200 }), tiny, inner })
  lu.assertEquals(#pieces, 2)
  lu.assertIs(pieces[2].section, inner)
  lu.assertEquals(#pieces[2].blocks, 4)
end

function TestChunks:test_a_tiny_section_joins_the_one_before_when_nothing_is_inside_it()
  lu.assertEquals(counts({ section(2, { 200 }), section(2, { 10 }), section(2, { 200 }) }), { 4, 2 })
end

function TestChunks:test_tiny_sections_alone_are_one()
  lu.assertEquals(counts({ section(2, {}), section(2, {}), section(2, { 5 }) }), { 4 })
end
