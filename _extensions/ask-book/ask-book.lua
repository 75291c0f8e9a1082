--- The filter of ask-book: gives each HTML page the launcher and its settings, and leaves a record of the page for the
--- hook that makes the manifest. Other formats pass untouched.

local DEFAULT_SHORTCUT = "i"

local loaded = {}

--- A module of this extension; Quarto's `require` fails in folders with `;` or `?` in their names.
---@param name string
---@return table
local function module(name)
  loaded[name] = loaded[name] or assert(loadfile(quarto.utils.resolve_path("lua/" .. name .. ".lua")))(module)
  return loaded[name]
end

local configuration = module("configuration")
local books = module("book")
local files = module("files")
local widget = module("widget")
local is_map, list, text = configuration.is_map, configuration.list, configuration.text
local extension_folder = pandoc.path.directory(quarto.utils.resolve_path("_extension.yml"))

---@class Page
---@field input string source, relative to the project, with "/"
---@field href string page, relative to the output folder, with "/"
---@field lang string
---@field title string without its number
---@field number string "" when it has none

--- The version is the only thing that makes a browser load a newer widget.
---@return string
local function extension_version()
  return files.read(pandoc.path.join({ extension_folder, "_extension.yml" })):match("\nversion:%s*(%S+)")
end

--- Title and number as the page shows them: Quarto marks both with a class, but writes those of an appendix as text.
---@param title pandoc.Inlines
---@param number string as the book's list of pages has it
---@return string title
---@return string number
local function title_and_number(title, number)
  local marked = {}
  title:walk({
    Span = function(span)
      marked[span.classes[1] or ""] = pandoc.utils.stringify(span)
    end,
  })
  if marked["chapter-title"] then
    return marked["chapter-title"], marked["chapter-number"] or ""
  end
  local whole = pandoc.utils.stringify(title)
  local appendix = number:match("^%a$") and whole:match("^.-%s" .. number .. "%s*[^%w%s]+%s+(.+)$")
  return appendix or whole, appendix and number or ""
end

--- The first heading of a page: the home page of a book has its own under the book's title.
---@param doc pandoc.Pandoc
---@return pandoc.Inlines|nil
local function first_heading(doc)
  for _, block in ipairs(doc.blocks) do
    if block.t == "Header" and block.level == 1 then
      return block.content
    end
  end
  return nil
end

---@param doc pandoc.Pandoc
---@param pages ListedPage[]
---@return Page
local function describe_page(doc, pages)
  local input = pandoc.path.make_relative(quarto.doc.input_file, quarto.project.directory):gsub("\\", "/")
  local folder = input:match("^(.*/)") or ""
  local listed = pages:find_if(function(page)
    return page.file == input
  end)
  local is_home = doc.meta.book and input:match("^index%.")
  local shown = is_home and first_heading(doc) or doc.meta.title or first_heading(doc) or pandoc.Inlines({})
  local title, number = title_and_number(pandoc.Inlines(shown), listed and listed.number or "")
  return {
    input = input,
    href = folder .. pandoc.path.filename(quarto.doc.output_file),
    lang = text(doc.meta.lang),
    title = title,
    number = number,
  }
end

--- The launcher, and what it loads when a reader opens the panel.
---@param version string
---@param data string folder for what is made of this project and profile
local function add_widget(version, data)
  local launcher, resources = {}, {}
  local source, made = pandoc.path.join({ extension_folder, "widget" }), pandoc.path.join({ data, "widget" })
  for _, file in ipairs(widget.make(source, made)) do
    table.insert(file.name == "launcher.js" and launcher or resources, file)
  end
  launcher[1].attribs = { defer = "" }
  quarto.doc.add_html_dependency({ name = "ask-book", version = version, scripts = launcher, resources = resources })
end

--- What the author set under `ask-book:`, in `_quarto.yml` or on the page itself, or under `extensions: ask-book:`,
--- where editors complete the settings of extensions.
---@param meta pandoc.Meta
---@return table<string, any>
local function settings_in(meta)
  local settings = {}
  local of_extension = is_map(meta.extensions) and meta.extensions["ask-book"] or {}
  for _, section in ipairs({ of_extension, meta["ask-book"] }) do
    for key, value in pairs(is_map(section) and section or {}) do
      settings[key] = value
    end
  end
  return settings
end

--- Those of the settings that the panel needs to know.
---@param settings table<string, any>
---@return { endpoint: string|nil, shortcut: string, suggestions: string[], texts: table<string, string> }
local function page_settings(settings)
  local texts = {}
  if is_map(settings.texts) then
    for key, value in pairs(settings.texts) do
      texts[key] = text(value)
    end
  end
  return {
    endpoint = text(settings.endpoint) ~= "" and text(settings.endpoint) or pandoc.json.null,
    shortcut = settings.shortcut == nil and DEFAULT_SHORTCUT or text(settings.shortcut),
    suggestions = list(settings.suggestions):map(text),
    texts = texts,
  }
end

---@param version string
---@param book Book
---@param page Page
---@param settings table<string, any>
local function add_config(version, book, page, settings)
  local config = page_settings(settings)
  local offset = quarto.project.offset
  config.version = version
  local lang = book.lang ~= "" and book.lang or page.lang
  config.book = { id = book.id, title = book.title, lang = lang, authors = book.authors }
  config.href = page.href
  config.root = (offset == nil or offset == ".") and "" or offset:gsub("\\", "/") .. "/"
  -- neither the end of the script nor a comment may begin in a text of the author
  local json = pandoc.json.encode(config):gsub("</", "<\\/"):gsub("<!", "<\\u0021")
  local script = '<script type="application/json" id="ask-book-config">' .. json .. "</script>"
  quarto.doc.include_text("in-header", script)
end

--- Leave what the hook needs after the render: one file for the book, one for each page.
---@param data string folder for what is made of this project and profile
---@param of_book { version: string, book: Book, pages: ListedPage[], complete: boolean }
---@param page Page
local function write_records(data, of_book, page)
  -- any source path makes a good file name as a hash
  local name = pandoc.utils.sha1(page.input):sub(1, 16) .. ".json"
  files.write(pandoc.path.join({ data, "book.json" }), pandoc.json.encode(of_book) .. "\n")
  files.write(pandoc.path.join({ data, "chapters", name }), pandoc.json.encode(page) .. "\n")
end

---@param doc pandoc.Pandoc
local function process(doc)
  local root, profiles = quarto.project.directory, quarto.project.profile or {}
  local config = configuration.load(root, profiles)
  local book = books.describe(config, quarto.project.output_directory)
  local pages = doc.meta.book and books.pages_of_book(doc.meta.book.render) or books.pages_of_website(config)
  local page = describe_page(doc, pages)
  local version = extension_version()
  local profile = #profiles > 0 and table.concat(profiles, "+") or "default"
  local data = pandoc.path.join({ root, ".quarto", "ask-book", profile })

  add_config(version, book, page, settings_in(doc.meta))
  add_widget(version, data)

  -- the list of a book names every page, that of a website what the author put in the navigation
  local of_book = { version = version, book = book, pages = pages, complete = doc.meta.book ~= nil }
  write_records(data, of_book, page)
end

return {
  {
    Pandoc = function(doc)
      local is_page = quarto.doc.is_format("html:js") and not quarto.doc.is_format("revealjs")
      if not is_page or not quarto.project.directory then
        return nil
      end
      local ok, message = pcall(process, doc)
      if not ok then
        quarto.log.warning("ask-book leaves this page as it is: " .. tostring(message))
      end
      return nil
    end,
  },
}
