--- Code: executable cells as they look when they were not run, listings, code with a file name.

local html = require("plain_html")
local text_of = require("plain_text")
local state = require("plain_state")

local Chapter, raw = state.Chapter, state.raw
local FLOATS = { fig = true, tbl = true, lst = true }

--- A cell as it looks when it was not run.
---@param block any CodeBlock
---@param cell PlainCell
---@return any blocks
function Chapter:cell(block, cell)
  local options = cell.options
  local function says_no(name)
    for _, said in ipairs({ options, self.meta.execute or {}, self.book.config.execute or {} }) do
      if type(said) == "table" and said[name] ~= nil then
        return text_of.is_false(said[name])
      end
    end
    return false
  end
  block.attributes["ask-book-cell"] = nil
  block.identifier = ""
  local label = text_of.as_text(options.label)
  local kind = state.kind_of(label)
  if not cell.raw and says_no("include") then
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
    if fold ~= nil and not cell.raw and not text_of.is_false(fold) then
      local summary = text_of.as_text(options["code-summary"])
      summary = summary ~= "" and summary or self.book.titles.code
      content:insert(raw('<details class="code-fold" open><summary>' .. html.escape(summary) .. "</summary>"))
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
    local single = caption ~= nil and pandoc.utils.type(caption) ~= "List"
    local inlines = single and state.as_inlines(caption) or pandoc.Inlines({})
    inlines = self:prepare(pandoc.Blocks({ pandoc.Plain(inlines) }))[1].content
    return pandoc.Blocks({ self:float(kind, label, {}, content, inlines) })
  end
  local figure_caption = options["fig-cap"]
  if figure_caption ~= nil and not cell.raw and pandoc.utils.type(figure_caption) ~= "List" then
    local shown = pandoc.Blocks({ pandoc.Plain(state.as_inlines(figure_caption)) })
    content:insert(self.plain_figure(pandoc.Blocks({}), shown))
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
    local inlines = caption and state.inlines(caption) or pandoc.Inlines({})
    return pandoc.Blocks({ self:float("lst", id, {}, pandoc.Blocks({ block }), inlines) })
  end
  local filename = block.attributes.filename
  if filename then
    local name = pandoc.Div({ pandoc.Plain({ pandoc.Strong(filename) }) }, { class = "code-with-filename-file" })
    return pandoc.Blocks({ pandoc.Div({ name, block }, { class = "code-with-filename" }) })
  end
  return pandoc.Blocks({ block })
end
