--- Notebooks as Markdown. The text is joined before it is read, so that ids count over the whole notebook.

local M = {}

--- A notebook as Markdown: its cells' sources, and the text of the outputs it keeps.
---@param bytes string
---@param warn fun(message: string)
---@return string
function M.markdown(bytes, warn)
  local ok, book = pcall(pandoc.json.decode, bytes, false)
  if not ok or type(book) ~= "table" or type(book.cells) ~= "table" then
    warn("it is not a notebook: its JSON cannot be read")
    return ""
  end
  local function joined(value)
    return type(value) == "table" and table.concat(value) or (type(value) == "string" and value or "")
  end
  local function fenced(info, text)
    local longest = 2
    for ticks in text:gmatch("`+") do
      longest = math.max(longest, #ticks)
    end
    local fence = ("`"):rep(longest + 1)
    return fence .. info .. "\n" .. text:gsub("\n$", "") .. "\n" .. fence
  end
  local function tagged(cell, tag)
    local tags = type(cell.metadata) == "table" and cell.metadata.tags
    for _, own in ipairs(type(tags) == "table" and tags or {}) do
      if tostring(own):gsub("_", "-"):match("^" .. tag .. "$") then
        return true
      end
    end
    return false
  end
  local info = type(book.metadata) == "table" and book.metadata or {}
  local lang = (info.language_info or {}).name or (info.kernelspec or {}).language or "python"
  local parts = {}
  for at, cell in ipairs(book.cells) do
    local source = joined(cell.source)
    if cell.cell_type == "markdown" then
      parts[#parts + 1] = source
    elseif cell.cell_type == "raw" then
      if at == 1 and source:match("^%s*%-%-%-") then
        parts[#parts + 1] = source
      end
    elseif cell.cell_type == "code" and source:match("%S") and not tagged(cell, "remove%-cell") then
      if not tagged(cell, "remove%-input") then
        parts[#parts + 1] = fenced("{" .. lang .. "}", source)
      end
      local outputs = type(cell.outputs) == "table" and not tagged(cell, "remove%-output") and cell.outputs or {}
      for _, output in ipairs(outputs) do
        local data = type(output.data) == "table" and output.data or {}
        if output.output_type == "stream" then
          parts[#parts + 1] = fenced("{.cell-output}", joined(output.text))
        elseif data["text/markdown"] then
          parts[#parts + 1] = "::: {.cell-output}\n" .. joined(data["text/markdown"]) .. "\n:::"
        elseif data["text/html"] then
          parts[#parts + 1] = fenced("{=html}", joined(data["text/html"]))
        elseif data["text/plain"] and not data["image/png"] and not data["image/svg+xml"] then
          parts[#parts + 1] = fenced("{.cell-output}", joined(data["text/plain"]))
        end
      end
    end
  end
  return table.concat(parts, "\n\n") .. "\n"
end

return M
