--- Formulas, whatever a book makes of them, as TeX between the delimiters of MathJax: the same words for a book
--- with MathJax, KaTeX, MathML or drawn formulas. Where a page has no TeX, it is the symbols that it shows.
local html = require("html")

local formulas = {}

---@param node Node
---@param classes table<string, boolean>
---@return boolean
function formulas.is(node, classes)
  local tag = node.tag
  return tag == "math" or tag == "eq" or classes.math and (tag == "span" or tag == "img") or false
end

---@param node Node a formula
---@return Node|nil what it says in TeX, beside the symbols
function formulas.tex(node)
  return html.find(node, function(child)
    return child.tag == "annotation" and html.attribute(child, "encoding") == "application/x-tex"
  end)
end

---@param node Node
---@param classes table<string, boolean>
---@param source string collapsed
---@return string
function formulas.delimit(node, classes, source)
  local mark, bare = source:match("^\\([%(%[])(.*)\\[%)%]]$")
  local is_display = mark == "[" or classes.display or html.attribute(node, "display") == "block"
    or html.attribute(node, "env") == "displaymath"
  bare = bare or source:match("^%$%$?(.-)%$%$?$") or source
  return is_display and "\\[" .. bare .. "\\]" or "\\(" .. bare .. "\\)"
end

---@param shown string an equation
---@return string|nil number `\tag{2.1}` for those who typeset TeX, else "(2.1)" at the end
function formulas.number(shown)
  return shown:match("\\tag%s*{([^{}]+)}") or shown:match("%(([%w.]+)%)[^%w()]*$")
end

return formulas
