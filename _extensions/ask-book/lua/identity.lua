--- Which book is this: the same twelve digits on every machine, in Lua, Python and JavaScript.

--- The letters and digits that identify a text. Smart typography and Markdown marks are dropped, because
--- one side reads the author's source and another what pandoc made of it.
---@param text string UTF-8
---@return string
local function canon(text)
  local lower = text:gsub("[A-Z]", function(letter)
    return string.char(letter:byte() + 32)
  end)
  local letters = lower:gsub("[%z\1-\47\58-\96\123-\127]", "")
  -- U+00A0, then U+2010–U+201F and U+2026
  local plain = letters:gsub("\xC2\xA0", ""):gsub("\xE2\x80[\x90-\x9F\xA6]", "")
  return plain
end

--- `book.id` of the manifest.
---@param title string
---@param lang string "" when the author sets none
---@param site_url string "" when the author sets none
---@param output_name string last component of the output folder's path
---@return string id twelve hexadecimal digits
local function book_id(title, lang, site_url, output_name)
  local parts = { canon(title), canon(lang), (site_url:gsub("/+$", "")), output_name }
  return pandoc.utils.sha1(table.concat(parts, "\n")):sub(1, 12)
end

return { canon = canon, book_id = book_id }
