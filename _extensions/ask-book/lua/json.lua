--- JSON with the keys in the order they are given, so that the same book is the same bytes.
local json = {}

local escapes = { ['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n", ["\t"] = "\\t" }

---@param char string one byte
---@return string
local function escape(char)
  return escapes[char] or ("\\u%04x"):format(char:byte())
end

---@param text string UTF-8
---@return string
function json.string(text)
  return '"' .. text:gsub('[\0-\31\127"\\]', escape) .. '"'
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
