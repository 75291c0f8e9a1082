--- From a chapter's file to Markdown that pandoc can read: front matter, includes, notebooks,
--- executable cells and shortcodes.
---
--- All of this is done on lines of text, before pandoc reads anything, because that is where
--- Quarto does it: ids that pandoc counts (`-1`, `-2`) then come out the same.

local cells_of = require("plain_cells")
local notebook = require("plain_notebook")
local shortcodes = require("plain_shortcodes")
local text_of = require("plain_text")

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
      local path = text_of.clean_path(rooted or (text_of.folder(file) .. target))
      local bytes = path and context.read(path)
      if path and bytes then
        files[#files + 1] = path
        local _, body = text_of.front_matter(text_of.normalise(bytes), context.warn)
        for _, inner in ipairs(expand_includes(text_of.lines(body), file, context, files, depth - 1)) do
          out[#out + 1] = inner
        end
      else
        context.warn("the included file " .. target .. " cannot be read")
      end
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
  local track = text_of.fence_tracker()
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
  local text = text_of.normalise(bytes)
  local is_notebook = file:lower():match("%.ipynb$") ~= nil
  if is_notebook then
    text = notebook.markdown(text, context.warn)
  end
  local meta, body, front = text_of.front_matter(text, context.warn)
  local files, cells = { file }, {}
  local lines = expand_includes(text_of.lines(body), file, context, files, MAX_INCLUDE_DEPTH)
  local lines_as_read = table.move(lines, 1, #lines, 1, {})
  local heading, first, last = first_heading(lines)
  local taken = nil
  if heading and first and last and meta.title == nil and not home then
    taken = heading
    for at = first, last do
      lines[at] = ""
    end
  end
  lines = cells_of.mark(lines, text_of.as_text(meta.engine) == "markdown", cells, context.warn)

  local out, track, run = {}, text_of.fence_tracker(), {}
  local running = "text"
  local function flush()
    if #run > 0 then
      out[#out + 1] = shortcodes.expand(table.concat(run, "\n"), running == "code", context, meta)
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
    heading = taken and shortcodes.expand(taken, false, context, meta),
    first_heading = heading,
    number_heading = first_heading(lines_as_read, true),
    front = front,
    cells = cells,
    files = files,
  }
end

return M
