--- Divs that mean something: callouts, tabsets, theorems and proofs.

local state = require("plain_state")

local Chapter, raw = state.Chapter, state.raw

local THEOREMS = {
  thm = "theorem", lem = "lemma", cor = "corollary", prp = "proposition", cnj = "conjecture",
  def = "definition", exm = "example", exr = "exercise", alg = "algorithm",
}
local PROOFS = { proof = "proof", remark = "rem", solution = "sol" }
local CALLOUTS = { note = "nte", tip = "tip", warning = "wrn", important = "imp", caution = "cau" }
local FLOATS = { fig = true, tbl = true, lst = true }

---@param div any
---@param kind string `note`, `tip` …
---@return any
function Chapter:callout(div, kind)
  local content, title = pandoc.Blocks(div.content), nil
  if div.attributes.title then
    title = state.inlines(div.attributes.title)
  elseif content[1] and content[1].t == "Header" then
    title = content[1].content
    content:remove(1)
  end
  local appearance = div.attributes.appearance or (kind == "none" and "simple" or "default")
  local heading = title
  local key = CALLOUTS[kind]
  local id = div.identifier
  if key and id:match("^" .. key .. "%-") then
    local number = self:next_number(key)
    self:label(id, kind, number)
    heading = self:name(kind, number)
    if title then
      heading:extend({ pandoc.Str(":"), pandoc.Space() })
      heading:extend(title)
    end
  elseif not title and appearance == "default" then
    heading = pandoc.Inlines({ pandoc.Str(self.book.titles[kind]) })
  end
  local body = pandoc.Div(self:blocks(content), pandoc.Attr("", { "callout-body-container", "callout-body" }))
  local classes = pandoc.List({ "callout", "callout-style-" .. appearance, "callout-" .. kind })
  local out = pandoc.Blocks({})
  if heading then
    classes:insert("callout-titled")
    local container = pandoc.Div({ pandoc.Plain(heading) }, pandoc.Attr("", { "callout-title-container" }))
    out:insert(pandoc.Div({ container }, pandoc.Attr("", { "callout-header" })))
  end
  out:insert(body)
  return pandoc.Div(out, pandoc.Attr(id, classes))
end

