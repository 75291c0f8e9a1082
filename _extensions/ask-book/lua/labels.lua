--- The names by which readers call figures, tables, theorems, equations and sections: "Figure 3.2".
local labels = {}

---@class Label
---@field id string
---@field anchor string where it is in its page, "" for the top
---@field text string "Figure 3.2", or "" when it has no number
---@field caption string
---@field part? string the letter of a subfigure
---@field outer? string id of the figure that a subfigure is in

local MAX_WORDS = 3

---@param shown string what a caption or a theorem begins with: "Figure 3.2: Rivers of the south"
---@return string name "Figure 3.2", or "" when it has no number
---@return string rest "Rivers of the south"
function labels.split(shown)
  local name, stop = shown:match("^([^0-9:]-[0-9A-Za-z.]*[0-9][0-9A-Za-z.]*)()")
  local _, spaces = (name or ""):gsub(" ", "")
  if not name or spaces >= MAX_WORDS then
    return "", shown
  end
  local rest = shown:sub(stop):gsub("^[ :.(-]+", ""):gsub("^–%s*", ""):gsub("^—%s*", "")
  return (name:gsub("%.$", "")), rest
end

---A subfigure shows only "(a)": its name needs that of the figure around it.
---@param list Label[]
function labels.complete(list)
  local names = {}
  for _, label in ipairs(list) do
    names[label.id] = label.text
  end
  for _, label in ipairs(list) do
    local name = names[label.outer]
    if label.part and name and name ~= "" then
      label.text = ("%s (%s)"):format(name, label.part)
    end
  end
end

return labels
