--- Character references of HTML as UTF-8.
local entities = {}

local named = {
  amp = "&", lt = "<", gt = ">", quot = '"', apos = "'", nbsp = "\u{A0}", shy = "\u{AD}",
  ndash = "–", mdash = "—", hellip = "…", lsquo = "‘", rsquo = "’", ldquo = "“", rdquo = "”", laquo = "«", raquo = "»",
}

-- What browsers make of the numbers 128 to 159, which name no character (Windows-1252).
local windows = {
  [0x80] = 0x20AC, [0x82] = 0x201A, [0x83] = 0x0192, [0x84] = 0x201E, [0x85] = 0x2026, [0x86] = 0x2020, [0x87] = 0x2021,
  [0x88] = 0x02C6, [0x89] = 0x2030, [0x8A] = 0x0160, [0x8B] = 0x2039, [0x8C] = 0x0152, [0x8E] = 0x017D, [0x91] = 0x2018,
  [0x92] = 0x2019, [0x93] = 0x201C, [0x94] = 0x201D, [0x95] = 0x2022, [0x96] = 0x2013, [0x97] = 0x2014, [0x98] = 0x02DC,
  [0x99] = 0x2122, [0x9A] = 0x0161, [0x9B] = 0x203A, [0x9C] = 0x0153, [0x9E] = 0x017E, [0x9F] = 0x0178,
}

---@param code integer|nil
---@return string
local function character(code)
  if not code or code == 0 or code > 0x10FFFF or (code >= 0xD800 and code <= 0xDFFF) then
    return "\u{FFFD}"
  end
  return utf8.char(windows[code] or code)
end

---Any of the 2,200 names, asked of pandoc once each; an unknown one stays as it is written.
---@param name string
---@return string
local function lookup(name)
  local known = named[name]
  if not known then
    known = pandoc.utils.stringify(pandoc.read("<code>&" .. name .. ";</code>", "html"))
    named[name] = known
  end
  return known
end

---@param sign string "#" for a number
---@param name string
---@param stop string ";" or nothing
---@return string|nil
local function reference(sign, name, stop)
  if sign == "" then
    return stop == ";" and lookup(name) or nil
  end
  local digits, rest = name:match("^[xX](%x+)(.*)$")
  local base = 16
  if not digits then
    digits, rest = name:match("^(%d+)(.*)$")
    base = 10
  end
  return digits and character(#digits < 9 and tonumber(digits, base) or nil) .. rest .. (rest == "" and "" or stop)
end

---@param text string
---@return string
function entities.decode(text)
  if not text:find("&", 1, true) then
    return text
  end
  return (text:gsub("&(#?)(%w+)(;?)", reference))
end

return entities
