"use strict";
const assert = require("node:assert/strict");
const { test } = require("node:test");
const { load, plain } = require("./load.js");

const { markdown } = load("en", ["markdown.js"]);
const parse = (text) => plain(markdown.parse(text));
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
      { kind: "strong", inline: [text("bold")] }, text(" and "), { kind: "em", inline: [text("thin")] }, text(" and "), { kind: "code", text: "a ` b" },
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

test("a note inside what is strong, numbered steps, a table", () => {
  assert.deepEqual(parse("**Yes [2](#ask-book-2)**\n\n1. one\n2. two\n\n| a | b |\n|---|---|\n| *c* | d \\| e |"), [
    { kind: "p", inline: [{ kind: "strong", inline: [text("Yes "), note(2)] }] },
    { kind: "step", inline: [text("one")] },
    { kind: "step", inline: [text("two")] },
    { kind: "table", inline: [], rows: [[[text("a")], [text("b")]], [[{ kind: "em", inline: [text("c")] }], [text("d | e")]]] },
  ]);
});

const formula = (tex, display = false) => ({ kind: "formula", text: tex, display });

test("formulas: as the book writes them, as models do, and what is none", () => {
  assert.deepEqual(parse("Let \\\\(x\\_1\\\\) and \\(y\\) and $z^2$ cost \\$5 or $6 and $7."), [
    { kind: "p", inline: [text("Let "), formula("x_1"), text(" and "), formula("y"), text(" and "), formula("z^2"), text(" cost $5 or $6 and $7.")] },
  ]);
  assert.deepEqual(parse("\\[\\frac{a}{b}\\]\n\n$$a + b$$"), [
    { kind: "p", inline: [formula("\\frac{a}{b}", true)] },
    { kind: "p", inline: [formula("a + b", true)] },
  ]);
});

test("a doubt is a place in what is shown, in code points of what is written", () => {
  const answer = "🌍 Sure. [1](#ask-book-1) Not **so** sure.\n\n- Never said.";
  const start = [...answer].join("\u0000").split("\u0000").indexOf("N");
  const marks = [{ start, end: start + 16, kind: "unsupported" }, { start: [...answer].length - 13, end: [...answer].length, kind: "uncited" }];
  assert.deepEqual(plain(markdown.parse(markdown.doubt(answer, marks))), [
    { kind: "p", inline: [
      text("🌍 Sure. "), note(1), text(" "), { kind: "doubt", text: "unsupported" }, text("Not "), { kind: "strong", inline: [text("so")] }, text(" sure."),
      { kind: "doubt", text: "" },
    ] },
    { kind: "item", inline: [{ kind: "doubt", text: "uncited" }, text("Never said."), { kind: "doubt", text: "" }] },
  ]);
});

test("a doubt that is out of place is none", () => {
  const marks = [{ start: 5, end: 3, kind: "uncited" }, { start: 0, end: 99, kind: "uncited" }, { start: 0, end: 2, kind: "__proto__" }, { start: -1, end: 2, kind: "uncited" }];
  assert.equal(markdown.doubt("A\uE000B.", marks), "A\uFFFDB.");
});

test("unfinished marks of a stream stay as letters", () => {
  assert.deepEqual(parse("half **bold and [1](#ask-bo"), [{ kind: "p", inline: [text("half **bold and [1](#ask-bo")] }]);
  assert.deepEqual(parse("``` one line ``` is no block"), [{ kind: "p", inline: [{ kind: "code", text: " one line " }, text(" is no block")] }]);
  assert.deepEqual(parse("```\nopen"), [{ kind: "code", inline: [text("open")] }]);
});

test("long runs of marks take no time", () => {
  for (const hostile of ["*".repeat(20000), "[".repeat(20000), "`".repeat(20000), "\\".repeat(20000), "> ".repeat(20000), "\\(".repeat(20000), "\\[".repeat(20000), "$a ".repeat(20000), "|".repeat(20000)]) {
    assert.equal(Array.isArray(parse(hostile)), true);
  }
});
