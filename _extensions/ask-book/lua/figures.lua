--- Figures and whatever else has a caption and a number.
local html = require("html")
local labels = require("labels")
local outline = require("outline")
local words = require("words")

local figures = {}

---Alternative texts belong to the caption, unless they only repeat it.
---@param walk Walk
---@param node Node
---@param scope Scope
function figures.figure(walk, node, scope)
  local own = { alts = {} }
  walk:flow(node, walk.within(scope, { figure = own }))
  local alts = {}
  for _, alt in ipairs(own.alts) do
    local is_repeated = own.caption and own.caption.text:find(alt, 1, true)
    alts[#alts + 1] = not is_repeated and alt or nil
  end
  if #alts == 0 then
    return
  elseif own.caption then
    outline.annotate(own.caption, walk:spoken(alts))
  elseif scope.figure then
    table.move(alts, 1, #alts, #scope.figure.alts + 1, scope.figure.alts)
  else
    walk.outline:annotate(scope.heading, walk:spoken(alts))
  end
end

---@param walk Walk
---@param node Node with the id that references lead to
---@param scope Scope
function figures.float(walk, node, scope)
  figures.figure(walk, node, walk.within(scope, { label = walk:anchor(node), outer = scope.label }))
end

---@param walk Walk
---@param node Node
---@param scope Scope
function figures.caption(walk, node, scope)
  local found = words.nothing()
  local shown = words.of(node, found)
  local classes = html.classes(node)
  local kind = classes["quarto-float-tbl"] and "table" or classes["quarto-float-lst"] and "code" or "figure"
  local block = walk:emit(scope, kind, shown, found)
  if scope.figure then
    scope.figure.caption = scope.figure.caption or block
  end
  -- what a float holds may have captions of its own
  if scope.label == "" or not (classes["quarto-float-caption"] or classes["quarto-subfloat-caption"]) then
    return
  end
  local part, rest = shown:match("^%((%w+)%)%s*(.*)$")
  if part then
    local label = walk:label(scope.label, "", rest)
    label.part, label.outer = part, scope.outer
  else
    walk:label(scope.label, labels.split(shown))
  end
end

---@param walk Walk
---@param node Node
---@param scope Scope
function figures.theorem(walk, node, scope)
  local title = html.find(node, html.with_class("theorem-title"))
  local id = walk:anchor(node)
  if title and id ~= "" then
    local name, rest = labels.split(words.of(title))
    walk:label(id, name, (rest:gsub("%)$", "")))
  end
  walk:flow(node, walk.within(scope, { label = id }))
end

return figures
