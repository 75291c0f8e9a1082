--- What the author wrote in `_quarto.yml` and in the files that Quarto merges with it. A page's metadata is not enough:
--- a page may override its language, and Quarto keeps the title of a website to itself.

local module = ...
local files = module("files")

---@alias Configuration table[] the metadata of each file, the one that wins first

--- YAML strings are read as CommonMark, so that `--` and `~` in a title or an address stay what they are.
local FORMAT_OF_STRINGS = { format = "commonmark", extensions = { "yaml_metadata_block" } }

---@param path string
---@return table|nil meta nil when there is no such file or pandoc cannot read it
local function read_yaml(path)
  local raw = files.read(path)
  if not raw then
    return nil
  end
  local content = files.clean(raw):gsub("^%s*%-%-%-[^\n]*\n", "")
  -- pandoc takes `---` before a blank line for a rule; the comment keeps the two apart
  local ok, document = pcall(pandoc.read, "---\n#\n" .. content .. "\n---\n", FORMAT_OF_STRINGS)
  return ok and document.meta or nil
end

---@param value any
---@return boolean
local function is_map(value)
  local kind = pandoc.utils.type(value)
  return kind == "table" or kind == "Meta"
end

--- The value as a list: a single value is a list of one, nothing is an empty list.
---@param value any
---@return pandoc.List
local function list(value)
  if pandoc.utils.type(value) == "List" then
    return value
  end
  return pandoc.List({ value })
end

--- The value as text: "" for nothing and for maps and lists.
---@param value any
---@return string
local function text(value)
  local kind = pandoc.utils.type(value)
  if kind == "Inlines" or kind == "Blocks" then
    return pandoc.utils.stringify(value)
  end
  return (kind == "string" or kind == "boolean" or kind == "number") and tostring(value) or ""
end

--- Read the configuration as Quarto merges it: `_quarto.yml.local` wins, then the active profiles (the first named
--- before the others), then the `metadata-files`, then `_quarto.yml`.
---@param root string the project's folder
---@param profiles string[] the active ones
---@return Configuration
local function load(root, profiles)
  local function read(...)
    for _, name in ipairs({ ... }) do
      local meta = read_yaml(pandoc.path.join({ root, name }))
      if meta then
        return meta
      end
    end
    return nil
  end
  local main = read("_quarto.yml", "_quarto.yaml") or {}
  local found = pandoc.List({ read("_quarto.yml.local", "_quarto.yaml.local") })
  for _, profile in ipairs(profiles) do
    found:insert(read("_quarto-" .. profile .. ".yml", "_quarto-" .. profile .. ".yaml"))
  end
  local included = list(main["metadata-files"])
  for index = #included, 1, -1 do
    found:insert(read(text(included[index])))
  end
  found:insert(main)
  return found
end

--- The value at a path of keys, from the file that wins.
---@param configuration Configuration
---@param ... string keys
---@return any value nil when no file has it
local function get(configuration, ...)
  for _, meta in ipairs(configuration) do
    local value = meta
    for _, key in ipairs({ ... }) do
      value = is_map(value) and value[key] or nil
    end
    if value ~= nil then
      return value
    end
  end
  return nil
end

return { load = load, get = get, is_map = is_map, list = list, text = text }
