--- A chapter's blocks as Quarto would have written them: conditional content, cells, callouts,
--- tabsets, theorems, figures with numbers, numbered headings, references left open.
---
--- References to figures, sections and so on stay as comments (`REFERENCE`) in the HTML: what
--- they point to may be in a chapter that comes later.

local html = require("plain_html")
local source = require("plain_source")

local M = {}

--- A reference in a page's HTML that is still to be filled in: id, mode, prefix.
M.REFERENCE = "<!%-%-ask%-book%-ref ([^ ]+) (%w+) (.-)%-%->"

---@class PlainLabel what `@fig-map` points to
---@field id string
---@field kind string `fig`, `tbl`, `sec`, `chapter`, `appendix`, `thm` …
---@field number string "" when it has none
---@field title string HTML of a heading
---@field top boolean it is the page itself, or has no anchor that is certain

---@class PlainBook what is the same for all chapters
---@field config table
---@field titles PlainWords
---@field prefixes PlainWords
---@field profiles table<string, boolean>
---@field number_sections boolean
---@field number_depth integer
---@field kinds table<string, boolean> prefixes of ids that are cross-references

---@class PlainChapter
---@field book PlainBook
---@field cells PlainCell[]
---@field meta table
---@field number string "3", "A", or "" for a page that has none
---@field counters integer[] the sections so far, by level
---@field counts table<string, integer> the floats and theorems so far, by kind
---@field labels PlainLabel[]
---@field toc { level: integer, id: string, html: string, number: string }[]
---@field appendix boolean
---@field tabsets integer
---@field cites string[] the keys that are cited, in order
---@field cited table<string, boolean>
local Chapter = {}
Chapter.__index = Chapter

local THEOREMS = {
  thm = "theorem", lem = "lemma", cor = "corollary", prp = "proposition", cnj = "conjecture",
  def = "definition", exm = "example", exr = "exercise", alg = "algorithm",
}
local PROOFS = { proof = "proof", remark = "rem", solution = "sol" }
local CALLOUTS = { note = "nte", tip = "tip", warning = "wrn", important = "imp", caution = "cau" }
local FLOATS = { fig = true, tbl = true, lst = true }
local HTML_FORMATS = { html = true, html4 = true, html5 = true, ["html:js"] = true }
local NBSP = "\u{A0}"

M.KINDS = { sec = true, fig = true, tbl = true, lst = true, eq = true, nte = true, tip = true, wrn = true, imp = true, cau = true, rem = true, sol = true }
for kind in pairs(THEOREMS) do
  M.KINDS[kind] = true
end

---@param id string
---@return string|nil
local function kind_of(id)
  return id:match("^(%a+)%-.")
end

---@param text string HTML
---@return any
local function raw(text)
  return pandoc.RawBlock("html", text)
end

---@param inlines any
---@return string
function M.inline_html(inlines)
  local parts = {}
  for at, inline in ipairs(inlines) do
    local text = inline.t == "Str" and inline.text or (inline.t == "Space" and " ")
    if not text then
      parts = nil
      break
    end
    parts[at] = text
  end
  if parts then
    return html.escape(table.concat(parts))
  end
  local text = pandoc.write(pandoc.Pandoc({ pandoc.Plain(inlines) }), "html5", M.WRITER)
  return (text:gsub("\n+$", ""))
end

M.WRITER = pandoc.WriterOptions({
  wrap_text = "none",
  html_math_method = "mathjax",
  email_obfuscation = "none",
  section_divs = true,
})

--- Inlines of a short Markdown text.
---@param text string
---@return any
function M.inlines(text)
  local blocks = pandoc.read(text, "markdown").blocks
  return blocks[1] and blocks[1].content or pandoc.Inlines({})
end

---@param value any metadata
---@return any inlines
local function as_inlines(value)
  local kind = pandoc.utils.type(value)
  if kind == "Inlines" then
    return value
  elseif kind == "Blocks" then
    return pandoc.utils.blocks_to_inlines(value)
  end
  return M.inlines(source.as_text(value))
end

