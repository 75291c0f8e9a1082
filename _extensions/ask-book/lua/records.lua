--- What the filter leaves of a render, for whoever makes the manifest: the hook after it, or a later command.
local files = require("files")

local records = {}

-- Every page made with the filter has it.
local MARK = 'id="ask-book-config"'

---@class Record one page
---@field record string its own file
---@field file string source, relative to the project
---@field href string page, relative to the site
---@field title string
---@field number string
---@field part string
---@field is_gone boolean the book does not list it any more

---@param folder string
---@return Record[]
local function stored(folder)
  local found = {}
  local ok, names = pcall(pandoc.system.list_directory, folder)
  for _, name in ipairs(ok and names or {}) do
    local path = pandoc.path.join({ folder, name })
    local readable, page = pcall(pandoc.json.decode, name:find("%.json$") and files.read(path) or "", false)
    if readable and page then
      page.record, page.file = path, page.input
      found[#found + 1] = page
    end
  end
  return found
end

---In reading order, with the parts they are in; pages that no list names come last, by address.
---@param folder string with `book.json` and `chapters/`
---@return Book
---@return Record[]
function records.read(folder)
  local source = files.read(pandoc.path.join({ folder, "book.json" }))
  local known = pandoc.json.decode(assert(source, "nothing was rendered with the filter"), false)
  local pages, place, titles = stored(pandoc.path.join({ folder, "chapters" })), {}, {}
  for i, page in ipairs(known.pages) do
    place[page.file] = i
  end
  for _, record in ipairs(pages) do
    titles[record.file] = record.title
  end
  for _, record in ipairs(pages) do
    local page = known.pages[place[record.file]]
    record.part = page and (page.part ~= "" and page.part or titles[page.part_file]) or ""
    record.is_gone = known.complete and not page
    place[record.file] = place[record.file] or record.href == "index.html" and 0 or math.huge
  end
  table.sort(pages, function(a, b)
    local first, second = place[a.file], place[b.file]
    return first < second or first == second and a.href < b.href
  end)
  return known.book, pages
end

---@param record Record
---@param page string|nil what the site has at its address
---@return boolean whether it is a page of the book, made with the filter
function records.is_alive(record, page)
  return page ~= nil and not record.is_gone and page:find(MARK, 1, true) ~= nil
end

return records
