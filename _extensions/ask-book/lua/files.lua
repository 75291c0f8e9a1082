--- Whole files: read, and written so that nobody ever sees half of one.
local files = {}

-- Since 3.7 pandoc has functions that take every path on every machine; on Windows Lua's own know those of the code
-- page, and do not rename over a file that exists.
local system = pandoc.system

---@param path string
---@return string
local function read_file(path)
  local file = assert(io.open(path, "rb"))
  local content = file:read("a")
  file:close()
  return content
end

---@param path string
---@param content string
local function write_file(path, content)
  local file = assert(io.open(path, "wb"))
  assert(file:write(content))
  assert(file:close())
end

---@param from string
---@param to string
local function rename(from, to)
  if not os.rename(from, to) then
    os.remove(to)
    assert(os.rename(from, to))
  end
end

---@param path string
---@return string|nil
function files.read(path)
  local ok, content = pcall(system.read_file or read_file, path)
  return ok and content or nil
end

---@param path string
---@param content string
---@return boolean changed false when the file has this content already
function files.write(path, content)
  if files.read(path) == content then
    return false
  end
  system.make_directory(pandoc.path.directory(path), true)
  local fresh = path .. ".new"
  local write, move = system.write_file or write_file, system.rename or rename
  write(fresh, content)
  move(fresh, path)
  return true
end

---@param content string
---@return string valid UTF-8, "\n" for line ends, no byte order mark
function files.clean(content)
  content = content:gsub("^\xEF\xBB\xBF", ""):gsub("\r\n?", "\n")
  local pieces, pos = {}, 1
  while true do
    local size, bad = utf8.len(content, pos)
    if size then
      pieces[#pieces + 1] = content:sub(pos)
      return table.concat(pieces)
    end
    pieces[#pieces + 1] = content:sub(pos, bad - 1)
    pieces[#pieces + 1] = "\u{FFFD}"
    pos = bad + 1
  end
end

return files
