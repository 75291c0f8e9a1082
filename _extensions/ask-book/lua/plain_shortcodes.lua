--- Shortcodes: `{{< meta title >}}` and the like, replaced in the text as Quarto does.

local html = require("plain_html")

local M = {}

--- Markdown of the value at `book.title`-like dotted keys; nil when there is none.
---@param tree any
---@param key string
---@return string|nil
local function lookup(tree, key)
  for name in key:gmatch("[^.]+") do
    if type(tree) ~= "table" then
      return nil
    end
    tree = tree[name] or tree[math.tointeger(tonumber(name) or 0.5) or name]
  end
  local kind = pandoc.utils.type(tree)
  if kind == "Inlines" or kind == "Blocks" then
    local blocks = kind == "Inlines" and { pandoc.Plain(tree) } or tree
    return (pandoc.write(pandoc.Pandoc(blocks), "markdown", { wrap_text = "none" }):gsub("\n+$", ""))
  end
  return (type(tree) == "string" or type(tree) == "number" or type(tree) == "boolean") and tostring(tree) or nil
end

--- The arguments of a shortcode: positional ones by number, `key=value` by name.
---@param text string
---@return table<integer|string, string>
local function arguments(text)
  local found = {}
  local at = 1
  while at <= #text do
    local blank = text:match("^%s+()", at)
    at = blank or at
    local key, after = text:match("^([%w_.-]+)=()", at)
    local start = after or at
    local value, stop = text:match('^"([^"]*)"()', start)
    if not value then
      value, stop = text:match("^'([^']*)'()", start)
    end
    if not value then
      value, stop = text:match("^(%S+)()", start)
    end
    if not stop then
      break
    end
    if key then
      found[key] = value
    else
      found[#found + 1] = value
    end
    at = stop
  end
  return found
end

--- What each shortcode leaves in the text. Those not here (icons, lorem ipsum, extensions') leave nothing.
---@type table<string, fun(args: table<integer|string, string>, context: table, meta: table): string>
local SHORTCODES = {
  meta = function(args, context, meta)
    local key = args[1] or ""
    return lookup(meta, key) or lookup(context.config, key) or "?meta:" .. key
  end,
  var = function(args, context)
    return lookup(context.variables, args[1] or "") or "?var:" .. (args[1] or "")
  end,
  env = function(args, context)
    return context.environment(args[1] or "") or args[2] or ""
  end,
  kbd = function(args)
    local keys = args[1] or args.win or args.linux or args.mac or ""
    return "`<kbd>" .. html.escape(keys) .. "</kbd>`{=html}"
  end,
  video = function(args)
    local url = args[1] or args.src or ""
    return url == "" and "" or string.format("[%s](<%s>)", args.title or url, url)
  end,
}

--- Replaces the shortcodes of a piece of text; `{{{< … >}}}` stays, without its extra braces.
---@param text string
---@param code boolean inside a code block: values as plain text
---@param context PlainSourceContext
---@param meta table
---@return string
function M.expand(text, code, context, meta)
  if not text:find("{{<", 1, true) then
    return text
  end
  local escaped = {}
  text = text:gsub("{({{<.->}})}", function(inner)
    escaped[#escaped + 1] = inner
    return "\1" .. #escaped .. "\1"
  end)
  text = text:gsub("{{<%s*(.-)%s*>}}", function(inner)
    local commented = inner:match("^/%*%s*(.-)%s*%*/$")
    if commented then
      escaped[#escaped + 1] = "{{< " .. commented .. " >}}"
      return "\1" .. #escaped .. "\1"
    end
    local name, rest = inner:match("^(%S+)%s*(.*)$")
    local handler = SHORTCODES[name]
    local value = handler and handler(arguments(rest or ""), context, meta) or ""
    if code and value ~= "" then
      value = pandoc.utils.stringify(pandoc.read(value, "markdown"))
    end
    return value
  end)
  return (text:gsub("\1(%d+)\1", function(n)
    return escaped[tonumber(n)]
  end))
end

return M
