--- From a chapter's file to Markdown that pandoc can read: encoding, front matter, includes,
--- notebooks, executable cells and shortcodes.
---
--- All of this is done on lines of text, before pandoc reads anything, because that is where
--- Quarto does it: ids that pandoc counts (`-1`, `-2`) then come out the same.

local M = {}

---@class PlainCell an executable cell as its fence says it
---@field lang string
---@field options table<string, any> `#|` options and knitr's header options, names with dashes
---@field raw boolean shown as it is written (the chapter's engine is `markdown`)
---@field key string changes when the cell does

---@class PlainSource a chapter ready for pandoc
---@field text string Markdown without front matter; cells are code blocks with an attribute `ask-book-cell`
---@field meta table<string, any> the front matter as pandoc reads it
---@field heading string|nil the line that became the page's title (`Title {#id}`), taken out of `text`
---@field first_heading string|nil the first heading of the file, taken out or not
---@field number_heading string|nil the heading that decides whether the chapter has a number
---@field front string the front matter as written
---@field cells PlainCell[]
---@field files string[] every file that was read, relative to the project

---@class PlainSourceContext
---@field read fun(file: string): string|nil a file of the project, by its path relative to it
---@field warn fun(message: string)
---@field config table the project's merged configuration
---@field variables table|nil `_variables.yml`
---@field environment fun(name: string): string|nil

local MAX_INCLUDE_DEPTH = 20

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
local function split_lines(text)
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
local function fence_tracker()
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

--- The front matter as pandoc reads it, and the rest of the text.
---@param text string
---@param warn fun(message: string)
---@return table<string, any> meta, string body, string yaml
local function front_matter(text, warn)
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

--- Markdown of the value at `book.title`-like dotted keys; nil when there is none.
---@param tree any
---@param key string
---@return string|nil
local function lookup(tree, key)
  for name in key:gmatch("[^.]+") do
    if type(tree) ~= "table" then
      return nil
    end
    tree = tree[name] or tree[math.tointeger(tonumber(name) or 0.5) or name]
  end
  local kind = pandoc.utils.type(tree)
  if kind == "Inlines" or kind == "Blocks" then
    local blocks = kind == "Inlines" and { pandoc.Plain(tree) } or tree
    return (pandoc.write(pandoc.Pandoc(blocks), "markdown", { wrap_text = "none" }):gsub("\n+$", ""))
  end
  return (type(tree) == "string" or type(tree) == "number" or type(tree) == "boolean") and tostring(tree) or nil
end

--- The arguments of a shortcode: positional ones by number, `key=value` by name.
---@param text string
---@return table<integer|string, string>
local function arguments(text)
  local found = {}
  local at = 1
  while at <= #text do
    local blank = text:match("^%s+()", at)
    at = blank or at
    local key, after = text:match("^([%w_.-]+)=()", at)
    local start = after or at
    local value, stop = text:match('^"([^"]*)"()', start)
    if not value then
      value, stop = text:match("^'([^']*)'()", start)
    end
    if not value then
      value, stop = text:match("^(%S+)()", start)
    end
    if not stop then
      break
    end
    if key then
      found[key] = value
    else
      found[#found + 1] = value
    end
    at = stop
  end
  return found
end

---@param text string
---@return string
local function escape_html(text)
  return (text:gsub("[&<>\"]", { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;" }))
end

--- What each shortcode leaves in the text. Those not here (icons, lorem ipsum, extensions') leave nothing.
---@type table<string, fun(args: table<integer|string, string>, context: table, meta: table): string>
local SHORTCODES = {
  meta = function(args, context, meta)
    local key = args[1] or ""
    return lookup(meta, key) or lookup(context.config, key) or "?meta:" .. key
  end,
  var = function(args, context)
    return lookup(context.variables, args[1] or "") or "?var:" .. (args[1] or "")
  end,
  env = function(args, context)
    return context.environment(args[1] or "") or args[2] or ""
  end,
  kbd = function(args)
    local keys = args[1] or args.win or args.linux or args.mac or ""
    return "`<kbd>" .. escape_html(keys) .. "</kbd>`{=html}"
  end,
  video = function(args)
    local url = args[1] or args.src or ""
    return url == "" and "" or string.format("[%s](<%s>)", args.title or url, url)
  end,
}

--- Replaces the shortcodes of a piece of text; `{{{< … >}}}` stays, without its extra braces.
---@param text string
---@param code boolean inside a code block: values as plain text
---@param context PlainSourceContext
---@param meta table
---@return string
local function expand_shortcodes(text, code, context, meta)
  if not text:find("{{<", 1, true) then
    return text
  end
  local escaped = {}
  text = text:gsub("{({{<.->}})}", function(inner)
    escaped[#escaped + 1] = inner
    return "\1" .. #escaped .. "\1"
  end)
  text = text:gsub("{{<%s*(.-)%s*>}}", function(inner)
    local commented = inner:match("^/%*%s*(.-)%s*%*/$")
    if commented then
      escaped[#escaped + 1] = "{{< " .. commented .. " >}}"
      return "\1" .. #escaped .. "\1"
    end
    local name, rest = inner:match("^(%S+)%s*(.*)$")
    local handler = SHORTCODES[name]
    local value = handler and handler(arguments(rest or ""), context, meta) or ""
    if code and value ~= "" then
      value = pandoc.utils.stringify(pandoc.read(value, "markdown"))
    end
    return value
  end)
  return (text:gsub("\1(%d+)\1", function(n)
    return escaped[tonumber(n)]
  end))
end

--- Lines with every `{{< include file >}}` line replaced by the file's lines, includes of includes too.
---@param lines string[]
---@param file string the chapter: paths are relative to it, also those in included files
---@param context PlainSourceContext
---@param files string[] gets the names of the files read
---@param depth integer
---@return string[]
local function expand_includes(lines, file, context, files, depth)
  local out = {}
  for _, line in ipairs(lines) do
    local target = line:match("^%s*{{<%s*include%s+(.-)%s*>}}%s*$")
    if not target then
      out[#out + 1] = line
    elseif depth == 0 then
      context.warn("includes are nested too deeply at " .. target)
    else
      target = target:match('^"(.*)"$') or target:match("^'(.*)'$") or target
      local rooted = target:match("^/+(.*)$")
      local path = M.clean_path(rooted or (M.folder(file) .. target))
      local bytes = path and context.read(path)
      if path and bytes then
        files[#files + 1] = path
        local _, body = front_matter(M.normalise(bytes), context.warn)
        for _, inner in ipairs(expand_includes(split_lines(body), file, context, files, depth - 1)) do
          out[#out + 1] = inner
        end
      else
        context.warn("the included file " .. target .. " cannot be read")
      end
    end
  end
  return out
end

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
  return M.yaml(table.concat(yaml, "\n"), warn) or {}, table.move(lines, at, #lines, 1, {})
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

--- knitr's engines whose content is prose.
local TEXT_ENGINES = { block = true, block2 = true, asis = true }

--- Cells become code blocks with attributes; `cells` gets what their fences and options say.
---@param lines string[]
---@param raw boolean
---@param cells PlainCell[]
---@param warn fun(message: string)
---@return string[]
local function mark_cells(lines, raw, cells, warn)
  local out, track, at = {}, fence_tracker(), 1
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
      cells[#cells + 1] = { lang = lang, options = options, raw = raw, key = header .. "\n" .. table.concat(body, "\n") }
      out[#out] = string.format('%s%s{.%s .cell-code ask-book-cell="%d"}', indent, fence, lang:lower(), #cells)
      table.move(code, 1, #code, #out + 1, out)
      out[#out + 1] = lines[at]
      if TEXT_ENGINES[lang] and not raw then
        local class = M.as_text(options.type)
        out[#out] = indent .. ":::"
        out[#out - #code] = ("%s::: {.%s}"):format(indent, class ~= "" and class or lang)
        cells[#cells] = nil
      end
      at = at + 1
    end
  end
  return out
end

--- Takes the first heading out of the lines: Quarto makes it the title of a page whose front matter has none.
---
--- With `anywhere`, also one in a comment or in code: that is how Quarto looks for the heading that
--- decides whether a chapter is numbered.
---@param lines string[]
---@param anywhere boolean|nil
---@return string|nil heading its text with attributes, integer|nil first, integer|nil last the lines it takes
local function first_heading(lines, anywhere)
  local track = fence_tracker()
  for at, line in ipairs(lines) do
    if track(line) == "text" or anywhere then
      local text = line:match("^#+%s+(.*)$")
      if text then
        return (text:gsub("%s+#*%s*$", "")), at, at
      end
      local next_line = lines[at + 1] or ""
      if line:match("^%S") and (next_line:match("^=+%s*$") or next_line:match("^%-+%s*$")) then
        local before = lines[at - 1]
        if anywhere or not line:match("^[|:>*+`-]") and (before == nil or before:match("^%s*$")) then
          return line, at, at + 1
        end
      end
    end
  end
end

--- A notebook as Markdown: its cells' sources, and the text of the outputs it keeps.
---@param bytes string
---@param warn fun(message: string)
---@return string
function M.notebook(bytes, warn)
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

--- Reads a chapter.
---@param file string relative to the project
---@param home boolean the book's home page, which keeps its first heading
---@param context PlainSourceContext
---@return PlainSource
function M.load(file, home, context)
  local bytes = context.read(file)
  if not bytes then
    error(file .. " cannot be read", 0)
  end
  local text = M.normalise(bytes)
  local is_notebook = file:lower():match("%.ipynb$") ~= nil
  if is_notebook then
    text = M.notebook(text, context.warn)
  end
  local meta, body, front = front_matter(text, context.warn)
  local files, cells = { file }, {}
  local lines = expand_includes(split_lines(body), file, context, files, MAX_INCLUDE_DEPTH)
  local lines_as_read = table.move(lines, 1, #lines, 1, {})
  local heading, first, last = first_heading(lines)
  local taken = nil
  if heading and first and last and meta.title == nil and not home then
    taken = heading
    for at = first, last do
      lines[at] = ""
    end
  end
  lines = mark_cells(lines, M.as_text(meta.engine) == "markdown", cells, context.warn)

  local out, track, run = {}, fence_tracker(), {}
  local running = "text"
  local function flush()
    if #run > 0 then
      out[#out + 1] = expand_shortcodes(table.concat(run, "\n"), running == "code", context, meta)
      run = {}
    end
  end
  for _, line in ipairs(lines) do
    local state = track(line) == "text" and "text" or "code"
    if state ~= running then
      flush()
      running = state
    end
    run[#run + 1] = line
  end
  flush()
  return {
    text = table.concat(out, "\n") .. "\n",
    meta = meta,
    heading = taken and expand_shortcodes(taken, false, context, meta),
    first_heading = heading,
    number_heading = first_heading(lines_as_read, true),
    front = front,
    cells = cells,
    files = files,
  }
end

return M
