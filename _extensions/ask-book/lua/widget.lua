--- The widget as pages load it: what is needed together is one file (`widget/bundles.json`), and each file is as small
--- as Quarto's own esbuild makes it; without one, it is as long as its sources.

local module = ...
local files = module("files")

local widget = {}

local MINIFY = { "--minify", "--charset=utf8", "--target=es2022", "--log-level=error" }

---@param folder string
---@param under string "" or a folder inside it, with "/"
---@return string[] paths of its files, with "/"
local function list(folder, under)
  local found = pandoc.List({})
  local names = pandoc.system.list_directory(pandoc.path.join({ folder, under }))
  for _, name in ipairs(names) do
    local path = under .. name
    if pcall(pandoc.system.list_directory, pandoc.path.join({ folder, path })) then
      found:extend(list(folder, path .. "/"))
    elseif not name:match("^%.") and (name:match("%.js$") or name:match("%.css$")) then
      found:insert(path)
    end
  end
  return found
end

--- The files that pages load.
---@param source string folder of the widget
---@return { name: string, content: string }[]
local function bundle(source)
  local bundles = pandoc.json.decode(assert(files.read(pandoc.path.join({ source, "bundles.json" }))), false)
  local parts_of, inside = {}, {}
  for name, parts in pairs(bundles) do
    parts_of[name] = parts
    for _, part in ipairs(parts) do
      inside[part] = true
    end
  end
  for _, name in ipairs(list(source, "")) do
    parts_of[name] = parts_of[name] or not inside[name] and { name } or nil
  end
  local made = pandoc.List({})
  for name, parts in pairs(parts_of) do
    local texts = pandoc.List(parts):map(function(part)
      return assert(files.read(pandoc.path.join({ source, part })))
    end)
    made:insert({ name = name, content = table.concat(texts) })
  end
  table.sort(made, function(a, b)
    return a.name < b.name
  end)
  return made
end

--- Quarto's own, where it is.
---@return string|nil path
local function find_esbuild()
  local suffix = pandoc.system.os == "mingw32" and ".exe" or ""
  local bin = quarto.config.cli_path and quarto.config.cli_path()
  local tools = pandoc.path.join({ bin and pandoc.path.directory(bin) or "", "tools" })
  for _, path in ipairs({
    os.getenv("QUARTO_ESBUILD") or "",
    pandoc.path.join({ tools, pandoc.system.arch, "esbuild" .. suffix }),
    pandoc.path.join({ tools, "esbuild" .. suffix }),
  }) do
    if path ~= "" and files.read(path) then
      return path
    end
  end
  return nil
end

---@param esbuild string|nil
---@param file { name: string, content: string }
---@return string
local function minify(esbuild, file)
  local options = pandoc.List(MINIFY) .. { "--loader=" .. file.name:match("%.(%a+)$") }
  local ok, small = pcall(pandoc.pipe, esbuild or "", options, file.content)
  return ok and esbuild and small ~= "" and small or file.content
end

--- Makes them, unless they are there.
---@param source string folder of the widget
---@param target string folder for what pages load
---@return { name: string, path: string }[] the files that pages load, `name` with "/"
function widget.make(source, target)
  local made = bundle(source)
  local paths = made:map(function(file)
    return { name = file.name, path = pandoc.path.join({ target, file.name }) }
  end)
  local stamp = pandoc.path.join({ target, "stamp" })
  local key = pandoc.utils.sha1(pandoc.json.encode(made))
  local is_there = files.read(stamp) == key and not paths:find_if(function(file)
    return not files.read(file.path)
  end)
  if not is_there then
    local esbuild = find_esbuild()
    for i, file in ipairs(made) do
      files.write(paths[i].path, minify(esbuild, file))
    end
    files.write(stamp, key)
  end
  return paths
end

return widget