--------------------------------------------------------------------------------------------------
-- Conditions, citations and references: they do not depend on the order of things.

---@param list string|nil `html pdf`
---@param is fun(name: string): boolean
---@return boolean|nil
local function any_of(list, is)
  if list == nil then
    return nil
  end
  for name in list:gmatch("[^%s,]+") do
    if is(name) then
      return true
    end
  end
  return false
end

---@param tree any
---@param key string
---@return boolean
local function meta_is_true(tree, key)
  for name in key:gmatch("[^.]+") do
    tree = type(tree) == "table" and tree[name] or nil
  end
  return tree == true
end

--- Whether content under a condition is shown on a page; nil when there is no condition.
---@param element any Div or Span
---@return boolean|nil
function Chapter:visible(element)
  local shows, hides = element.classes:includes("content-visible"), element.classes:includes("content-hidden")
  if not shows and not hides then
    return not element.classes:includes("hidden") and nil
  end
  local attributes = element.attributes
  local function format(name)
    return HTML_FORMATS[name] == true
  end
  local function profile(name)
    return self.book.profiles[name] == true
  end
  local function meta(name)
    return meta_is_true(self.meta, name) or meta_is_true(self.book.config, name)
  end
  local met = true
  for condition, is in pairs({ format = format, profile = profile, meta = meta }) do
    local when, unless = any_of(attributes["when-" .. condition], is), any_of(attributes["unless-" .. condition], is)
    met = met and when ~= false and unless ~= true
  end
  return met == shows
end

--- A reference for `M.REFERENCE`.
---@param citation any
---@param mode string
---@return any
local function open_reference(citation, mode)
  local prefix = pandoc.utils.stringify(citation.prefix):gsub("%-", "&#45;")
  local how = citation.mode == "SuppressAuthor" and "bare" or mode
  local id = citation.id:gsub("^%u", string.lower)
  if citation.id:match("^%u") and how == "plain" then
    how = "capital"
  end
  return pandoc.RawInline("html", ("<!--ask-book-ref %s %s %s-->"):format(id, prefix ~= "" and "own" or how, prefix))
end

---@param id string
---@return boolean
function Chapter:is_reference(id)
  local kind = kind_of(id)
  return kind ~= nil and self.book.kinds[kind:lower()] == true
end

