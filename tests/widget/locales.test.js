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

test("what points to the page is known, and what does not is left alone", () => {
  const points = (name, question) => new RegExp(ui[name].here, "iu").test(question);
  const pointing = {
    en: ["What is this chapter about?", "What does lambda mean here?"], es: ["¿De qué trata esta página?", "¿Qué significa lambda aquí?", "resume este capitulo"],
    fr: ["De quoi parle ce chapitre ?", "Que signifie lambda ici ?"], pt: ["De que trata neste capítulo?"], de: ["Worum geht es in diesem Kapitel?", "Was heißt das hier?"],
    it: ["Di che parla questa pagina?"], zh: ["本章讲什么？"], ja: ["この章は何についてですか"],
  };
  for (const [name, questions] of Object.entries(pointing)) for (const question of questions) assert.ok(points(name, question), question);
  for (const question of ["Is there anything here about wind?", "What does chapter 5 say?", "Where is the page count?"]) assert.ok(!points("en", question), question);
  for (const question of ["¿Hay algo aquí sobre el viento?", "¿Qué dice el capítulo 5?", "¿Este es el capítulo del viento?"]) assert.ok(!points("es", question), question);
});