---@param div any
---@return any
function Chapter:tabset(div)
  local level = nil
  for _, block in ipairs(div.content) do
    if block.t == "Header" then
      level = math.min(level or 9, block.level)
    end
  end
  if not level then
    return pandoc.Div(self:blocks(div.content), div.attr)
  end
  self.tabsets = self.tabsets + 1
  local prefix = ("tabset-%d-"):format(self.tabsets)
  local before, panes, names = pandoc.Blocks({}), {}, {}
  for _, block in ipairs(div.content) do
    if block.t == "Header" and block.level == level then
      names[#names + 1] = state.inline_html(block.content)
      panes[#panes + 1] = pandoc.Blocks({})
    elseif #panes == 0 then
      before:insert(block)
    else
      panes[#panes]:insert(block)
    end
  end
  local out, tabs = self:blocks(before), {}
  for at, name in ipairs(names) do
    local id = prefix .. at
    tabs[at] = ('<li class="nav-item" role="presentation"><a class="nav-link%s" id="%s-tab" href="#%s" '
      .. 'data-bs-target="#%s" role="tab" aria-controls="%s" aria-selected="%s">%s</a></li>')
      :format(at == 1 and " active" or "", id, id, id, id, tostring(at == 1), name)
  end
  out:insert(raw('<ul class="nav nav-tabs" role="tablist">' .. table.concat(tabs) .. "</ul>"))
  local content = pandoc.Blocks({})
  for at, pane in ipairs(panes) do
    local id = prefix .. at
    local classes = at == 1 and { "tab-pane", "active" } or { "tab-pane" }
    local roles = { role = "tabpanel", ["aria-labelledby"] = id .. "-tab" }
    content:insert(pandoc.Div(self:blocks(pane), pandoc.Attr(id, classes, roles)))
  end
  out:insert(pandoc.Div(content, pandoc.Attr("", { "tab-content" })))
  return pandoc.Div(out, pandoc.Attr(div.identifier, { "panel-tabset" }))
end

--- The name of a theorem or proof, from `name=` or its first heading, which leaves the content.
---@param div any
---@return any|nil inlines, any content
local function given_name(div)
  local content = pandoc.Blocks(div.content)
  if div.attributes.name then
    return state.inlines(div.attributes.name), content
  elseif content[1] and content[1].t == "Header" then
    local name = content[1].content
    content:remove(1)
    return name, content
  end
  return nil, content
end

--- Puts a title before the first words of a block.
---@param content any
---@param title any inlines
---@return any
local function with_title(content, title)
  local first = content[1]
  if first and (first.t == "Para" or first.t == "Plain") then
    title:insert(pandoc.Space())
    title:extend(first.content)
    content[1] = pandoc.Para(title)
  else
    content:insert(1, pandoc.Para(title))
  end
  return content
end

---@param div any
---@param kind string
---@return any
function Chapter:theorem(div, kind)
  local number = self:next_number(kind)
  self:label(div.identifier, kind, number)
  local name, content = given_name(div)
  local words = pandoc.Inlines({ pandoc.Str((self.book.titles[kind] or kind) .. " " .. number) })
  if name then
    words:extend({ pandoc.Space(), pandoc.Str("(") })
    words:extend(name)
    words:insert(pandoc.Str(")"))
  end
  local title = pandoc.Inlines({ pandoc.Span({ pandoc.Strong(words) }, { class = "theorem-title" }) })
  local classes = pandoc.List({ "theorem" })
  if kind ~= "thm" then
    classes:insert(THEOREMS[kind] or kind)
  end
  return pandoc.Div(with_title(self:blocks(content), title), pandoc.Attr(div.identifier, classes))
end

---@param div any
---@param class string `proof`, `remark` or `solution`
---@return any
function Chapter:proof(div, class)
  local kind = PROOFS[class]
  local name, content = given_name(div)
  local words = self.book.titles[kind]
  if div.identifier:match("^" .. kind .. "%-") then
    local number = self:next_number(kind)
    self:label(div.identifier, kind, number)
    words = words .. " " .. number
  end
  local title = pandoc.Inlines({ pandoc.Emph({ pandoc.Str(words) }) })
  if name then
    title:extend({ pandoc.Space(), pandoc.Str("(") })
    title:extend(name)
    title:insert(pandoc.Str(")"))
  end
  title:insert(pandoc.Str("."))
  local span = pandoc.Inlines({ pandoc.Span(title, { class = "proof-title" }) })
  local classes = class == "proof" and { "proof" } or { "proof", class }
  return pandoc.Div(with_title(self:blocks(content), span), pandoc.Attr(div.identifier, classes))
end

---@param div any
---@return any
function Chapter:div(div)
  local id, classes = div.identifier, div.classes
  for kind in pairs(CALLOUTS) do
    if classes:includes("callout-" .. kind) then
      return self:callout(div, kind)
    end
  end
  if classes:includes("callout") or classes:includes("callout-none") then
    return self:callout(div, "none")
  end
  if classes:includes("panel-tabset") then
    return self:tabset(div)
  end
  local kind = state.kind_of(id)
  if kind and THEOREMS[kind] then
    return self:theorem(div, kind)
  end
  for class, prefix in pairs(PROOFS) do
    if classes:includes(class) or kind == prefix then
      return self:proof(div, class)
    end
  end
  if kind and FLOATS[kind] then
    return self:float_div(div, kind)
  end
  if div.attributes["layout-ncol"] then
    return pandoc.Div(self.laid_out(div, self:blocks(div.content)), pandoc.Attr(id, classes))
  end
  div.content = self:blocks(div.content)
  return div
end
