--- Cuts a page in blocks: the paragraphs, rows, items, captions … that a quote can come from.
local html = require("html")
local outline = require("outline")
local words = require("words")
local visible = require("visible")

---@class Scope where the walk is
---@field heading Heading
---@field kind string what plain text is here
---@field label string id of the figure, table or theorem around
---@field context string
---@field output boolean
---@field boxed boolean inside a callout, tab, cell …: headings cut no section here
---@field figure? Figure

---@class Figure
---@field alts string[]
---@field caption? Block

---@class Page
---@field outline Outline
---@field owners table<string, Node>
---@field terms table<string, string>
---@field labels {id: string, anchor: string, text: string, caption: string}[]
---@field callers table<string, string> id of a footnote to the title of the section that calls it

---@param scope Scope
---@param changes table
---@return Scope
local function within(scope, changes)
  return setmetatable(changes, { __index = scope })
end

---@param page Page
---@param node Node
---@return string its id if a link to that id leads to it, else ""
local function anchor_of(page, node)
  local id = html.attribute(node, "id") or ""
  return page.owners[id] == node and id or ""
end

---@param label string what a caption or a theorem begins with: "Figure 3.2: Rivers of …"
---@return string|nil name "Figure 3.2"
---@return string|nil rest
local function split_label(label)
  local stop = label:match("^[^%d]-[%w.]*%d[%w.]*()")
  if not stop or stop > 60 then
    return nil
  end
  local name, rest = label:sub(1, stop - 1), label:sub(stop)
  return (name:gsub("%.$", "")), (rest:gsub("^[%s%p]+", ""))
end

