--- A page as a tree, by the rules that browsers follow, as far as text and sections need them.
--- Quarto's pages are clean; an author's raw HTML is not, and must never lose the rest of the page.
local entities = require("entities")

local html = {}

---@class Node
---@field tag string lower case, "#page" for the root
---@field raw string the attributes as they are written
---@field block boolean it starts on a line of its own
---@field flow? boolean an inline element with a block inside
---@field [integer] Node|string children; a string is text whose character references are not decoded

-- Browsers stop nesting here, too; every walk over the tree may be recursive.
local MAX_DEPTH = 500

---@param words string
---@return table<string, boolean>
local function set(words)
  local members = {}
  for word in words:gmatch("%S+") do
    members[word] = true
  end
  return members
end

local void = set("area base br col embed hr img input link meta param source track wbr")
local raw_text = set("script style textarea title xmp iframe noembed noframes noscript")
local foreign = set("svg math")
local block = set([[#page address article aside blockquote body caption center col colgroup dd details dialog dir div
  dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hgroup hr html legend li main menu nav ol
  p pre search section summary table tbody td tfoot th thead tr ul]])
local heading = set("h1 h2 h3 h4 h5 h6")
local keeps_paragraph = set("caption col colgroup head html body tbody td tfoot th thead tr legend")
local cell_scope = set("table td th caption template object")
local table_scope = set("table template")
local list_scope = set("ul ol menu dl table td th caption template object button section main blockquote")

-- A start tag closes the nearest open one of these, unless something of the scope is in between.
---@type table<string, {targets: table<string, boolean>, scope: table<string, boolean>}>
local implied_ends = {
  li = { targets = set("li"), scope = list_scope },
  dt = { targets = set("dt dd"), scope = list_scope },
  dd = { targets = set("dt dd"), scope = list_scope },
  td = { targets = set("td th"), scope = table_scope },
  th = { targets = set("td th"), scope = table_scope },
  tr = { targets = set("tr caption colgroup"), scope = table_scope },
  tbody = { targets = set("tbody thead tfoot caption colgroup"), scope = table_scope },
  thead = { targets = set("tbody thead tfoot caption colgroup"), scope = table_scope },
  tfoot = { targets = set("tbody thead tfoot caption colgroup"), scope = table_scope },
  option = { targets = set("option"), scope = set("select datalist") },
}
-- Where the search for the element that an end tag closes stops; `cell_scope` for all others.
local end_scopes = {
  table = {}, template = {}, object = {}, li = list_scope, dt = list_scope, dd = list_scope,
  tbody = table_scope, thead = table_scope, tfoot = table_scope, tr = table_scope, td = table_scope, th = table_scope,
  caption = table_scope,
}

---@param source string
---@param pos integer just after the name of a tag
---@return integer|nil where its ">" is: quoted values may hold others
local function tag_end(source, pos)
  while true do
    local at = source:find("[>\"']", pos)
    if not at or source:byte(at) == 62 then
      return at
    end
    local before = at - 1
    while source:find("^%s", before) do
      before = before - 1
    end
    if source:byte(before) == 61 then
      at = source:find(source:sub(at, at), at + 1, true)
      if not at then
        return nil
      end
    end
    pos = at + 1
  end
end

---@param tag string
---@return string a pattern for its end tag in any case
local function closing(tag)
  return "</" .. tag:gsub("%a", function(letter)
    return "[" .. letter .. letter:upper() .. "]"
  end) .. "%f[%s/>\0]"
end

---@param raw string
---@return table<string, string> attributes by lower-case name, decoded
local function parse_attributes(raw)
  local found, pos = {}, 1
  while true do
    local name, at = raw:match("^[%s/]*(=?[^%s/=]+)%s*()", pos)
    if not name then
      return found
    end
    local value, after = "", at
    if raw:byte(at) == 61 then
      local quote, start = raw:match("^=%s*([\"'])()", at)
      if quote then
        local stop = raw:find(quote, start, true) or #raw + 1
        value, after = raw:sub(start, stop - 1), stop + 1
      else
        value, after = raw:match("^=%s*(%S*)()", at)
      end
    end
    name = name:lower()
    found[name] = found[name] or entities.decode(value)
    pos = after
  end
end

---@type table<string, {attributes: table<string, string>, classes: table<string, boolean>}>
local parsed = {}

---@param node Node
---@return {attributes: table<string, string>, classes: table<string, boolean>}
local function details(node)
  local known = parsed[node.raw]
  if not known then
    local attributes = parse_attributes(node.raw)
    known = { attributes = attributes, classes = set(attributes.class or "") }
    parsed[node.raw] = known
  end
  return known
end

