--- A book's citations: bibliographies read once, a style from the project, citeproc chapter by chapter.

local text_of = require("plain_text")

local M = {}

local READERS =
  { bib = "biblatex", bibtex = "bibtex", json = "csljson", yaml = "markdown", yml = "markdown", ris = "ris" }

---@class PlainCitations
---@field config table the project's merged configuration
---@field project string absolute folder
---@field lang string
---@field read fun(path: string): string|nil
---@field warn fun(message: string)
---@field known table<string, any>
local Citations = {}
Citations.__index = Citations

---@param value any
---@return any[]
local function as_list(value)
  if value == nil then
    return {}
  elseif type(value) == "table" and value[1] ~= nil and pandoc.utils.type(value) ~= "Inlines" then
    return value
  end
  return { value }
end

--- The text of a bibliography file; a missing one is reported once.
---@param path string relative to the project
---@return { text: string, hash: string, list: any }
function Citations:bibliography(path)
  local known = self.known[path]
  if not known then
    local text = self.read(path)
    if not text then
      self.warn("the bibliography " .. path .. " cannot be read")
    end
    text = text_of.normalise(text or "")
    known = { text = text, hash = pandoc.utils.sha1(text) }
    self.known[path] = known
  end
  return known
end

--- The references of a bibliography file, read once for the whole book.
---@param path string relative to the project
---@return any
function Citations:references(path)
  local known = self:bibliography(path)
  if not known.list then
    local text = known.text
    local format = READERS[path:lower():match("%.(%a+)$") or "bib"] or "biblatex"
    if format == "markdown" then
      text = "---\n" .. text:gsub("^%-%-%-%s*\n", ""):gsub("\n%.%.%.%s*$", ""):gsub("\n%-%-%-%s*$", "") .. "\n---\n"
    end
    local ok, doc = pcall(pandoc.read, text, format)
    if not ok then
      self.warn("the bibliography " .. path .. " cannot be read: " .. tostring(doc):gsub("%s+", " "))
    end
    known.list = ok and doc.meta.references or {}
  end
  return known.list
end

--- The bibliography files of a chapter: its own, or the book's.
---@param meta table
---@param file string
---@return string[]
function Citations:bibliography_files(meta, file)
  local files = {}
  for _, entry in ipairs(as_list(self.config.bibliography)) do
    files[#files + 1] = text_of.clean_path(text_of.as_text(entry))
  end
  for _, entry in ipairs(as_list(meta.bibliography)) do
    local name = text_of.as_text(entry)
    files[#files + 1] = text_of.clean_path(name:match("^/") and name or text_of.folder(file) .. name)
  end
  return files
end

--- The citation style: a file of the project that is a whole style. A style's address is never fetched.
---@param meta table
---@return string|nil absolute path, string its hash
function Citations:style(meta)
  local name = text_of.as_text(meta.csl or self.config.csl)
  local path = name ~= "" and not name:match("^%a+://") and text_of.clean_path(name)
  for _, candidate in ipairs(path and { path, path .. ".csl" } or {}) do
    local text = self.read(candidate)
    if text and text:find("<citation", 1, true) then
      return pandoc.path.join({ self.project, candidate }), pandoc.utils.sha1(text)
    end
  end
  return nil, ""
end

--- Fills in citations. The list of references stays only where the chapter asks for it, or where
--- no page of the book has it.
---@param blocks any
---@param meta table
---@param file string
---@param order string[] the keys that the chapter cites
---@param extra string[] keys that the book cites elsewhere, for the page of references
---@return any blocks
function Citations:cite(blocks, meta, file, order, extra)
  -- Quarto makes a book's own list of references without a look at its language.
  local lang = #extra == 0 and text_of.as_text(meta.lang or self.lang) or ""
  local nocite = pandoc.Inlines({})
  local everything = false
  for _, value in ipairs({ meta.nocite or false, self.config.nocite or false }) do
    for key in (value and text_of.as_text(value) or ""):gmatch("@([%w_][%w_:.#$%%&+?<>~/-]*)") do
      extra[#extra + 1] = key
    end
    everything = everything or (value and text_of.as_text(value):find("@*", 1, true) ~= nil)
  end
  for _, key in ipairs(extra) do
    nocite:insert(pandoc.Cite({ pandoc.Str("@" .. key) }, { pandoc.Citation(key, "AuthorInText") }))
  end
  if #order == 0 and #extra == 0 and not everything then
    return blocks
  end
  local wanted, references, seen = {}, {}, {}
  for _, key in ipairs(order) do
    wanted[key] = true
  end
  for _, key in ipairs(extra) do
    wanted[key] = true
  end
  for _, path in ipairs(self:bibliography_files(meta, file)) do
    for _, reference in ipairs(self:references(path)) do
      local id = text_of.as_text(reference.id)
      if (wanted[id] or everything) and not seen[id] then
        seen[id] = true
        references[#references + 1] = reference
        if everything and not wanted[id] then
          nocite:insert(pandoc.Cite({ pandoc.Str("@" .. id) }, { pandoc.Citation(id, "AuthorInText") }))
        end
      end
    end
  end
  if #references == 0 then
    return blocks
  end
  local style = self:style(meta)
  local doc = pandoc.Pandoc(blocks, {
    references = references,
    csl = style,
    lang = lang ~= "" and lang or nil,
    nocite = #nocite > 0 and pandoc.MetaInlines(nocite) or nil,
    ["link-citations"] = true,
  })
  local ok, cited = pcall(pandoc.utils.citeproc, doc)
  if not ok then
    self.warn(file .. ": citations were left as they are: " .. tostring(cited):gsub("%s+", " "))
    return blocks
  end
  return cited.blocks
end

---@param fields { config: table, project: string, lang: string, read: function, warn: function }
---@return PlainCitations
function M.new(fields)
  fields.known = {}
  return setmetatable(fields, Citations)
end

return M
