--- Whole files: read, and written so that nobody ever sees half of one.
local files = {}

---@param path string
---@return string|nil
function files.read(path)
  local file = io.open(path, "rb")
  if not file then
    return nil
  end
  local content = file:read("a")
  file:close()
  return content
end

---@param path string
---@param content string
---@return boolean changed false when the file has this content already
function files.write(path, content)
  if files.read(path) == content then
    return false
  end
  pandoc.system.make_directory(pandoc.path.directory(path), true)
  local fresh = path .. ".new"
  local file = assert(io.open(fresh, "wb"))
  assert(file:write(content))
  assert(file:close())
  if not os.rename(fresh, path) then
    -- Windows does not rename over a file that exists.
    os.remove(path)
    assert(os.rename(fresh, path))
  end
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
