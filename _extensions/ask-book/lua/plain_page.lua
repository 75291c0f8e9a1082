--- The page around a chapter: head, list of chapters, title block, previous and next.

local formulas = require("plain_formulas")
local html = require("plain_html")

local M = {}

---@class PlainPage one chapter, rendered
---@field file string source, relative to the project
---@field href string page, relative to the site
---@field kind "home"|"chapter"|"part"|"appendix"
---@field part string
---@field lang string
---@field number string
---@field title string HTML
---@field name string HTML of the title in lists: the home page is not called like the book there
---@field title_id string
---@field subtitle string HTML
---@field authors string[] HTML
---@field date string HTML
---@field abstract string HTML
---@field description string HTML
---@field body string HTML
---@field toc { level: integer, id: string, html: string, number: string }[]

---@class PlainShell what all pages share
---@field title string HTML
---@field lang string
---@field titles PlainWords
---@field version string
---@field config fun(page: PlainPage): string the JSON of the page's `ask-book-config`

---@param href string
---@return string
function M.root(href)
  return ("../"):rep(select(2, href:gsub("/", "")))
end

--- The address of a page, seen from another, ready for an attribute: what has a meaning in addresses is escaped.
---@param from string href
---@param to string href
---@return string
function M.link(from, to)
  return M.root(from) .. html.escape((to:gsub('[%%?#\\: ]', function(char)
    return ("%%%02X"):format(char:byte())
  end)))
end

--- "3", "Chapter title" as Quarto's pages name a chapter.
---@param page PlainPage
---@param shell PlainShell
---@return string
local function heading(page, shell)
  if page.number == "" or page.kind == "home" then
    return page.title
  elseif page.kind == "appendix" then
    return shell.titles.appendix .. " " .. page.number .. " — " .. page.title
  end
  return ('<span class="chapter-number">%s</span>&nbsp; <span class="chapter-title">%s</span>')
    :format(page.number, page.title)
end

--- Titles inside links must not hold links or notes of their own.
---@param inner string
---@return string
local function unlinked(inner)
  local bare = inner:gsub("<!%-%-.-%-%->", ""):gsub("<sup>.-</sup>", ""):gsub("<a%s[^>]*>", ""):gsub("</a>", "")
  return (bare:gsub('%sid="[^"]*"', ""))
end

---@param page PlainPage
---@param pages PlainPage[]
---@param shell PlainShell
---@return string
local function sidebar(page, pages, shell)
  local out, part, appendices = {}, "", false
  for _, other in ipairs(pages) do
    if other.kind == "appendix" and not appendices then
      appendices, part = true, ""
      out[#out + 1] = '<li class="part">' .. shell.titles.appendices .. "</li>"
    end
    if other.part ~= part and other.kind ~= "part" and other.part ~= "" then
      out[#out + 1] = '<li class="part">' .. html.escape(other.part) .. "</li>"
    end
    part = other.part
    local current = other.href == page.href and ' aria-current="page"' or ""
    local number = other.number ~= "" and '<span class="chapter-number">' .. other.number .. "</span> " or ""
    local inner = ""
    if current ~= "" then
      local items = {}
      for _, entry in ipairs(page.toc) do
        if entry.level <= 3 and entry.id ~= "" then
          local own = entry.number ~= "" and entry.number .. " " or ""
          items[#items + 1] = ('<li class="toc-%d"><a href="#%s">%s%s</a></li>')
            :format(entry.level, html.escape(entry.id), own, unlinked(entry.html))
        end
      end
      inner = #items > 0 and "<ul>" .. table.concat(items) .. "</ul>" or ""
    end
    out[#out + 1] = ('<li class="%s"><a href="%s"%s>%s%s</a>%s</li>')
      :format(other.kind, M.link(page.href, other.href), current, number, unlinked(other.name), inner)
  end
  return '<ul class="chapters">' .. table.concat(out, "\n") .. "</ul>"
end

---@param page PlainPage
---@param shell PlainShell
---@return string
local function title_block(page, shell)
  local inner = heading(page, shell)
  if page.title_id ~= "" then
    inner = ('<span id="%s" class="quarto-section-identifier">%s</span>'):format(html.escape(page.title_id), inner)
  end
  local out = { '<header id="title-block-header" class="quarto-title-block default">', '<div class="quarto-title">' }
  out[#out + 1] = '<h1 class="title">' .. inner .. "</h1>"
  if page.subtitle ~= "" then
    out[#out + 1] = '<p class="subtitle lead">' .. page.subtitle .. "</p>"
  end
  out[#out + 1] = "</div>"
  if page.description ~= "" then
    out[#out + 1] = '<div class="description">' .. page.description .. "</div>"
  end
  if #page.authors > 0 or page.date ~= "" then
    out[#out + 1] = '<div class="quarto-title-meta">'
    for _, author in ipairs(page.authors) do
      out[#out + 1] = "<p>" .. author .. "</p>"
    end
    if page.date ~= "" then
      out[#out + 1] = '<p class="date">' .. page.date .. "</p>"
    end
    out[#out + 1] = "</div>"
  end
  if page.abstract ~= "" then
    out[#out + 1] = '<div class="abstract"><div class="block-title">' .. shell.titles.abstract .. "</div>"
    out[#out + 1] = page.abstract .. "</div>"
  end
  out[#out + 1] = "</header>"
  return table.concat(out, "\n")
end

---@param page PlainPage
---@param at integer
---@param pages PlainPage[]
---@param shell PlainShell
---@return string
local function neighbours(page, at, pages, shell)
  local out = {}
  local function link(other, side, word)
    if other then
      out[#out + 1] = ('<a class="%s" rel="%s" href="%s"><small>%s</small>%s</a>')
        :format(side, side, M.link(page.href, other.href), word, unlinked(heading(other, shell)))
    end
  end
  link(pages[at - 1], "prev", shell.titles.previous)
  link(pages[at + 1], "next", shell.titles.next)
  return '<nav class="neighbours" aria-label="' .. shell.titles.contents .. '">' .. table.concat(out) .. "</nav>"
end

--- A whole page.
---@param at integer which of `pages`
---@param pages PlainPage[]
---@param shell PlainShell
---@return string
function M.render(at, pages, shell)
  local page = pages[at]
  local root = M.root(page.href)
  local plain_title = html.text(shell.title)
  local own_title = html.text(formulas.as_tex(unlinked(heading(page, shell))))
  local title = page.kind == "home" and plain_title or own_title .. " – " .. plain_title
  return table.concat({
    "<!DOCTYPE html>",
    ('<html lang="%s">'):format(html.escape(page.lang ~= "" and page.lang or "en")),
    '<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="generator" content="ask-book ' .. shell.version .. '">',
    "<title>" .. html.escape(title) .. "</title>",
    '<link rel="stylesheet" href="' .. root .. 'ask-book/page.css">',
    '<script type="application/json" id="ask-book-config">' .. shell.config(page) .. "</script>",
    '<script defer src="' .. root .. 'ask-book/widget/launcher.js"></script>',
    '<script defer src="' .. root .. 'ask-book/page.js"></script>',
    "</head>",
    "<body>",
    '<nav id="book" aria-label="' .. shell.titles.contents .. '"><details open>',
    "<summary>" .. unlinked(shell.title) .. "</summary>",
    sidebar(page, pages, shell),
    "</details></nav>",
    '<main class="content" id="quarto-document-content">',
    title_block(page, shell),
    page.body,
    "</main>",
    neighbours(page, at, pages, shell),
    "</body>",
    "</html>",
    "",
  }, "\n")
end

return M
