--- Goes over a page in reading order and turns what it meets into blocks.
local html = require("html")
local outline = require("outline")
local visible = require("visible")
local words = require("words")

---@class Scope what holds at a place of the page
---@field heading Heading
---@field kind string what plain text is here
---@field label string id of the figure, table or theorem around
---@field outer? string the label around that one
---@field context string
---@field output boolean what code has printed
---@field boxed boolean inside a callout, tab, cell …: headings cut no section here
---@field figure? Figure

---@class Figure
---@field alts string[]
---@field caption? Block

---@class Walk
---@field outline Outline
---@field owners table<string, Node> the element that each id leads to
---@field terms table<string, string>
---@field labels Label[]
---@field callers table<string, string> id of a footnote to the title of the section that calls it
---@field handlers table<string, fun(walk: Walk, node: Node, scope: Scope)> by tag
local Walk = {}
Walk.__index = Walk

---@param owners table<string, Node>
---@param terms table<string, string>
---@param handlers table<string, fun(walk: Walk, node: Node, scope: Scope)>
---@return Walk
function Walk.new(owners, terms, handlers)
  return setmetatable({
    outline = outline.new(), owners = owners, terms = terms, labels = {}, callers = {}, handlers = handlers,
  }, Walk)
end

---@param scope Scope
---@param changes table
---@return Scope
function Walk.within(scope, changes)
  for key, value in pairs(scope) do
    if changes[key] == nil then
      changes[key] = value
    end
  end
  return changes
end

---@param node Node
---@return string its id if a link to that id leads to it, else ""
function Walk:anchor(node)
  local id = html.attribute(node, "id") or ""
  return self.owners[id] == node and id or ""
end

---@param alts string[]
---@return string[]
function Walk:spoken(alts)
  local spoken = {}
  for i, alt in ipairs(alts) do
    spoken[i] = ("[%s: %s]"):format(self.terms.figure, alt)
  end
  return spoken
end

---@param id string
---@param name string
---@param caption string
---@return Label
function Walk:label(id, name, caption)
  local label = { id = id, anchor = id, text = name, caption = caption }
  self.labels[#self.labels + 1] = label
  return label
end

---Nothing to show is no block: what was found on the way goes to the figure around or a neighbour.
---@param scope Scope
---@param kind string
---@param shown string
---@param found Found
---@return Block|nil
function Walk:emit(scope, kind, shown, found)
  for _, id in ipairs(found.notes) do
    self.callers[id] = self.callers[id] or scope.heading.title
  end
  if shown == "" then
    if scope.figure then
      table.move(found.alts, 1, #found.alts, #scope.figure.alts + 1, scope.figure.alts)
    elseif #found.alts > 0 then
      self.outline:annotate(scope.heading, self:spoken(found.alts))
    end
    return nil
  end
  local label = scope.label
  for _, equation in ipairs(found.equations) do
    self:label(equation.id, self.terms.equation .. " " .. equation.number, "")
    label = equation.id
  end
  local block = { kind = kind, text = shown, context = scope.context, label = label }
  if #found.alts > 0 then
    outline.annotate(block, self:spoken(found.alts))
  end
  return self.outline:add(scope.heading, block)
end

---@param walk Walk
---@param run (Node|string)[] inline content
---@param scope Scope
local function paragraph(walk, run, scope)
  local found = words.nothing()
  local shown = words.of(run, found)
  local is_formula = found.formulas == 1 and shown:find("^\\%[.*\\%]$")
  walk:emit(scope, is_formula and "math" or scope.kind, shown, found)
end

---A block has one label, so that each equation after the first of a paragraph begins a block.
---@param walk Walk
---@param run (Node|string)[] inline content
---@param scope Scope
local function paragraphs(walk, run, scope)
  local piece, has_equation = {}, false
  for _, node in ipairs(run) do
    local is_equation = type(node) == "table" and (html.attribute(node, "id") or ""):find("^eq%-")
    if is_equation and has_equation then
      paragraph(walk, piece, scope)
      piece = {}
    end
    has_equation = has_equation or is_equation
    piece[#piece + 1] = node
  end
  paragraph(walk, piece, scope)
end

---Blocks one after the other; loose text between them is a paragraph.
---@param node Node|(Node|string)[]
---@param scope Scope
function Walk:flow(node, scope)
  local run = {}
  for _, child in ipairs(node) do
    if type(child) == "string" or not (child.block or child.flow) then
      run[#run + 1] = child
    elseif visible(child, node.tag and node) then
      paragraphs(self, run, scope)
      run = {}
      local handler = self.handlers[child.tag]
      if handler then
        handler(self, child, scope)
      else
        self:flow(child, scope)
      end
    end
  end
  paragraphs(self, run, scope)
end

return Walk
