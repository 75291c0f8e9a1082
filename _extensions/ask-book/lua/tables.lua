--- Tables row by row, definition lists term by term.
local html = require("html")
local visible = require("visible")
local words = require("words")

local tables = {}

local groups = { thead = true, tbody = true, tfoot = true }

---@param node Node a row
---@param found? Found
---@return string[] what its cells say; empty ones are left out
local function cells(node, found)
  local out = {}
  for _, child in ipairs(node) do
    local shown = type(child) == "string" or visible(child, node)
    local cell = shown and words.of({ child }, found) or ""
    if cell ~= "" then
      out[#out + 1] = cell
    end
  end
  return out
end

---@param walk Walk
---@param parent Node the table or a group of its rows
---@param scope Scope
---@param header string[] rows of the head, as far as they are read, their cells told apart
local function rows(walk, parent, scope, header)
  for _, child in ipairs(parent) do
    local tag = type(child) == "table" and visible(child, parent) and child.tag
    if groups[tag] then
      rows(walk, child, scope, header)
    elseif tag == "tr" then
      local is_head = parent.tag == "thead"
      local found = words.nothing()
      local row = cells(child, found)
      local around = is_head and scope or walk.within(scope, { context = table.concat(header, " · ") })
      walk:emit(around, "table", table.concat(row, "\t"), found)
      header[#header + 1] = is_head and table.concat(row, " · ") or nil
    else
      walk:flow({ child }, scope)
    end
  end
end

---@param walk Walk
---@param node Node
---@param scope Scope
function tables.table(walk, node, scope)
  rows(walk, node, walk.within(scope, { kind = "table", boxed = true }), {})
end

---@param walk Walk
---@param node Node
---@param scope Scope
function tables.definitions(walk, node, scope)
  local inner = walk.within(scope, { kind = "list", boxed = true })
  local term = ""
  for _, child in ipairs(node) do
    local tag = type(child) == "table" and child.tag
    if tag == "dt" then
      term = words.of(child)
    end
    if not tag or visible(child, node) then
      walk:flow({ child }, tag == "dd" and walk.within(inner, { context = term }) or inner)
    end
  end
end

---The label of a tab is read just before what the tab shows, wherever the page has it.
---@param walk Walk
---@param node Node a `div.panel-tabset`
---@param scope Scope
function tables.tabset(walk, node, scope)
  local labels = {}
  html.find(node, function(child)
    if html.attribute(child, "role") == "tab" then
      labels[html.attribute(child, "aria-controls") or ""] = child
    end
  end)
  local inner = walk.within(scope, { boxed = true })
  for _, content in ipairs(node) do
    local classes = type(content) == "table" and html.classes(content) or {}
    local panes = classes["tab-content"] and content or classes["nav-tabs"] and {} or { content }
    for _, pane in ipairs(panes) do
      local label = type(pane) == "table" and labels[html.attribute(pane, "id") or "?"]
      if label then
        walk:flow({ label }, inner)
      end
      walk:flow({ pane }, inner)
    end
  end
end

return tables
