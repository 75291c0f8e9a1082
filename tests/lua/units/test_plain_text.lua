local text_of = require("plain_text")
local lu = require("luaunit")

local function no_warning(message)
  error("warned: " .. message)
end

TestPlainText = {}

function TestPlainText:test_encodings_and_line_ends()
  lu.assertEquals(text_of.normalise("\239\187\191a\r\nb\rc\0\7d"), "a\nb\ncd")
  lu.assertEquals(text_of.normalise("ñ\255\254x"), "ñ\u{FFFD}\u{FFFD}x")
end

function TestPlainText:test_paths_stay_inside()
  lu.assertEquals(text_of.clean_path("a/b/../c.qmd"), "a/c.qmd")
  lu.assertEquals(text_of.clean_path("./a\\b.qmd"), "a/b.qmd")
  lu.assertEquals(text_of.clean_path("/a//b"), "a/b")
  lu.assertNil(text_of.clean_path("a/../../b"))
  lu.assertEquals(text_of.folder("a/b/c.qmd"), "a/b/")
  lu.assertEquals(text_of.folder("c.qmd"), "")
end

function TestPlainText:test_what_is_code_and_what_is_text()
  local track = text_of.fence_tracker()
  local found = {}
  for _, line in ipairs({ "a", "````{r}", "```", "# b", "`````", "c", "<!-- x", "# y", "-->", "> ~~~ py", "> d", "> ~~~", "e" }) do
    found[#found + 1] = (track(line))
  end
  lu.assertEquals(found, {
    "text", "open", "code", "code", "close", "text", "code", "code", "code", "open", "code", "close", "text",
  })
end

function TestPlainText:test_front_matter()
  local meta, body, yaml = text_of.front_matter("---\ntitle: A *b*\nn: true\n---\nText\n", no_warning)
  lu.assertEquals(text_of.as_text(meta.title), "A b")
  lu.assertEquals(meta.n, true)
  lu.assertEquals(body, "Text\n")
  lu.assertEquals(yaml, "title: A *b*\nn: true")
  lu.assertEquals({ text_of.front_matter("---\n---\nText", no_warning) }, { {}, "Text", "" })
  lu.assertEquals({ text_of.front_matter("Text\n---\na: 1\n---\n", no_warning) }, { {}, "Text\n---\na: 1\n---\n", "" })
end

function TestPlainText:test_broken_front_matter_is_left_out_with_a_warning()
  local said
  local meta, body = text_of.front_matter("---\na: [b\n---\nText", function(message)
    said = message
  end)
  lu.assertEquals({ meta, body }, { {}, "Text" })
  lu.assertStrContains(said, "YAML is broken")
end
