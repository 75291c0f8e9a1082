local html = require("html")
local lu = require("luaunit")

--- The tree as text: tag(children …), text in quotes.
local function shape(node)
  if type(node) == "string" then
    return '"' .. node .. '"'
  end
  local children = {}
  for i, child in ipairs(node) do
    children[i] = shape(child)
  end
  return node.tag .. "(" .. table.concat(children, " ") .. ")"
end

local function tree(source)
  local page = html.parse(source)
  local children = {}
  for i, child in ipairs(page) do
    children[i] = shape(child)
  end
  return table.concat(children, " ")
end

TestHtml = {}

function TestHtml:test_nesting()
  lu.assertEquals(tree("<div><p>a <b>b</b></p></div>"), 'div(p("a " b("b")))')
end

function TestHtml:test_a_block_ends_an_open_paragraph()
  lu.assertEquals(tree("<p>a<p>b<div>c</div>"), 'p("a") p("b") div("c")')
end

function TestHtml:test_end_tags_that_may_be_left_out()
  lu.assertEquals(tree("<ul><li>a<li>b<ul><li>c</ul></ul>d"), 'ul(li("a") li("b" ul(li("c")))) "d"')
  lu.assertEquals(tree("<table><thead><tr><th>a<tbody><tr><td>b<td>c</table>"), 'table(thead(tr(th("a"))) tbody(tr(td("b") td("c"))))')
  lu.assertEquals(tree("<dl><dt>a<dd>b<dt>c</dl>"), 'dl(dt("a") dd("b") dt("c"))')
end

function TestHtml:test_a_stray_end_tag_is_nothing()
  lu.assertEquals(tree("<div></b></li>a</div>b"), 'div("a") "b"')
end

function TestHtml:test_an_inline_end_tag_does_not_close_a_block()
  lu.assertEquals(tree("<b><p>a</b>b</p>"), 'b(p("a" "b"))')
end

function TestHtml:test_an_end_tag_does_not_leave_its_cell()
  lu.assertEquals(tree("<div><table><tr><td>a</div>b</td></tr></table></div>"), 'div(table(tr(td("a" "b"))))')
end

function TestHtml:test_attributes()
  local page = html.parse([[<p CLASS="a  b" id='x>y' data-n=3 title="&lt;q&gt;" hidden class="c">]])
  lu.assertEquals(html.attribute(page[1], "id"), "x>y")
  lu.assertEquals(html.attribute(page[1], "data-n"), "3")
  lu.assertEquals(html.attribute(page[1], "title"), "<q>")
  lu.assertEquals(html.attribute(page[1], "hidden"), "")
  lu.assertEquals(html.classes(page[1]), { a = true, b = true })
end

function TestHtml:test_an_id_belongs_to_its_first_element()
  local page, owners = html.parse('<p id="a">1</p><div id="a">2</div>')
  lu.assertIs(owners.a, page[1])
end

function TestHtml:test_raw_text_is_not_parsed()
  lu.assertEquals(tree("<script>a<p></scripty></SCRIPT><p>b"), 'script("a<p></scripty>") p("b")')
  lu.assertEquals(tree("<style>a > b</style>c"), 'style("a > b") "c"')
end

function TestHtml:test_comments()
  lu.assertEquals(tree("a<!-- <p> -->b<!-->c<!--->d<!-- x --!>e<?php x ?>f<!doctype html>g"), '"a" "b" "c" "d" "e" "f" "g"')
end

function TestHtml:test_a_less_than_sign_is_text()
  lu.assertEquals(tree("a < b <3 <<i>c</i>"), '"a " "<" " b " "<" "3 " "<" i("c")')
end

function TestHtml:test_a_drawing_has_its_own_rules()
  lu.assertEquals(tree("<svg><path/><title>a</title></svg><p>b"), 'svg(path() title("a")) p("b")')
end

function TestHtml:test_a_block_leaves_an_unclosed_drawing()
  lu.assertEquals(tree("<svg><g><p>a"), 'svg(g()) p("a")')
end

function TestHtml:test_inline_elements_know_of_blocks_inside()
  local page = html.parse("<span><a><div>x</div></a></span><i>y</i>")
  lu.assertTrue(page[1].flow)
  lu.assertTrue(page[1][1].flow)
  lu.assertNil(page[2].flow)
end

function TestHtml:test_nesting_has_an_end()
  local page = html.parse(("<div>"):rep(2000) .. "x")
  local depth, node = 0, page
  while type(node[#node]) == "table" do
    node = node[#node]
    depth = depth + 1
  end
  lu.assertTrue(depth <= 500)
end
