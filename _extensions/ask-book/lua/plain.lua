--- Makes plain pages of a Quarto book from its sources: `pandoc lua plain.lua JOB.json`.
---
--- One process renders all chapters. Each chapter becomes a fragment of HTML, kept as long as its
--- sources stay the same; when all are there, references are filled in and the pages are written.
--- stdout is one line of JSON: what was read, which files the pages refer to, the chapters.

local here = (arg[0]:match("^(.*[/\\])") or "./")
package.path = here .. "?.lua;" .. package.path

local source = require("plain_source")
local text_of = require("plain_text")
local chapter = require("plain_chapter")
local files = require("files")
local citations_of = require("plain_citations")
local words = require("plain_words")
local formulas = require("plain_formulas")
local html = require("plain_html")
local page_of = require("plain_page")

---@class PlainJob
---@field project string absolute folder
---@field site string absolute folder for the pages as the builder reads them
---@field pages string absolute folder for the pages as people read them
---@field fragments string absolute folder for rendered chapters
---@field version string of this renderer: another version renders everything again
---@field config table the project's merged configuration
---@field variables table
---@field profiles string[]
---@field book { title: string, subtitle: string, description: string, authors: string[], lang: string }
---@field chapters { file: string, href: string, kind: string, part: string, title: string|nil }[]
---@field page table the book's part of `ask-book-config`
---@field share { at: integer, of: integer }|nil render only these chapters, and no page: others do the rest

---@param message string
local function warn(message)
  io.stderr:write("ask-book: ", message, "\n")
end

local DEFAULT_FROM = "markdown"

---@class PlainMaker
---@field job PlainJob
---@field inputs table<string, boolean>
---@field citations PlainCitations
local Maker = {}
Maker.__index = Maker

--- A file of the project by its relative path, remembered as an input.
---@param path string
---@return string|nil
function Maker:read(path)
  self.inputs[path] = true
  return files.read(pandoc.path.join({ self.job.project, path }))
end

---@param inlines any
---@return string
local function inline_html(inlines)
  return chapter.inline_html(inlines)
end

--- The title of a page that has no `title:`: its first heading.
---@param heading string
---@return any header
local function read_heading(heading)
  local blocks = pandoc.read("# " .. heading, "markdown-auto_identifiers").blocks
  return blocks[1] and blocks[1].t == "Header" and blocks[1] or pandoc.Header(1, pandoc.Inlines(heading))
end

--- Reads Markdown as Quarto would; a text that pandoc refuses is read without metadata blocks.
---@param text string
---@param from string
---@return any
local function read_markdown(text, from)
  local ok, doc = pcall(pandoc.read, text, from)
  if not ok then
    ok, doc = pcall(pandoc.read, text, "markdown-yaml_metadata_block")
  end
  if not ok then
    error(tostring(doc), 0)
  end
  return doc
end

