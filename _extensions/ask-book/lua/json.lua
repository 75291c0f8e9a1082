--- JSON with the keys in the order they are given, so that the same book is the same bytes. It is JavaScript, too.
local json = {}

local escapes = { ['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n", ["\t"] = "\\t" }

---@param char string one byte
---@return string
local function escape(char)
  return escapes[char] or ("\\u%04x"):format(char:byte())
end

-- What would end the script, or the line, that this JSON may stand in.
local in_scripts = { ["</"] = "<\\/", ["\u{2028}"] = "\\u2028", ["\u{2029}"] = "\\u2029" }

---@param text string UTF-8
---@return string
function json.string(text)
  text = text:gsub('[\0-\31\127"\\]', escape)
  for found, replacement in pairs(in_scripts) do
    if text:find(found, 1, true) then
      text = text:gsub(found, replacement)
    end
  end
  return '"' .. text .. '"'
end

---@param items string[] texts
---@return string
function json.strings(items)
  local encoded = {}
  for i, item in ipairs(items) do
    encoded[i] = json.string(item)
  end
  return "[" .. table.concat(encoded, ",") .. "]"
end

---@param fields (string|integer)[] key, value, key, value …; a value is a text or an integer
---@return string
function json.object(fields)
  local encoded = {}
  for i = 1, #fields, 2 do
    local value = fields[i + 1]
    encoded[#encoded + 1] = json.string(fields[i]) .. ":" .. (type(value) == "string" and json.string(value) or value)
  end
  return "{" .. table.concat(encoded, ",") .. "}"
end

return json
