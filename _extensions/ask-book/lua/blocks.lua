--- What each element of a page is: sections, code, boxes, lists …
local figures = require("figures")
local html = require("html")
local tables = require("tables")
local words = require("words")

---@type table<string, fun(walk: Walk, node: Node, scope: Scope)>
local blocks = {
  table = tables.table,
  dl = tables.definitions,
  figure = figures.figure,
  figcaption = figures.caption,
}

---@param kind string
---@return fun(walk: Walk, node: Node, scope: Scope)
local function box(kind)
  return function(walk, node, scope)
    walk:flow(node, walk.within(scope, { kind = kind, boxed = true }))
  end
end

local callout = box("callout")
local item = box("list")
blocks.blockquote = box("quote")

---@param walk Walk
---@param node Node
---@param scope Scope
local function heading(walk, node, scope)
  local found = words.nothing()
  walk:emit(scope, "heading", words.of(node, found), found)
end
for level = 1, 6 do
  blocks["h" .. level] = heading
end

---@param node? Node
---@return string title
---@return string number as the reader sees it, or ""
local function title_and_number(node)
  local title, number = {}, ""
  for _, child in ipairs(node or {}) do
    if type(child) == "table" and html.classes(child)["header-section-number"] then
      number = words.of(child)
    else
      title[#title + 1] = child
    end
  end
  return words.of(title), number
end

---@param walk Walk
---@param node Node
---@param scope Scope
---@param level integer
local function section(walk, node, scope, level)
  local head = html.find(node, function(child)
    return child.tag == "h" .. level
  end)
  local title, number = title_and_number(head)
  local path = table.move(scope.heading.path, 1, #scope.heading.path, 1, {})
  path[#path + 1] = title ~= "" and title or nil
  local anchor = walk:anchor(node)
  local own = { anchor = anchor, level = level, title = title, number = number, path = path }
  if anchor:find("^sec%-") then
    local term = level == 1 and walk.terms.chapter or walk.terms.section
    walk:label(anchor, number ~= "" and term .. " " .. number or "", title)
  end
  walk:flow(node, walk.within(scope, { heading = own }))
end

---Notes and references follow the last section of a page, often without a heading of their own.
---@param walk Walk
---@param node Node
---@param scope Scope
---@param title string
---@param kind string
local function back_matter(walk, node, scope, title, kind)
  local anchor = walk:anchor(node)
  local heading_here = scope.heading
  if anchor ~= "" and not walk.outline:is_bare(heading_here) then
    heading_here = { anchor = anchor, level = 2, title = title, number = "", path = { title } }
  end
  walk:flow(node, walk.within(scope, { heading = heading_here, kind = kind, boxed = true }))
end

---@param walk Walk
---@param node Node
---@param scope Scope
function blocks.section(walk, node, scope)
  local class = html.attribute(node, "class") or ""
  local level = not scope.boxed and class:match("%f[%w]level([1-4])%f[%W]")
  if level then
    section(walk, node, scope, math.tointeger(level))
  elseif html.classes(node).footnotes then
    back_matter(walk, node, scope, walk.terms.notes, "footnote")
  else
    walk:flow(node, scope)
  end
end

---The source of a diagram is drawn by the browser: its words only help to find the place.
---@param walk Walk
---@param node Node
---@param scope Scope
function blocks.pre(walk, node, scope)
  local shown = words.code(node)
  if html.classes(node).mermaid then
    walk.outline:annotate(scope.heading, { words.collapse(shown) })
  else
    walk:emit(scope, scope.output and "output" or "code", shown, words.nothing())
  end
end

---@param walk Walk
---@param node Node
---@param scope Scope
---@return boolean done
local function footnote(walk, node, scope)
  local id = html.attribute(node, "id") or ""
  if not id:find("^fn%d+$") then
    return false
  end
  walk:flow(node, walk.within(scope, { kind = "footnote", context = walk.callers[id] or "", boxed = true }))
  return true
end

---@param walk Walk
---@param node Node
---@param scope Scope
function blocks.li(walk, node, scope)
  if not footnote(walk, node, scope) then
    item(walk, node, scope)
  end
end

---@param walk Walk
---@param node Node
---@param scope Scope
function blocks.div(walk, node, scope)
  local classes = html.classes(node)
  local id = html.attribute(node, "id") or ""
  if id == "refs" then
    back_matter(walk, node, scope, walk.terms.references, "list")
  elseif footnote(walk, node, scope) then
    return
  elseif classes.callout then
    callout(walk, node, scope)
  elseif classes["panel-tabset"] then
    tables.tabset(walk, node, scope)
  elseif classes.theorem then
    figures.theorem(walk, node, scope)
  elseif id ~= "" and (classes["quarto-float"] or classes["quarto-layout-panel"]) then
    figures.float(walk, node, scope)
  elseif classes["cell-output"] then
    walk:flow(node, walk.within(scope, { output = true }))
  else
    walk:flow(node, scope)
  end
end

return blocks
