--- Formulas in pages. Readers get MathML, which browsers show without any script. The builder gets what
--- is in Quarto's pages: TeX between its delimiters, in the same `span.math`.

local M = {}

local ANNOTATION = '<annotation encoding="application/x%-tex">(.-)</annotation></semantics></math>'

---@param display string `inline` or `display`
---@param tex string HTML
---@return string
local function delimited(display, tex)
  local open, close = "\\(", "\\)"
  if display == "display" then
    open, close = "\\[", "\\]"
  end
  return ('<span class="math %s">%s%s%s</span>'):format(display, open, tex, close)
end

--- What pandoc wrote, with every formula in a `span.math` and the numbers of equations beside theirs.
---@param text string HTML
---@return string
function M.wrap(text)
  if not text:find("<math", 1, true) and not text:find('<span class="math', 1, true) then
    return text
  end
  -- Formulas that pandoc cannot convert come as TeX between dollars.
  text = text:gsub('<span class="math (%a+)">%$+(.-)%$+</span>', delimited)
  text = text:gsub('(<math display="(%a+)".-</math>)', function(formula, display)
    return ('<span class="math %s">%s</span>'):format(display == "block" and "display" or "inline", formula)
  end)
  return (text:gsub('(<span id="[^"]*") data%-tag="([^"]*)">(.-</span>)</span>', function(start, number, formula)
    local tag = "\n\\tag{" .. number .. "}"
    formula = formula:gsub("</annotation>", tag:gsub("%%", "%%%%") .. "%0"):gsub("\\%]</span>$", tag .. "\\]</span>")
    formula = formula:gsub("</math></span>$", '</math><span class="equation-number">(' .. number .. ")</span></span>")
    return start .. ">" .. formula .. "</span>"
  end))
end

--- A page with TeX instead of MathML.
---@param text string HTML
---@return string
function M.as_tex(text)
  text = text:gsub('<span class="equation%-number">.-</span>', "")
  return (text:gsub('<span class="math (%a+)"><math.-' .. ANNOTATION .. "</span>", delimited))
end

return M
