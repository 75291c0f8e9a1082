--- What does not depend on the order of things: conditional content, citations and open references, alt texts.

local state = require("plain_state")

local Chapter = state.Chapter
local HTML_FORMATS = { html = true, html4 = true, html5 = true, ["html:js"] = true }

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
  local kind = state.kind_of(id)
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

--- Of TeX, pandoc writes into a page what is a formula (`\begin{align}`) and nothing else.
---@param format string
---@return boolean
local function is_for_pages(format)
  return format:match("^html") ~= nil or format == "tex" or format == "latex"
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
      return is_for_pages(block.format) and block or {}
    end,
    RawInline = function(inline)
      return is_for_pages(inline.format) and inline or {}
    end,
  })
end
