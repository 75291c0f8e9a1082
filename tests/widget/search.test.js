"use strict";
const assert = require("node:assert/strict");
const { test } = require("node:test");
const { load, plain, fixture } = require("./load.js");

const { search } = load("en", ["search.js"]);

for (const { name, text, marks, tokens } of fixture("tokens.json").cases) {
  test(`tokens: ${name}`, () => assert.deepEqual(plain(search.tokens(text, marks)), tokens));
}