---@param cite any
---@return any|nil
function Chapter:cite(cite)
  local out, rest = pandoc.Inlines({}), pandoc.List({})
  for _, citation in ipairs(cite.citations) do
    if self:is_reference(citation.id) then
      if #out > 0 then
        out:extend({ pandoc.Str(","), pandoc.Space() })
      end
      out:insert(open_reference(citation, "plain"))
      local suffix = citation.suffix
      if #suffix > 0 and pandoc.utils.stringify(suffix):match("^,?%s*%S") then
        out:extend(suffix)
      end
    else
      rest:insert(citation)
      if not self.cited[citation.id] then
        self.cited[citation.id] = true
        self.cites[#self.cites + 1] = citation.id
      end
    end
  end
  if #out == 0 then
    return nil
  end
  if #rest > 0 then
    out:extend({ pandoc.Str(","), pandoc.Space(), pandoc.Cite({ pandoc.Str("") }, rest) })
  end
  return out
end

--- Applies what can be done anywhere in the tree.
---@param blocks any
---@return any
function Chapter:prepare(blocks)
  return blocks:walk({
    traverse = "topdown",
    Div = function(div)
      local visible = self:visible(div)
      if visible == true then
        return self:prepare(div.content), false
      elseif visible == false then
        return {}, false
      end
    end,
    Span = function(span)
      local visible = self:visible(span)
      if visible == true then
        return pandoc.Span(self:prepare(pandoc.Blocks({ pandoc.Plain(span.content) }))[1].content), false
      elseif visible == false then
        return {}, false
      end
    end,
    Cite = function(cite)
      return self:cite(cite)
    end,
    Image = function(image)
      local alt = image.attributes["fig-alt"]
      if alt then
        image.attributes["fig-alt"] = nil
        image.attributes.alt = nil
        image.caption = pandoc.Inlines(alt)
        return image
      end
    end,
    RawBlock = function(block)
      return block.format:match("^html") and block or {}
    end,
    RawInline = function(inline)
      return inline.format:match("^html") and inline or {}
    end,
  })
end

--------------------------------------------------------------------------------------------------
-- Numbers.

--- The chapter's number with a number in it: "3.2"; only "2" in a chapter without number.
---@param n string|integer
---@return string
function Chapter:within(n)
  local first = self.appendix and self.number or tostring(self.counters[1] or 0)
  return (first == "0" or first == "") and tostring(n) or first .. "." .. n
end

--- The next number of a kind of float, theorem or equation.
---@param kind string
---@return string
function Chapter:next_number(kind)
  self.counts[kind] = (self.counts[kind] or 0) + 1
  return self:within(self.counts[kind])
end

---@param id string
---@param kind string
---@param number string
---@param title string|nil
---@param top boolean|nil
function Chapter:label(id, kind, number, title, top)
  self.labels[#self.labels + 1] = { id = id, kind = kind, number = number, title = title or "", top = top == true }
end

--- "Figure 3.2" as inlines.
---@param kind string
---@param number string
---@return any
function Chapter:name(kind, number)
  return pandoc.Inlines({ pandoc.Str((self.book.titles[kind] or kind) .. NBSP .. number) })
end

---@param header any
---@return any
function Chapter:header(header)
  local level, counters = header.level, self.counters
  local title, number = M.inline_html(header.content), ""
  if not header.classes:includes("unnumbered") and not header.classes:includes("-") then
    counters[level] = (counters[level] or 0) + 1
    for deeper = level + 1, 6 do
      counters[deeper] = 0
    end
    if level == 1 then
      self.counts = {}
    end
    local parts = {}
    for at = 1, level do
      parts[at] = tostring(counters[at] or 0)
    end
    if self.appendix and parts[1] == "1" then
      parts[1] = self.number
    elseif not self.numbered and parts[1] == "0" then
      table.remove(parts, 1)
    end
    number = table.concat(parts, ".")
  end
  local numbered = number ~= "" and self.numbered and level <= self.book.number_depth
  if header.identifier:match("^sec%-") then
    local kind = level == 1 and (self.appendix and "appendix" or "chapter") or "sec"
    self:label(header.identifier, kind, self.book.number_sections and number or "", title)
  end
  if numbered then
    header.attributes["data-number"] = number
    header.content:insert(1, pandoc.Space())
    header.content:insert(1, pandoc.Span(number, { class = "header-section-number" }))
  end
  if not header.classes:includes("unlisted") then
    self.toc[#self.toc + 1] = { level = level, id = header.identifier, html = title, number = numbered and number or "" }
  end
  return header
end

--------------------------------------------------------------------------------------------------
-- Floats.

--- A figure, table or listing as Quarto writes it.
---@param kind string
---@param id string
---@param classes any
---@param content any blocks
---@param caption any inlines
---@param number string|nil
---@param letter string|nil "(a)" for a part of a figure
---@return any
function Chapter:float(kind, id, classes, content, caption, number, letter)
  local heading = pandoc.Inlines({})
  local certain = id ~= ""
  if letter then
    heading:insert(pandoc.Str(letter))
    self:label(id, kind, (number or "") .. " " .. letter)
  else
    number = number or self:next_number(kind)
    heading:extend(self:name(kind, number))
    if certain then
      self:label(id, kind, number)
    end
  end
  if #caption > 0 then
    heading:extend(letter and { pandoc.Space() } or { pandoc.Str(":"), pandoc.Space() })
    heading:extend(caption)
  end
  local figcaption = pandoc.Blocks({
    raw('<figcaption class="quarto-float-caption quarto-float-' .. kind .. '">'),
    pandoc.Plain(heading),
    raw("</figcaption>"),
  })
  local body = pandoc.Blocks({ raw('<figure class="quarto-float quarto-float-' .. kind .. ' figure">') })
  local above = kind ~= "fig"
  if above then
    body:extend(figcaption)
  end
  body:insert(pandoc.Div(content))
  if not above then
    body:extend(figcaption)
  end
  body:insert(raw("</figure>"))
  local names = pandoc.List({ "quarto-float", "quarto-figure" })
  for _, class in ipairs(classes or {}) do
    if class ~= "figure" then
      names:insert(class)
    end
  end
  return pandoc.Div(body, pandoc.Attr(id, names))
end

--- A picture with a caption but no number.
---@param content any blocks
---@param caption any blocks
---@return any
local function plain_figure(content, caption)
  local blocks = pandoc.Blocks({ raw('<figure class="figure">') })
  blocks:extend(content)
  if #caption > 0 then
    blocks:insert(raw("<figcaption>"))
    blocks:extend(caption)
    blocks:insert(raw("</figcaption>"))
  end
  blocks:insert(raw("</figure>"))
  return pandoc.Div(blocks, pandoc.Attr("", { "quarto-figure" }))
end

---@param figure any
---@return any
function Chapter:figure(figure)
  local caption = pandoc.utils.blocks_to_inlines(figure.caption.long)
  local id = figure.identifier
  local content = figure.content:walk({
    Image = function(image)
      if id == "" and self:is_reference(image.identifier) then
        id = image.identifier
      end
      -- The reader copies the caption into the alt text: only an alt text of its own is kept.
      if pandoc.utils.stringify(image.caption) == pandoc.utils.stringify(caption) then
        image.caption = pandoc.Inlines({})
      end
      return image
    end,
  })
  if id:match("^fig%-") then
    return self:numbered_or_part("fig", id, figure.classes, content, caption)
  end
  local out = plain_figure(content, figure.caption.long)
  out.identifier = id
  return out
end

--- A float, or a lettered part of the float it is in.
---@param kind string
---@param id string
---@param classes any
---@param content any
---@param caption any
---@return any
function Chapter:numbered_or_part(kind, id, classes, content, caption)
  local parent = self.parent
  if parent and parent.kind == kind then
    parent.parts = parent.parts + 1
    return self:float(kind, id, classes, content, caption, parent.number, ("(%s)"):format(string.char(96 + parent.parts)))
  end
  return self:float(kind, id, classes, content, caption)
end

--- A paragraph that is one picture with a figure's id but no caption: pandoc makes no figure of it.
---@param para any
---@return any|nil
function Chapter:lone_picture(para)
  local image = para.content[1]
  if #para.content ~= 1 or image.t ~= "Image" or not image.identifier:match("^fig%-") then
    return nil
  end
  local id = image.identifier
  image.identifier = ""
  return self:numbered_or_part("fig", id, {}, pandoc.Blocks({ pandoc.Plain({ image }) }), pandoc.Inlines({}))
end

--- The blocks of a layout div in a grid of its columns.
---@param div any
---@param inner any
---@return any
local function laid_out(div, inner)
  local columns = tonumber(div.attributes["layout-ncol"])
  if not columns then
    return inner
  end
  local style = ("--columns: %d"):format(math.max(1, math.min(12, columns)))
  return pandoc.Blocks({ pandoc.Div(inner, pandoc.Attr("", { "quarto-layout-panel" }, { style = style })) })
end

--- A div whose id makes it a figure, table or listing: its last paragraph is the caption.
---@param div any
---@param kind string
---@return any
function Chapter:float_div(div, kind)
  local content, caption = pandoc.Blocks(div.content), pandoc.Inlines({})
  local last = content[#content]
  if last and last.t == "Para" and #content > 1 then
    caption = last.content
    content:remove()
  end
  local parent = { kind = kind, parts = 0, number = "" }
  local part_of = self.parent
  local number, letter
  if part_of and part_of.kind == kind then
    part_of.parts = part_of.parts + 1
    number, letter = part_of.number, ("(%s)"):format(string.char(96 + part_of.parts))
  else
    number = self:next_number(kind)
  end
  parent.number = number
  local inner = pandoc.Blocks({})
  if #caption == 0 and div.attributes["ask-book-caption"] then
    caption = M.inlines(div.attributes["ask-book-caption"])
  end
  for _, block in ipairs(content) do
    if #caption == 0 and block.t == "Table" and kind == "tbl" then
      caption = pandoc.utils.blocks_to_inlines(block.caption.long)
      block.caption = { long = {} }
    elseif #caption == 0 and block.t == "Figure" and #content == 1 and block.identifier == "" then
      caption = pandoc.utils.blocks_to_inlines(block.caption.long)
      block = pandoc.Plain(pandoc.utils.blocks_to_inlines(block.content))
    end
    inner:insert(block)
  end
  self.parent = parent
  inner = self:blocks(inner)
  self.parent = part_of
  return self:float(kind, div.identifier, div.classes, laid_out(div, inner), caption, number, letter)
end

--------------------------------------------------------------------------------------------------
-- Blocks of special kinds.

---@param div any
---@param kind string `note`, `tip` …
---@return any
function Chapter:callout(div, kind)
  local content, title = pandoc.Blocks(div.content), nil
  if div.attributes.title then
    title = M.inlines(div.attributes.title)
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
    local container = pandoc.Div({ pandoc.Plain(heading) }, pandoc.Attr("", { "callout-title-container", "flex-fill" }))
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
  local prefix = "tabset-" .. self.tabsets
  local before, panes, names = pandoc.Blocks({}), {}, {}
  for _, block in ipairs(div.content) do
    if block.t == "Header" and block.level == level then
      names[#names + 1] = M.inline_html(block.content)
      panes[#panes + 1] = pandoc.Blocks({})
    elseif #panes == 0 then
      before:insert(block)
    else
      panes[#panes]:insert(block)
    end
  end
  local out, tabs = self:blocks(before), {}
  for at, name in ipairs(names) do
    tabs[at] = ('<li class="nav-item" role="presentation"><a class="nav-link%s" id="%s-%d-tab" href="#%s-%d" '
      .. 'data-bs-toggle="tab" data-bs-target="#%s-%d" role="tab" aria-controls="%s-%d" aria-selected="%s">%s</a></li>')
      :format(at == 1 and " active" or "", prefix, at, prefix, at, prefix, at, prefix, at, tostring(at == 1), name)
  end
  out:insert(raw('<ul class="nav nav-tabs" role="tablist">' .. table.concat(tabs) .. "</ul>"))
  local content = pandoc.Blocks({})
  for at, pane in ipairs(panes) do
    local id = ("%s-%d"):format(prefix, at)
    local classes = at == 1 and { "tab-pane", "active" } or { "tab-pane" }
    content:insert(pandoc.Div(self:blocks(pane), pandoc.Attr(id, classes, { role = "tabpanel", ["aria-labelledby"] = id .. "-tab" })))
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
    return M.inlines(div.attributes.name), content
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
  local kind = kind_of(id)
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
    return pandoc.Div(laid_out(div, self:blocks(div.content)), pandoc.Attr(id, classes))
  end
  div.content = self:blocks(div.content)
  return div
end

--- A cell as it looks when it was not run.
---@param block any CodeBlock
---@param cell PlainCell
---@return any blocks
function Chapter:cell(block, cell)
  local options = cell.options
  local function says_no(name)
    local value = options[name]
    if value == nil then
      local execute = self.meta.execute or self.book.config.execute
      value = type(execute) == "table" and execute[name]
    end
    return value ~= nil and source.is_false(value)
  end
  block.attributes["ask-book-cell"] = nil
  block.identifier = ""
  local label = source.as_text(options.label)
  local kind = kind_of(label)
  if options.include ~= nil and source.is_false(options.include) then
    return pandoc.Blocks({})
  end
  local content = pandoc.Blocks({})
  if cell.lang == "mermaid" or cell.lang == "dot" then
    content:insert(pandoc.CodeBlock(block.text, { class = cell.lang }))
  elseif cell.raw or not says_no("echo") then
    local fold = options["code-fold"]
    if fold == nil and not cell.raw then
      fold = self.meta["code-fold"] or self.book.config["code-fold"]
    end
    if fold ~= nil and not cell.raw and not source.is_false(fold) then
      local summary = source.as_text(options["code-summary"])
      summary = summary ~= "" and summary or self.book.titles.code
      content:insert(raw('<details class="code-fold" open><summary>' .. M.inline_html(pandoc.Inlines(summary)) .. "</summary>"))
      content:insert(block)
      content:insert(raw("</details>"))
    else
      content:insert(block)
    end
  end
  if #content > 0 then
    content = pandoc.Blocks({ pandoc.Div(content, pandoc.Attr("", { "cell" })) })
  end
  local caption_key = kind and (kind == "lst" and "lst-cap" or kind .. "-cap")
  if kind and FLOATS[kind] and not cell.raw then
    local caption = options[caption_key]
    local inlines = caption ~= nil and pandoc.utils.type(caption) ~= "List" and as_inlines(caption) or pandoc.Inlines({})
    inlines = self:prepare(pandoc.Blocks({ pandoc.Plain(inlines) }))[1].content
    return pandoc.Blocks({ self:float(kind, label, {}, content, inlines) })
  end
  local figure_caption = options["fig-cap"]
  if figure_caption ~= nil and not cell.raw and pandoc.utils.type(figure_caption) ~= "List" then
    content:insert(plain_figure(pandoc.Blocks({}), pandoc.Blocks({ pandoc.Plain(as_inlines(figure_caption)) })))
  end
  return content
end

---@param block any
---@return any blocks
function Chapter:code(block)
  local cell = self.cells[tonumber(block.attributes["ask-book-cell"] or "")]
  if cell then
    return self:cell(block, cell)
  end
  local id, caption = block.identifier, block.attributes["lst-cap"]
  if id:match("^lst%-") then
    block.identifier = ""
    block.attributes["lst-cap"] = nil
    local inlines = caption and M.inlines(caption) or pandoc.Inlines({})
    return pandoc.Blocks({ self:float("lst", id, {}, pandoc.Blocks({ block }), inlines) })
  end
  local filename = block.attributes.filename
  if filename then
    local name = pandoc.Div({ pandoc.Plain({ pandoc.Strong({ pandoc.Str(filename) }) }) }, { class = "code-with-filename-file" })
    return pandoc.Blocks({ pandoc.Div({ name, block }, { class = "code-with-filename" }) })
  end
  return pandoc.Blocks({ block })
end

--- Takes `{#tbl-id .class}` off the end of a caption (older pandocs leave it there).
---@param inlines any
---@return string|nil id, any inlines
local function caption_id(inlines)
  for at = #inlines, 1, -1 do
    local inline = inlines[at]
    local id = inline.t == "Str" and inline.text:match("^{#([^%s}]+)")
    if id then
      local last = inlines[#inlines]
      if last.t == "Str" and last.text:match("}$") then
        local kept = pandoc.Inlines({})
        for before = 1, at - 1 do
          kept:insert(inlines[before])
        end
        while #kept > 0 and (kept[#kept].t == "Space" or kept[#kept].t == "SoftBreak") do
          kept:remove()
        end
        return id, kept
      end
    end
  end
  return nil, inlines
end

---@param tbl any
---@return any
function Chapter:table(tbl)
  local caption = pandoc.utils.blocks_to_inlines(tbl.caption.long)
  local id = tbl.identifier
  if id == "" then
    local found, rest = caption_id(caption)
    if found then
      id, caption = found, rest
    else
      local last = caption[#caption]
      -- Attributes without an id, as in `{.striped tbl-colwidths="[30,70]"}`.
      if last and last.t == "Str" and last.text:match("}$") then
        for at = #caption, 1, -1 do
          if caption[at].t == "Str" and caption[at].text:match("^{[.%a]") then
            while #caption >= at do
              caption:remove()
            end
            break
          end
        end
      end
      tbl.caption = { long = #caption > 0 and { pandoc.Plain(caption) } or {} }
    end
  end
  tbl = tbl:walk({
    traverse = "topdown",
    Div = function(div)
      return self:div(div), false
    end,
    CodeBlock = function(code)
      return self:code(code), false
    end,
    Para = function(para)
      return self:equations(para)
    end,
    Plain = function(plain)
      return self:equations(plain)
    end,
  })
  if id:match("^tbl%-") then
    tbl.caption = { long = {} }
    tbl.identifier = ""
    return self:numbered_or_part("tbl", id, {}, pandoc.Blocks({ tbl }), caption)
  end
  tbl.identifier = id
  return tbl
end

--- Numbers the display formulas of a paragraph that carry `{#eq-id}`.
---@param block any Para or Plain
---@return any|nil
function Chapter:equations(block)
  local content, found = block.content, false
  for _, inline in ipairs(content) do
    if inline.t == "Str" and inline.text:match("^{#eq%-") then
      found = true
      break
    end
  end
  if not found then
    return nil
  end
  local out, at = pandoc.Inlines({}), 1
  while content[at] do
    local inline = content[at]
    local id = inline.t == "Str" and inline.text:match("^{#(eq%-[^%s}]+)")
    if id then
      local stop = at
      while content[stop] and not (content[stop].t == "Str" and content[stop].text:match("}")) do
        stop = stop + 1
      end
      local math_at = #out
      while math_at > 0 and (out[math_at].t == "Space" or out[math_at].t == "SoftBreak") do
        math_at = math_at - 1
      end
      local formula = out[math_at]
      if formula and formula.t == "Math" and content[stop] then
        local number = self:next_number("eq")
        self:label(id, "eq", number)
        while #out >= math_at do
          out:remove()
        end
        formula.text = formula.text:gsub("%s+$", "") .. "\n\\tag{" .. number .. "}"
        out:insert(pandoc.Span({ formula }, pandoc.Attr(id)))
        local rest = content[stop].text:match("}(.*)$")
        if rest ~= "" then
          out:insert(pandoc.Str(rest))
        end
        at = stop
      else
        out:insert(inline)
      end
    else
      out:insert(inline)
    end
    at = at + 1
  end
  block.content = out
  return block
end

---@param block any
---@return any block or blocks
function Chapter:block(block)
  local t = block.t
  if t == "Para" or t == "Plain" then
    return self:lone_picture(block) or self:equations(block) or block
  elseif t == "Header" then
    return self:header(block)
  elseif t == "Div" then
    return self:div(block)
  elseif t == "CodeBlock" then
    return self:code(block)
  elseif t == "Figure" then
    return self:figure(block)
  elseif t == "Table" then
    return self:table(block)
  elseif t == "BlockQuote" then
    block.content = self:blocks(block.content)
  elseif t == "BulletList" or t == "OrderedList" then
    local items = {}
    for at, item in ipairs(block.content) do
      items[at] = self:blocks(pandoc.Blocks(item))
    end
    block.content = items
  elseif t == "DefinitionList" then
    local items = {}
    for at, item in ipairs(block.content) do
      local definitions = {}
      for n, definition in ipairs(item[2]) do
        definitions[n] = self:blocks(pandoc.Blocks(definition))
      end
      items[at] = { item[1], definitions }
    end
    block.content = items
  end
  return block
end

---@param blocks any
---@return any
function Chapter:blocks(blocks)
  local out = pandoc.Blocks({})
  for _, block in ipairs(blocks) do
    local result = self:block(block)
    if result.t then
      out:insert(result)
    else
      out:extend(result)
    end
  end
  return out
end

--- Starts a chapter.
---@param book PlainBook
---@param loaded PlainSource
---@param number string
---@param appendix boolean
---@param home boolean
---@return PlainChapter
function M.new(book, loaded, number, appendix, home)
  local own = loaded.meta["number-sections"]
  local numbered = book.number_sections and number ~= ""
  if own ~= nil then
    numbered = numbered and not source.is_false(own)
  end
  return setmetatable({
    book = book,
    cells = loaded.cells,
    meta = loaded.meta,
    number = number,
    appendix = appendix,
    numbered = numbered,
    counters = { appendix and 1 or home and 0 or tonumber(number) or 0 },
    counts = {},
    labels = {},
    toc = {},
    tabsets = 0,
    cites = {},
    cited = {},
  }, Chapter)
end

M.as_inlines = as_inlines
return M
