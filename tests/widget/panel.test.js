"use strict";
const assert = require("node:assert/strict");
const { test } = require("node:test");
const { load, plain } = require("./load.js");

const { parseAnswer } = load("en", ["panel.js"]);
const parse = (text) => plain(parseAnswer(text));
const text = (words) => ({ kind: "text", text: words });
const note = (n) => ({ kind: "note", n });

test("paragraphs and notes", () => {
  assert.deepEqual(parse("One claim. [1](#ask-book-1)\n\nTwo [2](#ask-book-2)[3](#ask-book-3)."), [
    { kind: "p", inline: [text("One claim. "), note(1)] },
    { kind: "p", inline: [text("Two "), note(2), note(3), text(".")] },
  ]);
});

test("what is escaped is shown as it is", () => {
  assert.deepEqual(parse("\\[f1-2-3\\] \\<b\\> 2 \\* 3 \\`x\\` snake\\_case \\[1\\](#ask-book-1)"), [
    { kind: "p", inline: [text("[f1-2-3] <b> 2 * 3 `x` snake_case [1](#ask-book-1)")] },
  ]);
});

test("bold, italic, code; any link but a note is only its words", () => {
  assert.deepEqual(parse("**bold** and *thin* and ``a ` b`` and [site](javascript:alert(1)) ![pic](x.png)"), [
    { kind: "p", inline: [
      { kind: "strong", text: "bold" }, text(" and "), { kind: "em", text: "thin" }, text(" and "), { kind: "code", text: "a ` b" },
      text(" and site) pic"),
    ] },
  ]);
});

test("a quote, a list, a heading", () => {
  assert.deepEqual(parse("> a quote\n> of two lines [1](#ask-book-1)\n\n- one\n- two\n\n## Title"), [
    { kind: "quote", inline: [text("a quote\nof two lines "), note(1)] },
    { kind: "item", inline: [text("one")] },
    { kind: "item", inline: [text("two")] },
    { kind: "heading", inline: [text("Title")] },
  ]);
});

test("code is kept letter by letter, and its note stands beside it", () => {
  assert.deepEqual(parse("```\nx = [1](#ask-book-9)\n  **y**\n```\n\n[4](#ask-book-4)"), [
    { kind: "code", inline: [text("x = [1](#ask-book-9)\n  **y**"), note(4)] },
  ]);
});

test("unfinished marks of a stream stay as letters", () => {
  assert.deepEqual(parse("half **bold and [1](#ask-bo"), [{ kind: "p", inline: [text("half **bold and [1](#ask-bo")] }]);
  assert.deepEqual(parse("``` one line ``` is no block"), [{ kind: "p", inline: [{ kind: "code", text: " one line " }, text(" is no block")] }]);
  assert.deepEqual(parse("```\nopen"), [{ kind: "code", inline: [text("open")] }]);
});

test("long runs of marks take no time", () => {
  for (const hostile of ["*".repeat(20000), "[".repeat(20000), "`".repeat(20000), "\\".repeat(20000), "> ".repeat(20000)]) {
    assert.equal(Array.isArray(parse(hostile)), true);
  }
});
