--- What stands in a page but is not its text. The widget skips the same elements when it looks for a quote.
local html = require("html")

---@type string[] CSS selectors of four simple shapes: tag, .class, [attribute], .class > tag
local skipped = {
  "script", "style", "template", "noscript", "title", "annotation", "annotation-xml", "metadata", "desc",
  "nav", "button", "select", "textarea", "datalist", "iframe", "object", "audio", "video", "canvas",
  ".footnote-ref", ".footnote-back", ".anchorjs-link", ".code-copy-button", ".code-annotation-anchor",
  ".callout-btn-toggle", ".callout-icon-container", ".toc-actions", ".tabset-margin-container",
  ".hidden", ".visually-hidden", ".sr-only", ".screen-reader-only", "[hidden]", ".code-fold > summary",
  ".code-annotation-container-grid > dt", ".code-annotation-container-hidden > dt",
  ".MathJax_Preview", "mjx-assistive-mml", "ask-book",
}

local tags, classes, attributes, children = {}, {}, {}, {}
for _, selector in ipairs(skipped) do
  local parent, child = selector:match("^%.(%S+) > (%S+)$")
  if parent then
    children[child] = children[child] or {}
    table.insert(children[child], parent)
  elseif selector:find("^%.") then
    classes[#classes + 1] = selector:sub(2)
  elseif selector:find("^%[") then
    attributes[#attributes + 1] = selector:sub(2, -2)
  else
    tags[selector] = true
  end
end

---@param node Node
---@return boolean
local function is_skipped(node)
  if tags[node.tag] then
    return true
  elseif node.raw == "" then
    return false
  end
  local own = html.classes(node)
  for _, class in ipairs(classes) do
    if own[class] then
      return true
    end
  end
  for _, name in ipairs(attributes) do
    if html.attribute(node, name) then
      return true
    end
  end
  local style = html.attribute(node, "style")
  return style ~= nil and style:find("display:%s*none") ~= nil
end

---@param node Node
---@param parent? Node
---@return boolean whether a reader sees the text of `node`
return function(node, parent)
  for _, class in ipairs(parent and children[node.tag] or {}) do
    if html.classes(parent)[class] then
      return false
    end
  end
  return not is_skipped(node)
end
