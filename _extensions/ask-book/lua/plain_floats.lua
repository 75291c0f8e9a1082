--- Figures, tables and listings with their numbers, and formulas with theirs.

local state = require("plain_state")

local Chapter, raw = state.Chapter, state.raw

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
function Chapter.plain_figure(content, caption)
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
  local out = self.plain_figure(content, figure.caption.long)
  out.identifier = id
  return out
end

--- The letter of the next part of a float: "(a)".
---@param parent { parts: integer }
---@return string
local function part_letter(parent)
  parent.parts = parent.parts + 1
  return ("(%s)"):format(string.char(96 + parent.parts))
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
    return self:float(kind, id, classes, content, caption, parent.number, part_letter(parent))
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
function Chapter.laid_out(div, inner)
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
    number, letter = part_of.number, part_letter(part_of)
  else
    number = self:next_number(kind)
  end
  parent.number = number
  local inner = pandoc.Blocks({})
  if #caption == 0 and div.attributes["ask-book-caption"] then
    caption = state.inlines(div.attributes["ask-book-caption"])
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
  return self:float(kind, div.identifier, div.classes, self.laid_out(div, inner), caption, number, letter)
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
        out:insert(pandoc.Span({ formula }, pandoc.Attr(id, {}, { tag = number })))
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
