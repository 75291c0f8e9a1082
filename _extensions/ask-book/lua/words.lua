--- The words of a piece of a page, as a reader sees them.
local entities = require("entities")
local formulas = require("formulas")
local html = require("html")
local visible = require("visible")

local words = {}

---@class Found what `gather` meets on its way
---@field alts string[] alternative texts of images: they help to find, but are not on the page
---@field notes string[] ids of the footnotes that are called
---@field equations {id: string, number: string}[] displayed formulas with an id
---@field formulas integer

---@return Found
function words.nothing()
  return { alts = {}, notes = {}, equations = {}, formulas = 0 }
end

-- Spaces and control characters as bytes: what "%s" and "%c" mean depends on the machine's locale.
local BLANK = "[\0-\32\127]+"

-- What Unicode and browsers call a space, beyond ASCII.
local wide_spaces = { "\u{A0}", "\u{1680}", "\u{202F}", "\u{205F}", "\u{3000}", "\u{FEFF}" }

---@param source string
---@return string each run of white space or control characters as one space, none at the ends
function words.collapse(source)
  if source:find("[\xC2\xE1-\xEF]") then
    for _, space in ipairs(wide_spaces) do
      source = source:gsub(space, " ")
    end
    source = source:gsub("\xE2\x80[\x80-\x8A\xA8\xA9]", " ")
  end
  return (source:gsub(BLANK, " "):gsub("^ ", ""):gsub(" $", ""))
end

local gather

---@param node Node
---@param out string[]
---@param found Found
local function gather_children(node, out, found)
  for _, child in ipairs(node) do
    gather(child, out, found, node)
  end
end

---@param node Node
---@param classes table<string, boolean>
---@return string
local function formula(node, classes)
  local source = node.tag == "img" and html.attribute(node, "alt") or words.of(formulas.tex(node) or node)
  return formulas.delimit(node, classes, words.collapse(source))
end

---@param node Node
---@param out string[]
---@param found Found
local function gather_drawing(node, out, found)
  for _, child in ipairs(node) do
    if type(child) == "table" and visible(child) then
      if child.tag == "text" or child.tag == "foreignobject" then
        out[#out + 1] = " "
        gather_children(child, out, found)
        out[#out + 1] = " "
      else
        gather_drawing(child, out, found)
      end
    end
  end
end

---@param node Node|string
---@param out string[] receives pieces of text, white space as in the page
---@param found Found
---@param parent? Node
function gather(node, out, found, parent)
  if type(node) == "string" then
    out[#out + 1] = entities.decode(node)
    return
  end
  local tag, classes = node.tag, node.raw ~= "" and html.classes(node) or {}
  if classes["footnote-ref"] then
    found.notes[#found.notes + 1] = (html.attribute(node, "href") or ""):match("#(.+)$")
  elseif not visible(node, parent) then
    return
  elseif tag == "br" then
    out[#out + 1] = "\n"
  elseif formulas.is(node, classes) then
    found.formulas = found.formulas + 1
    out[#out + 1] = formula(node, classes)
  elseif tag == "img" then
    local alt = words.collapse(html.attribute(node, "alt") or "")
    found.alts[#found.alts + 1] = alt ~= "" and alt or nil
  elseif tag == "svg" then
    gather_drawing(node, out, found)
  else
    local space = node.block and " " or nil
    local id = html.attribute(node, "id")
    local start = #out
    out[#out + 1] = space
    gather_children(node, out, found)
    out[#out + 1] = space
    if id and id:find("^eq%-") then
      local number = formulas.number(table.concat(out, "", start + 1))
      found.equations[#found.equations + 1] = number and { id = id, number = number }
    end
  end
end

---@param nodes (Node|string)[]
---@param found? Found
---@return string collapsed
function words.of(nodes, found)
  local out = {}
  gather_children(nodes, out, found or words.nothing())
  return words.collapse(table.concat(out))
end

---@param node Node a `pre`
---@return string its text with its lines and spaces
function words.code(node)
  local out = {}
  gather_children(node, out, words.nothing())
  local code = table.concat(out):gsub("[\0-\8\11-\31\127]", "")
  return (code:gsub("^[\t-\r ]*\n", ""):gsub("[\t-\r ]+$", ""))
end

return words
