local html = require("plain_html")
local lu = require("luaunit")

TestPlainHtml = {}

function TestPlainHtml:test_well_formed_html_stays_as_it_is()
  for _, text in ipairs({ "<p>a &lt; b</p>", '<img src="a>b.png"/><br>', "<!-- <p> -->x", "<svg><path d='M0'/></svg>" }) do
    lu.assertEquals(html.repair(text), text)
  end
end

function TestPlainHtml:test_open_elements_are_closed()
  lu.assertEquals(html.repair("<div><p>a <b>b"), "<div><p>a <b>b</b></p></div>")
  lu.assertEquals(html.repair("<div><b>a</div>c"), "<div><b>a</b></div>c")
end

function TestPlainHtml:test_end_tags_of_nothing_are_dropped()
  lu.assertEquals(html.repair("a</div></main>b"), "ab")
end

function TestPlainHtml:test_a_block_ends_a_paragraph()
  lu.assertEquals(html.repair("<p>a<div>b</div>"), "<p>a</p><div>b</div>")
end

function TestPlainHtml:test_a_script_is_left_alone()
  lu.assertEquals(html.repair("<script>a = '</div><p>'</script>"), "<script>a = '</div><p>'</script>")
  lu.assertEquals(html.repair("<script>open"), "<script></script>")
end

function TestPlainHtml:test_what_is_no_tag_is_text()
  lu.assertEquals(html.repair("1 < 2 <3"), "1 &lt; 2 &lt;3")
  lu.assertEquals(html.repair('x <a href="never closed'), 'x &lt;a href="never closed')
  lu.assertEquals(html.repair("a <!-- never closed"), "a ")
end

function TestPlainHtml:test_every_address_of_a_page_is_seen()
  local seen = {}
  local out = html.map_links('<a href="x.qmd" title="href=1">t</a><img data-src="n" src="i.png"> href="text"', function(url)
    seen[#seen + 1] = url
    return url:upper()
  end)
  lu.assertEquals(seen, { "x.qmd", "i.png" })
  lu.assertEquals(out, '<a href="X.QMD" title="href=1">t</a><img data-src="n" src="I.PNG"> href="text"')
end

function TestPlainHtml:test_text_of_html()
  lu.assertEquals(html.text(" <b>a</b>\n &amp;lt; &lt;c&gt; "), "a &lt; <c>")
end
