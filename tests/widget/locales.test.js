"use strict";
const assert = require("node:assert/strict");
const { readdirSync, readFileSync } = require("node:fs");
const { join } = require("node:path");
const { test } = require("node:test");
const { load, WIDGET } = require("./load.js");

const names = readdirSync(join(WIDGET, "locales")).map((file) => file.replace(".js", ""));
const ui = Object.fromEntries(names.map((name) => [name, load(name, []).locales[name].ui]));
const placeholders = (text) => (text.match(/\{\w+\}/g) ?? []).sort();

test("every language says all that English says, with the same placeholders", () => {
  assert.deepEqual(names.sort(), ["de", "en", "es", "fr", "it", "ja", "pt", "zh"]);
  for (const name of names) {
    assert.deepEqual(Object.keys(ui[name]).sort(), Object.keys(ui.en).sort(), name);
    for (const [key, text] of Object.entries(ui[name])) assert.deepEqual(placeholders(text), placeholders(ui.en[key]), `${name}: ${key}`);
  }
});

test("the panel uses no text that is not there, and has none that it does not use", () => {
  const code = readdirSync(WIDGET).filter((file) => file.endsWith(".js")).map((file) => readFileSync(join(WIDGET, file), "utf8")).join("\n");
  const used = new Set([...code.matchAll(/\bt\((.*)/g)].flatMap(([, rest]) => [...rest.matchAll(/"([a-z_]+)"/g)].map(([, key]) => key)));
  const made = /^(error|hint|count)_|^(uncited|unsupported|up|down)$/;
  for (const key of Object.keys(ui.en)) assert.ok(used.has(key) || made.test(key), `${key} is not used`);
  for (const [, key] of code.matchAll(/\bt\("([a-z_]+)"[,)]/g)) assert.ok(Object.hasOwn(ui.en, key), `${key} is not there`);
});
