--- Source text before pandoc: encoding, paths inside the project, lines, fences, YAML.

local M = {}

--- Text as UTF-8 with LF line ends, without BOM, NUL and other control characters.
---@param bytes string
---@return string
function M.normalise(bytes)
  local text = bytes:gsub("^\239\187\191", ""):gsub("\r\n?", "\n"):gsub("[%z\1-\8\11\12\14-\31\127]", "")
  if utf8.len(text) then
    return text
  end
  local parts, at = {}, 1
  while at <= #text do
    local good, bad = utf8.len(text, at)
    if good then
      parts[#parts + 1] = text:sub(at)
      break
    end
    parts[#parts + 1] = text:sub(at, bad - 1) .. "\u{FFFD}"
    at = bad + 1
  end
  return table.concat(parts)
end

--- The lines of a text, without their ends.
---@param text string
---@return string[]
function M.lines(text)
  local lines = {}
  for line in (text:gsub("\n$", "") .. "\n"):gmatch("(.-)\n") do
    lines[#lines + 1] = line
  end
  return lines
end

--- `a/b/../c.qmd` as `a/c.qmd`; nil when it leads out of the project.
---@param path string
---@return string|nil
function M.clean_path(path)
  local parts = {}
  for part in path:gsub("\\", "/"):gmatch("[^/]+") do
    if part == ".." then
      if #parts == 0 then
        return nil
      end
      parts[#parts] = nil
    elseif part ~= "." then
      parts[#parts + 1] = part
    end
  end
  return table.concat(parts, "/")
end

--- The folder of a file, with its `/`, or "".
---@param file string
---@return string
function M.folder(file)
  return file:match("^(.*/)[^/]*$") or ""
end

--- Walks lines and tells for each whether it is text, opens a fence, is inside one, or closes it.
---@return fun(line: string): "text"|"open"|"code"|"close", string|nil the fence's info string when it opens
function M.fence_tracker()
  local mark, length, comment = nil, 0, false
  return function(line)
    if mark then
      local close = line:match("^[>%s]*(" .. mark .. "+)%s*$")
      if close and #close >= length then
        mark = nil
        return "close"
      end
      return "code"
    end
    if comment then
      comment = not line:find("-->", 1, true)
      return "code"
    end
    local ticks, info = line:match("^%s*[>%s]*(```+)%s*([^`]*)$")
    if not ticks then
      ticks, info = line:match("^%s*[>%s]*(~~~+)%s*(.*)$")
    end
    if ticks then
      mark, length = ticks:sub(1, 1), #ticks
      return "open", info
    end
    local opened = line:match("^%s*<!%-%-(.*)$")
    if opened and not opened:find("-->", 1, true) then
      comment = true
      return "code"
    end
    return "text"
  end
end

--- YAML as pandoc's metadata; nil (and a warning) when it is broken.
---@param yaml string
---@param warn fun(message: string)
---@return table<string, any>|nil
function M.yaml(yaml, warn)
  local ok, doc = pcall(pandoc.read, "---\n" .. yaml .. "\n---\n", "markdown")
  if not ok then
    warn("its YAML is broken and was left out: " .. tostring(doc):gsub("%s+", " "))
    return nil
  end
  return doc.meta
end

--- The front matter as pandoc reads it, and the rest of the text.
---@param text string
---@param warn fun(message: string)
---@return table<string, any> meta, string body, string yaml
function M.front_matter(text, warn)
  local yaml, body = text:match("^%s*%-%-%-[ \t]*\n(.-)\n%-%-%-[ \t]*\n(.*)$")
  if not yaml then
    yaml, body = text:match("^%s*%-%-%-[ \t]*\n(.-)\n%.%.%.[ \t]*\n(.*)$")
  end
  if not yaml then
    if text:match("^%s*%-%-%-[ \t]*\n%-%-%-[ \t]*\n") then
      return {}, (text:gsub("^%s*%-%-%-[ \t]*\n%-%-%-[ \t]*\n", "", 1)), ""
    end
    local only = text:match("^%s*%-%-%-[ \t]*\n(.-)\n%-%-%-[ \t]*$")
    if not only then
      return {}, text, ""
    end
    yaml, body = only, ""
  end
  return yaml:match("%S") and M.yaml(yaml, warn) or {}, body, yaml
end

--- A metadata value as text; booleans as "true" and "false".
---@param value any
---@return string
function M.as_text(value)
  if value == nil or type(value) == "boolean" then
    return value == nil and "" or tostring(value)
  end
  if type(value) == "string" or type(value) == "number" then
    return tostring(value)
  end
  local kind = pandoc.utils.type(value)
  return (kind == "Inlines" or kind == "Blocks") and pandoc.utils.stringify(value) or ""
end

--- Whether a metadata or option value says no.
---@param value any
---@return boolean
function M.is_false(value)
  local text = M.as_text(value):lower()
  return text == "false" or text == "no"
end

return M
