"use strict";
const assert = require("node:assert/strict");
const { test } = require("node:test");
const { load, plain } = require("./load.js");

const { highlight, links, quoteOf } = load("en", ["links.js", "highlight.js", "passage.js"]);

test("FNV-1a of the published vectors", () => {
  const vectors = { "": "811c9dc5", a: "e40c292c", foobar: "bf9cf968" };
  for (const [text, hash] of Object.entries(vectors)) assert.equal(links.hash(text), hash);
  assert.match(links.hash("ñ 🌍"), /^[0-9a-f]{8}$/);
});

test("a deep link carries tag, hash and anchor", () => {
  assert.equal(
    links.passage({ href: "ch/Fiabilité.html#sec-é", tag: "[f2-10-20]", quote: "foobar" }),
    "http://book.test/ch/Fiabilit%C3%A9.html?ask-book=f2-10-20~bf9cf968#sec-%C3%A9",
  );
});

test("formulas are one symbol, white space is none", () => {
  assert.deepEqual(plain(highlight.spellings("Let \\(x_1\\) be\nthe \\[y^2\\] of it")), ["Let\\(x_1\\)bethe\\[y^2\\]ofit", "Let\uFFFCbethe\uFFFCofit"]);
  assert.equal(highlight.spellings("cut in \\(x +")[1], "cutin\uFFFC");
});

const block = (text, start) => ({ kind: "para", text, start, end: start + [...text].length, context: "", label: "" });
const first = block("A cat 🐈 sat. It slept well.", 0);
const book = { chapters: [{ sections: [{ blocks: [first, block("The dog ran. It came back.", first.end + 1)] }] }] };

test("the words of a deep link at their offsets, in code points", () => {
  const quote = "It slept well.";
  assert.equal(quoteOf(book, "f0-13-27", links.hash(quote)), quote);
});

test("the words of a stale deep link are found by their hash", () => {
  const quote = "It came back.";
  assert.equal(quoteOf(book, "f0-2-15", links.hash(quote)), quote);
  assert.equal(quoteOf(book, "f7-2-15", links.hash(quote)), quote);
  assert.equal(quoteOf(book, "f0-2-15", "00000000"), null);
});