---@param node Node
---@param name string lower case
---@return string|nil decoded
function html.attribute(node, name)
  return details(node).attributes[name]
end

---@param node Node
---@return table<string, boolean>
function html.classes(node)
  return details(node).classes
end

---@param node Node
---@param test fun(node: Node): any
---@return Node|nil the first descendant, in reading order, that passes
function html.find(node, test)
  for _, child in ipairs(node) do
    if type(child) == "table" then
      local found = test(child) and child or html.find(child, test)
      if found then
        return found
      end
    end
  end
end

---@param class string
---@return fun(node: Node): boolean|nil
function html.with_class(class)
  return function(node)
    return node.raw:find(class, 1, true) and html.classes(node)[class]
  end
end

---@param source string valid UTF-8
---@return Node page
---@return table<string, Node> owners the element that each id leads to: its first
function html.parse(source)
  parsed = {}
  local page = { tag = "#page", raw = "", block = true }
  local owners = {}
  local stack, depth = { page }, 1
  local foreign_depth

  local function close_implied(rule)
    for i = depth, 2, -1 do
      local tag = stack[i].tag
      if rule.targets[tag] then
        depth = i - 1
        return
      elseif rule.scope[tag] then
        return
      end
    end
  end

  -- Every block closes the paragraph it would be in, so that one can only be open below the nearest block.
  local function close_paragraph()
    for i = depth, 2, -1 do
      if stack[i].tag == "p" then
        depth = i - 1
        return
      elseif stack[i].block then
        return
      end
    end
  end

  local function add(child)
    local parent = stack[depth]
    parent[#parent + 1] = child
  end

  local function open(tag, raw)
    local is_block = block[tag] or false
    local in_foreign = foreign_depth and foreign_depth <= depth
    if in_foreign and is_block then
      depth = foreign_depth - 1
      in_foreign = false
    end
    if not in_foreign then
      foreign_depth = nil
      if is_block and not keeps_paragraph[tag] then
        close_paragraph()
      end
      if implied_ends[tag] then
        close_implied(implied_ends[tag])
      end
      if heading[tag] and heading[stack[depth].tag] then
        depth = depth - 1
      end
    end
    if is_block then
      for i = depth, 2, -1 do
        if stack[i].block or stack[i].flow then
          break
        end
        stack[i].flow = true
      end
    end
    local node = { tag = tag, raw = raw, block = is_block }
    if depth == MAX_DEPTH then
      depth = depth - 1
    end
    add(node)
    if raw:find("[iI][dD]") then
      local id = html.attribute(node, "id")
      if id and id ~= "" and not owners[id] then
        owners[id] = node
      end
    end
    if not (void[tag] or in_foreign and raw:find("/$")) then
      depth = depth + 1
      stack[depth] = node
      if tag == "foreignobject" then
        foreign_depth = nil
      elseif foreign[tag] and not in_foreign then
        foreign_depth = depth
      end
    end
  end

  local function close(tag)
    local scope = end_scopes[tag] or cell_scope
    for i = depth, 2, -1 do
      local node = stack[i]
      if node.tag == tag then
        depth = i - 1
        return
      elseif scope[node.tag] or node.block and not block[tag] then
        return
      end
    end
  end

  local pos = 1
  while true do
    local at = source:find("<", pos, true)
    local before = source:sub(pos, (at or 0) - 1)
    if before ~= "" then
      add(before)
    end
    if not at then
      return page, owners
    end
    local name, after = source:match("^<(%a[^%s/>%z]*)()", at)
    if name then
      local tag, stop = name:lower(), tag_end(source, after)
      if not stop then
        return page, owners
      end
      open(tag, source:sub(after, stop - 1))
      pos = stop + 1
      if raw_text[tag] and not foreign_depth then
        local ended = source:find(closing(tag), pos)
        add(source:sub(pos, (ended or 0) - 1))
        if not ended then
          return page, owners
        end
        pos = ended
      end
    elseif source:find("^</%a", at) then
      name, after = source:match("^</(%a[^%s/>%z]*)()", at)
      local stop = tag_end(source, after)
      if not stop then
        return page, owners
      end
      close(name:lower())
      pos = stop + 1
    elseif source:find("^<!%-%-", at) then
      local _, stop = source:find("^<!%-%-%-?>", at)
      if not stop then
        _, stop = source:find("%-%-!?>", at + 4)
      end
      if not stop then
        return page, owners
      end
      pos = stop + 1
    elseif source:find("^<[!?/]", at) then
      pos = (source:find(">", at, true) or #source) + 1
    else
      local last = source:match("^<+()", at) - 1
      local text_end = math.max(at, last - 1)
      add(source:sub(at, text_end))
      pos = text_end + 1
    end
  end
end

return html
