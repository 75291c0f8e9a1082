--- The book as its configuration describes it: what it is called, and its pages in reading order.

local module = ...
local configuration = module("configuration")
local identity = module("identity")
local get, is_map, list, text = configuration.get, configuration.is_map, configuration.list, configuration.text

---@class Book
---@field id string
---@field title string
---@field authors string[]
---@field lang string "" when the author sets none
---@field site_url string "" when the author sets none
---@field output_name string last component of the output folder's path

---@class ListedPage
---@field file string source, relative to the project
---@field part string title of the part, "" outside any
---@field part_file string source of the page that stands for the part, "" when none does
---@field number string "" for unnumbered chapters; a letter in the appendices

--- A name as Quarto's schema has it: text, or a map with a name, which may be a map again.
---@param author any
---@return string
local function author_name(author)
  if not is_map(author) then
    return text(author)
  end
  local name = author.name
  if not is_map(name) then
    return text(name)
  end
  local parts = pandoc.List({ text(name.given), text(name.family) }):filter(function(part)
    return part ~= ""
  end)
  return #parts > 0 and table.concat(parts, " ") or text(name.literal)
end

---@param config Configuration
---@param paths string[][]
---@return any value the first that the configuration has
local function first(config, paths)
  for _, path in ipairs(paths) do
    local value = get(config, table.unpack(path))
    if value ~= nil then
      return value
    end
  end
  return nil
end

---@param config Configuration
---@param output_folder string
---@return Book
local function describe(config, output_folder)
  local book = {
    title = text(first(config, { { "book", "title" }, { "website", "title" }, { "title" } })),
    lang = text(get(config, "lang")),
    site_url = text(first(config, { { "book", "site-url" }, { "website", "site-url" } })),
    output_name = pandoc.path.filename((output_folder:gsub("[/\\]+$", ""))),
  }
  local authors = first(config, { { "book", "author" }, { "book", "authors" }, { "author" }, { "authors" } })
  book.authors = list(authors):map(author_name):filter(function(name)
    return name ~= ""
  end)
  book.id = identity.book_id(book.title, book.lang, book.site_url, book.output_name)
  return book
end

--- The letter of an appendix: 1 is A.
---@param number string
---@return string
local function letter(number)
  local index = tonumber(number)
  return index and index <= 26 and string.char(64 + index) or number
end

--- Quarto's own list of what it renders, which has the parts as rows among the chapters.
---@param render any `book.render` of a page's metadata
---@return ListedPage[]
local function pages_of_book(render)
  local pages = pandoc.List({})
  local part, part_file, in_appendix = "", "", false
  for _, row in ipairs(list(render)) do
    local kind, file, number = text(row.type), text(row.file), text(row.number)
    if kind == "part" or kind == "appendix" then
      -- the heading of the appendices comes with its attributes: `Appendices {.unnumbered}`
      part, part_file, in_appendix = text(row.text):gsub("%s*{[^}]*}$", ""), file, kind == "appendix"
    elseif text(row.depth) == "0" then
      part, part_file, in_appendix = "", "", false
    end
    if file ~= "" then
      pages:insert({
        file = file,
        part = part,
        part_file = part_file,
        number = in_appendix and letter(number) or number,
      })
    end
  end
  return pages
end

--- The pages that the sidebars and the navigation bar of a website name, in their order.
---@param config Configuration
---@return ListedPage[]
local function pages_of_website(config)
  local pages, seen = pandoc.List({}), {}
  local function add(file, part)
    if file:match("%.q?md$") or file:match("%.ipynb$") or file:match("%.[Rr]md$") then
      if not seen[file] then
        pages:insert({ file = file, part = part, part_file = "", number = "" })
        seen[file] = true
      end
    end
  end
  local function walk(items, part)
    for _, item in ipairs(list(items)) do
      if is_map(item) then
        add(text(item.href or item.file), part)
        local title = item.section and text(item.section) or part
        add(title, title)
        walk(item.contents or item.menu, title)
      else
        add(text(item), part)
      end
    end
  end
  local navbar = get(config, "website", "navbar")
  if is_map(navbar) then
    walk(navbar.left, "")
  end
  for _, sidebar in ipairs(list(get(config, "website", "sidebar"))) do
    walk(is_map(sidebar) and sidebar.contents or nil, "")
  end
  return pages
end

return { describe = describe, pages_of_book = pages_of_book, pages_of_website = pages_of_website }