---@param value any
---@return string[]
local function authors_of(value)
  local out = {}
  if value == nil then
    return out
  end
  local list = pandoc.utils.type(value) == "List" and value or { value }
  for _, author in ipairs(list) do
    local name = author
    if type(author) == "table" and pandoc.utils.type(author) ~= "Inlines" then
      name = author.name
      if type(name) == "table" and pandoc.utils.type(name) ~= "Inlines" then
        name = name.literal or (text_of.as_text(name.given) .. " " .. text_of.as_text(name.family))
      end
    end
    if name ~= nil then
      out[#out + 1] = type(name) == "string" and html.escape(name) or inline_html(chapter.as_inlines(name))
    end
  end
  return out
end

--- A block value of the front matter as HTML.
---@param value any
---@return string
local function block_html(value)
  if value == nil then
    return ""
  end
  local blocks = pandoc.utils.type(value) == "Blocks" and value or { pandoc.Para(chapter.as_inlines(value)) }
  if pandoc.utils.stringify(blocks) == "" then
    return ""
  end
  return chapter.block_html(blocks)
end

--- Renders one chapter.
---@param entry table of the job
---@param loaded PlainSource
---@param number string
---@param book PlainBook
---@param extra string[]
---@return table fragment
function Maker:render(entry, loaded, number, book, extra)
  local meta = loaded.meta
  local home, appendix = entry.kind == "home", entry.kind == "appendix"
  local state = chapter.new(book, loaded, number, appendix, home)
  local title, title_id
  if home then
    title = chapter.inlines(self.job.book.title)
  elseif meta.title ~= nil then
    title = chapter.as_inlines(meta.title)
  elseif loaded.heading then
    local header = read_heading(loaded.heading)
    title, title_id = header.content, header.identifier
  else
    local stem = pandoc.path.split_extension(pandoc.path.filename(entry.file))
    title = pandoc.Inlines(entry.title or stem)
  end
  local from = text_of.as_text(meta.from or self.job.config.from)
  local doc = read_markdown(loaded.text, from:match("^markdown[%w_+-]*$") and from or DEFAULT_FROM)
  local title_block = pandoc.Div({ pandoc.Plain(title) }, pandoc.Attr("ask-book-title"))
  local blocks = pandoc.Blocks({ title_block })
  blocks:extend(doc.blocks)
  blocks = state:prepare(blocks)
  if title_id and title_id:match("^sec%-") then
    state:label(title_id, appendix and "appendix" or "chapter", book.number_sections and number or "",
      inline_html(blocks[1].content[1].content), true)
  end
  local head = blocks:remove(1)
  blocks = state:blocks(blocks)
  blocks:insert(1, head)
  blocks = self.citations:cite(blocks, meta, entry.file, state.cites, extra)
  head = blocks:remove(1)
  local last = blocks[#blocks]
  if last and last.t == "Div" and last.identifier == "refs" and (self.references_page or entry.file) ~= entry.file then
    blocks:remove()
  end
  local notes = meta["reference-location"] or self.job.config["reference-location"]
  local body = chapter.block_html(blocks, text_of.as_text(notes))
  return {
    body = html.repair(body),
    title = inline_html(head.content[1].content),
    title_id = title_id or "",
    subtitle = home and self.job.book.subtitle ~= "" and inline_html(chapter.inlines(self.job.book.subtitle))
      or (not home and meta.subtitle ~= nil and inline_html(chapter.as_inlines(meta.subtitle)) or ""),
    authors = home and authors_of(self.job.book.authors) or authors_of(meta.author),
    description = home and block_html(chapter.inlines(self.job.book.description)) or "",
    date = not home and meta.date ~= nil and inline_html(chapter.as_inlines(meta.date)) or "",
    abstract = block_html(meta.abstract),
    lang = text_of.as_text(meta.lang),
    number = number,
    labels = state.labels,
    toc = state.toc,
    cites = state.cites,
    name = home and loaded.meta.title ~= nil and inline_html(chapter.as_inlines(meta.title))
      or (home and loaded.first_heading and inline_html(read_heading(loaded.first_heading).content) or ""),
  }
end

--- Whether Quarto gives the chapter a number: not when its first heading says `.unnumbered`.
---@param loaded PlainSource
---@param kind string
---@return boolean
local function is_numbered(loaded, kind)
  if kind == "part" then
    return false
  end
  if loaded.meta.title ~= nil or not loaded.number_heading then
    return true
  end
  local classes = read_heading(loaded.number_heading).classes
  return not classes:includes("unnumbered")
end

---@param n integer
---@return string
local function letter(n)
  local out = ""
  while n > 0 do
    out = string.char(65 + (n - 1) % 26) .. out
    n = (n - 1) // 26
  end
  return out
end

--- All chapters as fragments, from the cache where their sources are the same.
---@return table[] fragments, integer rendered
function Maker:fragments()
  local job = self.job
  local titles, prefixes = words.of(job.book.lang, job.config)
  local kinds = {}
  for kind in pairs(chapter.KINDS) do
    kinds[kind] = true
  end
  local profiles = {}
  for _, name in ipairs(job.profiles) do
    profiles[name] = true
  end
  ---@type PlainBook
  local book = {
    config = job.config,
    titles = titles,
    prefixes = prefixes,
    profiles = profiles,
    number_sections = job.config["number-sections"] ~= false,
    number_depth = math.tointeger(tonumber(job.config["number-depth"])) or 6,
    kinds = kinds,
  }
  self.book = book
  local sources, numbers, count, appendices = {}, {}, 0, 0
  for at, entry in ipairs(job.chapters) do
    local context = {
      read = function(path)
        return self:read(path)
      end,
      warn = function(message)
        warn(entry.file .. ": " .. message)
      end,
      config = job.config,
      variables = job.variables,
      environment = os.getenv,
    }
    local loaded = source.load(entry.file, entry.kind == "home", context)
    sources[at] = loaded
    numbers[at] = ""
    if is_numbered(loaded, entry.kind) then
      if entry.kind == "appendix" then
        appendices = appendices + 1
        numbers[at] = letter(appendices)
      else
        count = count + 1
        numbers[at] = tostring(count)
      end
    end
    if ("\n" .. loaded.text):find("\n%s*:::+[^\n]*#refs[%s}]") then
      self.references_page = self.references_page or entry.file
    end
  end
  local shared = pandoc.json.encode({ job.version, job.config, job.book, job.profiles,
    self.references_page or "" })
  local fragments, rendered, cited, seen = {}, 0, {}, {}
  local function make(at)
    local entry, loaded = job.chapters[at], sources[at]
    local extra = self.references_page == entry.file and cited or {}
    local bibliography = {}
    for n, path in ipairs(self.citations:bibliography_files(loaded.meta, entry.file)) do
      bibliography[n] = self.citations:bibliography(path).hash
    end
    local _, style = self.citations:style(loaded.meta)
    local cells = {}
    for n, cell in ipairs(loaded.cells) do
      cells[n] = cell.key
    end
    local key = pandoc.utils.sha1(table.concat({
      shared, entry.file, entry.kind, numbers[at], loaded.front, loaded.text, loaded.heading or "",
      table.concat(cells, "\n"), table.concat(bibliography, " "), style, table.concat(extra, " "),
    }, "\0"))
    local path = pandoc.path.join({ job.fragments, pandoc.utils.sha1(entry.file) .. ".json" })
    local text = files.read(path)
    local ok, kept = pcall(pandoc.json.decode, text or "", false)
    if not (ok and type(kept) == "table" and kept.key == key) then
      kept = self:render(entry, loaded, numbers[at], book, extra)
      kept.key = key
      files.write(path, pandoc.json.encode(kept))
      rendered = rendered + 1
    end
    fragments[at] = kept
    for _, citation in ipairs(kept.cites) do
      if not seen[citation] then
        seen[citation] = true
        cited[#cited + 1] = citation
      end
    end
  end
  local last = nil
  for at, entry in ipairs(job.chapters) do
    if entry.file == self.references_page then
      last = at
    elseif not job.share or at % job.share.of == job.share.at then
      make(at)
    end
  end
  if last and not job.share then
    make(last)
  end
  return fragments, rendered
end

--- What a reference shows: the link's text.
---@param label PlainLabel
---@param mode string
---@param prefix string
---@return string
function Maker:reference_text(label, mode, prefix)
  local number = "<span>" .. label.number .. "</span>"
  if label.number == "" then
    return "<span>" .. label.title .. "</span>"
  elseif mode == "bare" then
    return number
  end
  local word = mode == "own" and prefix or self.book.prefixes[label.kind] or ""
  if mode == "capital" then
    word = pandoc.text.upper(pandoc.text.sub(word, 1, 1)) .. pandoc.text.sub(word, 2)
  end
  if label.kind == "sec" or label.kind == "chapter" or label.kind == "appendix" then
    return "<span>" .. html.escape(word) .. " " .. label.number .. "</span>"
  end
  return html.escape(word) .. "&nbsp;" .. number
end

--- Fills in the references of a piece of a page.
---@param text string
---@param href string the page it is on
---@param labels table<string, { label: PlainLabel, href: string }>
---@return string
function Maker:resolve(text, href, labels)
  return (text:gsub(chapter.REFERENCE, function(id, mode, prefix)
    local found = labels[id]
    if not found then
      return '<span class="quarto-unresolved-ref">?' .. html.escape(id) .. "</span>"
    end
    local anchor = not found.label.top and "#" .. html.escape(id) or ""
    local target = found.href == href and (anchor ~= "" and "" or page_of.link("", pandoc.path.filename(href)))
      or page_of.link(href, found.href)
    return ('<a href="%s%s" class="quarto-xref">%s</a>')
      :format(target, anchor, self:reference_text(found.label, mode, prefix))
  end))
end

---@param code string two hexadecimal digits
---@return string
local function from_hex(code)
  return string.char(tonumber(code, 16))
end

--- Makes a page's addresses right: chapters as pages, files of the project as resources, citations to
--- the page of references.
---@param text string
---@param entry table of the job
---@param pages table<string, string> file → href
---@param references { href: string, keys: table<string, boolean> }|nil
---@return string
function Maker:relink(text, entry, pages, references)
  local folder, root = text_of.folder(entry.file), page_of.root(entry.href)
  return html.map_links(text, function(url)
    if references and references.href ~= entry.href and url:match("^#ref%-") then
      return page_of.link(entry.href, references.href) .. url
    end
    if url == "" or url:match("^[#?]") or url:match("^//") or url:match("^%a[%w+.-]*:") then
      return url
    end
    local path, rest = url:match("^([^?#]*)(.*)$")
    local name = path:gsub("&amp;", "&"):gsub("%%(%x%x)", from_hex)
    local target = text_of.clean_path(name:match("^/") and name or folder .. name)
    if not target or target == "" then
      return url
    end
    if pages[target] then
      return page_of.link(entry.href, pages[target]) .. rest
    end
    self.resources[target] = true
    return name:match("^/") and root .. path:gsub("^/+", "") .. rest or url
  end)
end

--- Makes all pages.
---@return table result for stdout
function Maker:run()
  local job = self.job
  local fragments, rendered = self:fragments()
  if job.share then
    return { rendered = rendered }
  end
  local labels, hrefs, list = {}, {}, {}
  local references = nil
  for at, entry in ipairs(job.chapters) do
    hrefs[entry.file] = entry.href
    for _, label in ipairs(fragments[at].labels) do
      labels[label.id] = labels[label.id] or { label = label, href = entry.href }
    end
    if entry.file == self.references_page then
      references = { href = entry.href }
    end
  end
  ---@type PlainPage[]
  local pages = {}
  for at, entry in ipairs(job.chapters) do
    local fragment = fragments[at]
    local function finished(text)
      return self:relink(self:resolve(text, entry.href, labels), entry, hrefs, references)
    end
    pages[at] = {
      file = entry.file, href = entry.href, kind = entry.kind, part = entry.part,
      lang = fragment.lang ~= "" and fragment.lang or job.book.lang,
      number = self.book.number_sections and fragment.number or "",
      title = finished(fragment.title),
      name = finished(fragment.name ~= "" and fragment.name or fragment.title),
      title_id = fragment.title_id, subtitle = finished(fragment.subtitle),
      authors = fragment.authors, date = fragment.date, abstract = finished(fragment.abstract),
      description = finished(fragment.description),
      body = finished(fragment.body), toc = fragment.toc,
    }
    list[at] = {
      file = entry.file, href = entry.href, part = entry.part, number = pages[at].number,
      title = html.text(formulas.as_tex(pages[at].title)),
    }
  end
  ---@type PlainShell
  local shell = {
    title = inline_html(chapter.inlines(job.book.title)),
    lang = job.book.lang,
    titles = self.book.titles,
    version = job.version,
    config = function(page)
      local config = {}
      for key, value in pairs(job.page) do
        config[key] = value
      end
      config.root, config.href = page_of.root(page.href), page.href
      return (pandoc.json.encode(config):gsub("</", "<\\/"))
    end,
  }
  local changed = 0
  for at, page in ipairs(pages) do
    local whole = page_of.render(at, pages, shell)
    files.write(pandoc.path.join({ job.site, page.href }), formulas.as_tex(whole))
    if files.write(pandoc.path.join({ job.pages, page.href }), whole) then
      changed = changed + 1
    end
  end
  local inputs, resources = {}, {}
  for path in pairs(self.inputs) do
    inputs[#inputs + 1] = path
  end
  for path in pairs(self.resources) do
    resources[#resources + 1] = path
  end
  table.sort(inputs)
  table.sort(resources)
  return { chapters = list, rendered = rendered, changed = changed, inputs = inputs, resources = resources }
end

local text = files.read(arg[1])
if not text then
  io.stderr:write("ask-book: there is no job at ", tostring(arg[1]), "\n")
  os.exit(1)
end
local maker = setmetatable({
  job = pandoc.json.decode(text, false), inputs = {}, resources = {},
}, Maker)
maker.citations = citations_of.new({
  config = maker.job.config,
  project = maker.job.project,
  lang = maker.job.book.lang,
  read = function(path)
    return maker:read(path)
  end,
  warn = warn,
})
local ok, result = pcall(maker.run, maker)
if not ok then
  warn((tostring(result):gsub("%s+", " ")))
  os.exit(1)
end
io.stdout:write(pandoc.json.encode(result), "\n")
