--- Repairs and rewrites on a page's HTML as text: well-formed tags, links, references.

local M = {}

local VOID = {}
for name in ("area base br col embed hr img input link meta param source track wbr"):gmatch("%S+") do
  VOID[name] = true
end

--- Elements whose start ends an open paragraph.
local BLOCK = {}
for name in ("address article aside blockquote details div dl fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 "
  .. "header hr main menu nav ol p pre section table ul"):gmatch("%S+") do
  BLOCK[name] = true
end

local RAW = { script = true, style = true, textarea = true, title = true }

--- Closes what is open and drops end tags that close nothing, as a browser would.
---@param html string
---@return string
function M.repair(html)
  local out, open, at = {}, {}, 1
  local function close(depth)
    for n = #open, depth, -1 do
      out[#out + 1] = "</" .. open[n] .. ">"
      open[n] = nil
    end
  end
  local function depth_of(name)
    for n = #open, 1, -1 do
      if open[n] == name then
        return n
      end
    end
  end
  while true do
    local start = html:find("<", at, true)
    if not start then
      out[#out + 1] = html:sub(at)
      break
    end
    out[#out + 1] = html:sub(at, start - 1)
    local comment_end = html:sub(start, start + 3) == "<!--" and select(2, html:find("-->", start + 4, true))
    local slash, name, tag_end = html:match("^<(/?)(%a[%w:-]*)()", start)
    if comment_end then
      out[#out + 1] = html:sub(start, comment_end)
      at = comment_end + 1
    elseif html:sub(start, start + 3) == "<!--" then
      break
    elseif not name then
      local stop = html:match("^<[!?][^>]*>()", start)
      if not stop then
        out[#out + 1] = "&lt;"
      end
      at = stop or start + 1
    else
      local stop = tag_end
      repeat
        local quote, after = html:match("^[^>\"']*([>\"'])()", stop)
        stop = after
        if quote and quote ~= ">" then
          stop = select(2, html:find(quote, stop, true))
          stop = stop and stop + 1
        end
      until quote == ">" or not stop
      if not stop then
        out[#out + 1] = "&lt;"
        at = start + 1
      else
        local tag = html:sub(start, stop - 1)
        local lower = name:lower()
        at = stop
        if slash == "/" then
          local depth = depth_of(lower)
          if depth then
            close(depth)
          end
        elseif VOID[lower] or tag:match("/>$") and (lower == "path" or depth_of("svg") or depth_of("math")) then
          out[#out + 1] = tag
        else
          local paragraph = BLOCK[lower] and depth_of("p")
          if paragraph then
            close(paragraph)
          end
          out[#out + 1] = tag
          if RAW[lower] then
            local _, stop_raw = html:lower():find("</" .. lower .. "%s*>", stop)
            if not stop_raw then
              out[#out + 1] = "</" .. lower .. ">"
              at = #html + 1
            else
              out[#out + 1] = html:sub(stop, stop_raw)
              at = stop_raw + 1
            end
          else
            open[#open + 1] = lower
          end
        end
      end
    end
  end
  close(1)
  return table.concat(out)
end

--- Applies `change` to every address in `href`, `src`, `poster` and `data` attributes.
---@param html string
---@param change fun(url: string, attribute: string): string
---@return string
function M.map_links(html, change)
  return (html:gsub("(<%a[^<>]*>)", function(tag)
    if not tag:find("=", 1, true) then
      return nil
    end
    return (tag:gsub('(%s)(%a+)="([^"]*)"', function(space, name, url)
      if name == "href" or name == "src" or name == "poster" or name == "data" then
        return ('%s%s="%s"'):format(space, name, change(url, name))
      end
    end))
  end))
end

--- Text without tags, entities read, spaces collapsed.
---@param html string
---@return string
function M.text(html)
  local text = html:gsub("<[^>]*>", ""):gsub("&nbsp;", "\u{A0}"):gsub("&lt;", "<"):gsub("&gt;", ">")
  return (text:gsub("&quot;", '"'):gsub("&#39;", "'"):gsub("&amp;", "&"):gsub("%s+", " "):gsub("^ ", ""):gsub(" $", ""))
end

---@param text string
---@return string
function M.escape(text)
  return (text:gsub("[&<>\"]", { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;" }))
end

return M
