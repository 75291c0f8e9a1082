--- Executable cells in Markdown: their fences become code blocks that pandoc understands.

local text_of = require("plain_text")

local M = {}

--- knitr's engines whose content is prose.
local TEXT_ENGINES = { block = true, block2 = true, asis = true }

--- The options of a knitr header (`r label, echo=FALSE, fig.cap="…"`).
---@param header string
---@return table<string, any>
local function header_options(header)
  local options = {}
  local rest = header:gsub("^[%w_.+-]+%s*,?%s*", "", 1)
  local label = rest:match("^([%w_.-]+)%s*$") or rest:match("^([%w_.-]+)%s*,")
  if label then
    options.label = label
  end
  for key, value in rest:gmatch("([%w_.]+)%s*=%s*([^,]+)") do
    value = value:gsub("%s+$", "")
    local quoted = rest:match(key:gsub("%.", "%%.") .. '%s*=%s*"([^"]*)"')
      or rest:match(key:gsub("%.", "%%.") .. "%s*=%s*'([^']*)'")
    local name = key:gsub("%.", "-")
    options[name] = quoted or (({ TRUE = true, T = true, FALSE = false, F = false })[value])
    if options[name] == nil then
      options[name] = value
    end
  end
  return options
end

--- A cell's own options and its code without their lines.
---@param lines string[]
---@param warn fun(message: string)
---@return table<string, any> options, string[] code
local function cell_options(lines, warn)
  local yaml, at = {}, 1
  while lines[at] do
    local option = lines[at]:match("^%s*#%s?|%s?(.*)$")
      or lines[at]:match("^%s*//|%s?(.*)$")
      or lines[at]:match("^%s*%%%%|%s?(.*)$")
      or lines[at]:match("^%s*%-%-|%s?(.*)$")
    if not option then
      break
    end
    yaml[#yaml + 1] = option
    at = at + 1
  end
  if #yaml == 0 then
    return {}, lines
  end
  return text_of.yaml(table.concat(yaml, "\n"), warn) or {}, table.move(lines, at, #lines, 1, {})
end

--- Whether a fence's info string is that of a cell (`{python}`, `{r label, echo=FALSE}`), and its language.
---@param info string
---@return string|nil lang, string|nil header
local function cell_fence(info)
  local header = info:match("^{%s*([%a][^}]*)}%s*$")
  if header then
    return header:match("^[%w_+-]+"), header
  end
end

--- Cells become code blocks with attributes; `cells` gets what their fences and options say.
---@param lines string[]
---@param raw boolean
---@param cells PlainCell[]
---@param warn fun(message: string)
---@return string[]
function M.mark(lines, raw, cells, warn)
  local out, track, at = {}, text_of.fence_tracker(), 1
  while lines[at] do
    local line = lines[at]
    local state, info = track(line)
    local lang, header = cell_fence(state == "open" and info or "")
    out[#out + 1] = line
    at = at + 1
    if lang and header then
      local body, opened = {}, at
      while lines[at] and track(lines[at]) == "code" do
        body[#body + 1] = lines[at]
        at = at + 1
      end
      local indent, fence = line:match("^([>%s]*)(```+)")
      if not fence then
        indent, fence = line:match("^([>%s]*)(~~~+)")
      end
      local options, code = {}, body
      if not lines[at] then
        -- Never closed: no cell for pandoc either.
        table.move(lines, opened, #lines, #out + 1, out)
        break
      end
      if not raw then
        options, code = cell_options(body, warn)
        for key, value in pairs(header_options(header)) do
          if options[key] == nil then
            options[key] = value
          end
        end
      end
      local key = header .. "\n" .. table.concat(body, "\n")
      cells[#cells + 1] = { lang = lang, options = options, raw = raw, key = key }
      out[#out] = string.format('%s%s{.%s .cell-code ask-book-cell="%d"}', indent, fence, lang:lower(), #cells)
      table.move(code, 1, #code, #out + 1, out)
      out[#out + 1] = lines[at]
      if TEXT_ENGINES[lang] and not raw then
        local class = text_of.as_text(options.type)
        out[#out] = indent .. ":::"
        out[#out - #code - 1] = ("%s::: {.%s}"):format(indent, class ~= "" and class or lang)
        cells[#cells] = nil
      end
      at = at + 1
    end
  end
  return out
end

return M
