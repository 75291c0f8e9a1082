--- A rendered page as a chapter: its title and number, its sections with their blocks, its labels.
local blocks = require("blocks")
local html = require("html")
local labels = require("labels")
local terms = require("terms")
local Walk = require("walk")
local words = require("words")

---@class Chapter
---@field title string
---@field number string
---@field part string
---@field sections Section[]
---@field labels Label[]

---@param page Node
---@param class string
---@return string
local function first_text(page, class)
  local node = html.find(page, html.with_class(class))
  return node and words.of(node) or ""
end

---The trail of links above the title: parts and the chapter, with its number and bare title.
---@param page Node
---@return Node[]
local function crumbs(page)
  local found = {}
  local list = html.find(page, function(node)
    return node.tag == "ol" and html.classes(node).breadcrumb
  end)
  for _, item in ipairs(list or {}) do
    if type(item) == "table" then
      found[#found + 1] = item
    end
  end
  return found
end

---"Appendix A — Methods" carries its number inside: the trail of links has it apart.
---@param head? Node the title
---@param shown string the title as the reader sees it
---@param trail Node[]
---@param given {title?: string, number?: string, part?: string}
---@return string title
---@return string number
local function title_and_number(head, shown, trail, given)
  local number = head and first_text(head, "chapter-number") or ""
  if number ~= "" then
    return first_text(head, "chapter-title"), number
  end
  local last = trail[#trail]
  if last then
    local title
    number, title = first_text(last, "chapter-number"), first_text(last, "chapter-title")
    if number ~= "" and title ~= "" and shown:sub(-#title) == title then
      return title, number
    end
  end
  local name, title = shown:match("^%S+ (%u) — (.+)$")
  if name then
    return title, name
  end
  return shown ~= "" and shown or given.title or "", given.number or ""
end

---@param source string the page, valid UTF-8
---@param given {title?: string, number?: string, part?: string} what the book says where the page does not
---@param book {title: string, lang: string}
---@return Chapter
return function(source, given, book)
  local page, owners = html.parse(source)
  local root = html.find(page, function(node)
    return node.tag == "html"
  end)
  local said = terms(root and html.attribute(root, "lang") or book.lang)
  local main = html.find(page, function(node)
    return node.tag == "main"
  end) or html.find(page, function(node)
    return node.tag == "body"
  end) or page
  local banner = owners["title-block-header"]
  local head = html.find(banner or main, function(node)
    return node.tag == "h1"
  end)
  local trail = crumbs(page)
  local title, number = title_and_number(head, head and words.of(head) or "", trail, given)
  if title == "" then
    title = book.title
  end

  local top = { anchor = "", level = 1, title = title, number = number, path = {} }
  local scope = { heading = top, kind = "para", label = "", context = "", output = false, boxed = false }
  local walk = Walk.new(owners, said, blocks)
  local id = head and html.find(head, html.with_class("quarto-section-identifier"))
  if id then
    local term = number:find("^%d") and said.chapter or said.appendix
    walk:label(html.attribute(id, "id"), number ~= "" and term .. " " .. number or "", title).anchor = ""
  end
  local is_inside = banner and html.find(main, function(node)
    return node == banner
  end)
  if banner and not is_inside then
    walk:flow({ banner }, scope)
  end
  walk:flow(main, scope)
  labels.complete(walk.labels)

  local part = given.part or ""
  if part == "" and #trail > 1 then
    part = words.of(trail[1])
  end
  local sections = walk.outline.sections
  if #sections == 0 then
    sections = { { heading = top, blocks = {} } }
  end
  return { title = title, number = number, part = part, sections = sections, labels = walk.labels }
end