---@param page Page
---@param id string
---@param name string
---@param caption string
local function add_label(page, id, name, caption)
  page.labels[#page.labels + 1] = { id = id, anchor = id, text = name, caption = caption }
end

---@param page Page
---@param scope Scope
---@param kind string
---@param shown string
---@param found Found
---@return Block|nil
local function emit(page, scope, kind, shown, found)
  for _, id in ipairs(found.notes) do
    page.callers[id] = page.callers[id] or scope.heading.title
  end
  local alts = {}
  for i, alt in ipairs(found.alts) do
    alts[i] = ("[%s: %s]"):format(page.terms.figure, alt)
  end
  if shown == "" then
    if scope.figure then
      table.move(alts, 1, #alts, #scope.figure.alts + 1, scope.figure.alts)
    elseif #alts > 0 then
      page.outline:annotate(scope.heading, alts)
    end
    return nil
  end
  local label = scope.label
  for _, equation in ipairs(found.equations) do
    add_label(page, equation.id, page.terms.equation .. " " .. equation.number, "")
    label = equation.id
  end
  local block = { kind = kind, text = shown, context = scope.context, label = label }
  if #alts > 0 then
    outline.annotate(block, alts)
  end
  return page.outline:add(scope.heading, block)
end

local flow

---@param page Page
---@param node Node
---@param scope Scope
local function heading(page, node, scope)
  local found = words.nothing()
  emit(page, scope, "heading", words.of(node, found), found)
end

---@param page Page
---@param node Node a `section` of a heading H1 to H4
---@param scope Scope
---@param level integer
local function section(page, node, scope, level)
  local title, number = {}, ""
  local head = html.find(node, function(child)
    return child.tag == "h" .. level
  end)
  for _, child in ipairs(head or {}) do
    if type(child) == "table" and html.classes(child)["header-section-number"] then
      number = words.of(child)
    else
      title[#title + 1] = child
    end
  end
  local name = words.of(title)
  local path = table.move(scope.heading.path, 1, #scope.heading.path, 1, {})
  path[#path + 1] = name ~= "" and name or nil
  local own = { anchor = anchor_of(page, node), level = level, title = name, number = number, path = path }
  if own.anchor:find("^sec%-") then
    local term = level == 1 and page.terms.chapter or page.terms.section
    add_label(page, own.anchor, number ~= "" and term .. " " .. number or "", name)
  end
  flow(page, node, within(scope, { heading = own, context = "" }))
end

---Notes and references follow the last section of a page without a heading of their own.
---@param page Page
---@param node Node
---@param scope Scope
---@param title string
---@param kind string
local function back_matter(page, node, scope, title, kind)
  local sections = page.outline.sections
  local last = sections[#sections]
  local anchor = anchor_of(page, node)
  local headed = last and last.heading == scope.heading and #last.blocks == 1 and last.blocks[1].kind == "heading"
  local own = scope.heading
  if anchor ~= "" and not headed then
    own = { anchor = anchor, level = 2, title = title, number = "", path = { title } }
  end
  flow(page, node, within(scope, { heading = own, kind = kind, boxed = true }))
end

---@param page Page
---@param node Node
---@param scope Scope
local function code(page, node, scope)
  if html.classes(node).mermaid then
    page.outline:annotate(scope.heading, { words.collapse(words.code(node)) })
    return
  end
  local shown = words.code(node)
  emit(page, scope, scope.output and "output" or "code", shown, words.nothing())
end

---@param page Page
---@param node Node
---@param scope Scope
local function table_rows(page, node, scope)
  local header = {}
  local rows

  local function row(child, in_head)
    local found = words.nothing()
    local shown = words.of(child, found)
    local context = in_head and "" or table.concat(header, " ")
    emit(page, within(scope, { context = context }), "table", shown, found)
    if in_head then
      header[#header + 1] = shown ~= "" and shown or nil
    end
  end

  function rows(parent, in_head)
    for _, child in ipairs(parent) do
      if type(child) == "table" and visible(child, parent) then
        if child.tag == "tr" then
          row(child, in_head)
        elseif child.tag == "thead" or child.tag == "tbody" or child.tag == "tfoot" then
          rows(child, child.tag == "thead")
        elseif child.tag ~= "colgroup" then
          flow(page, { child }, within(scope, { kind = "table", boxed = true }))
        end
      end
    end
  end

  rows(node, false)
end

---@param page Page
---@param node Node
---@param scope Scope
local function definitions(page, node, scope)
  local term = ""
  for _, child in ipairs(node) do
    if type(child) == "table" and (child.tag == "dt" or child.tag == "dd") then
      if child.tag == "dt" then
        term = words.of(child)
      end
      local context = child.tag == "dd" and term or ""
      flow(page, child, within(scope, { kind = "list", context = context, boxed = true }))
    else
      flow(page, { child }, within(scope, { kind = "list", boxed = true }))
    end
  end
end

---The label of a tab is read just before what the tab shows, wherever the page has it.
---@param page Page
---@param node Node a `div.panel-tabset`
---@param scope Scope
local function tabset(page, node, scope)
  local labels = {}
  html.find(node, function(child)
    if child.tag == "a" and html.attribute(child, "role") == "tab" then
      labels[html.attribute(child, "aria-controls") or ""] = child
    end
  end)
  local inner = within(scope, { boxed = true })
  for _, content in ipairs(node) do
    if type(content) == "table" and html.classes(content)["tab-content"] then
      for _, pane in ipairs(content) do
        if type(pane) == "table" then
          local label = labels[html.attribute(pane, "id") or "?"]
          if label then
            flow(page, { label }, inner)
          end
          flow(page, pane, inner)
        end
      end
    else
      flow(page, { content }, inner)
    end
  end
end

---@param page Page
---@param node Node
---@param scope Scope
local function figure(page, node, scope)
  local own = { alts = {} }
  flow(page, node, within(scope, { figure = own }))
  if #own.alts == 0 then
    return
  elseif own.caption then
    outline.annotate(own.caption, own.alts)
  else
    page.outline:annotate(scope.heading, own.alts)
  end
end

---@param page Page
---@param node Node
---@param scope Scope
local function caption(page, node, scope)
  local found = words.nothing()
  local shown = words.of(node, found)
  local classes = html.classes(node)
  local kind = classes["quarto-float-tbl"] and "table" or classes["quarto-float-lst"] and "code" or "figure"
  local block = emit(page, scope, kind, shown, found)
  if scope.figure then
    scope.figure.caption = scope.figure.caption or block
  end
  if scope.label ~= "" then
    local name, rest = split_label(shown)
    add_label(page, scope.label, name or "", rest or shown)
  end
end

---@param page Page
---@param node Node
---@param scope Scope
local function theorem(page, node, scope)
  local title = html.find(node, html.with_class("theorem-title"))
  local id = anchor_of(page, node)
  if title and id ~= "" then
    local shown = words.of(title)
    local name, rest = split_label(shown)
    add_label(page, id, name or shown, ((rest or ""):gsub("%)$", "")))
  end
  flow(page, node, within(scope, { label = id, boxed = true }))
end

---@param page Page
---@param node Node
---@param scope Scope
local function div(page, node, scope)
  local classes = html.classes(node)
  local id = html.attribute(node, "id") or ""
  if id == "refs" then
    back_matter(page, node, scope, page.terms.references, "list")
  elseif id:find("^fn%d+$") then
    flow(page, node, within(scope, { kind = "footnote", context = page.callers[id] or "", boxed = true }))
  elseif classes.callout then
    flow(page, node, within(scope, { kind = "callout", boxed = true }))
  elseif classes["panel-tabset"] then
    tabset(page, node, scope)
  elseif classes.theorem or classes.proof then
    theorem(page, node, scope)
  elseif classes["quarto-float"] or classes["quarto-layout-panel"] and id ~= "" then
    figure(page, node, within(scope, { label = anchor_of(page, node) }))
  elseif classes["cell-output"] then
    flow(page, node, within(scope, { output = true }))
  else
    flow(page, node, scope)
  end
end

---@type table<string, fun(page: Page, node: Node, scope: Scope)>
local handlers = {
  h1 = heading, h2 = heading, h3 = heading, h4 = heading, h5 = heading, h6 = heading,
  pre = code, table = table_rows, dl = definitions, figure = figure, figcaption = caption, div = div,
}

---@param page Page
---@param node Node
---@param scope Scope
function handlers.section(page, node, scope)
  local classes = html.classes(node)
  local level = not scope.boxed and (html.attribute(node, "class") or ""):match("%f[%w]level([1-4])%f[%W]")
  if level then
    section(page, node, scope, math.tointeger(level))
  elseif classes.footnotes then
    back_matter(page, node, scope, page.terms.notes, "footnote")
  else
    flow(page, node, scope)
  end
end

---@param page Page
---@param node Node
---@param scope Scope
function handlers.li(page, node, scope)
  local id = html.attribute(node, "id") or ""
  if id:find("^fn%d+$") then
    div(page, node, scope)
  else
    flow(page, node, within(scope, { kind = "list", boxed = true }))
  end
end

---@param page Page
---@param node Node
---@param scope Scope
function handlers.blockquote(page, node, scope)
  flow(page, node, within(scope, { kind = "quote", boxed = true }))
end

---Blocks one after the other; loose text between them is a paragraph.
---@param page Page
---@param node Node|(Node|string)[]
---@param scope Scope
function flow(page, node, scope)
  local run = {}

  local function flush()
    if #run > 0 then
      local found = words.nothing()
      local shown = words.of(run, found)
      local alone = found.formulas == 1 and shown:find("^\\%[.*\\%]$")
      emit(page, scope, alone and "math" or scope.kind, shown, found)
      run = {}
    end
  end

  for _, child in ipairs(node) do
    if type(child) == "string" or not (child.block or child.flow) then
      run[#run + 1] = child
    elseif visible(child, node.tag and node) then
      flush()
      local handler = handlers[child.tag] or flow
      handler(page, child, scope)
    end
  end
  flush()
end

return { flow = flow, split_label = split_label }
