"use strict";
const assert = require("node:assert/strict");
const { readdirSync } = require("node:fs");
const { join } = require("node:path");
const { test } = require("node:test");
const { load, plain, fixture, WIDGET } = require("./load.js");

const LOCALES = readdirSync(join(WIDGET, "locales")).map((name) => `locales/${name}`);
const FILES = [...LOCALES, "search.js", "extractive.js", "overview.js"];

for (const { book, question, scope, topic, answer, sources } of fixture("overview.json")) {
  test(`overview: ${question}`, async () => {
    const manifest = fixture(book);
    const { search, locales } = load(manifest.book.lang, FILES);
    const index = await search.open(manifest, locales[manifest.book.lang].stopwords);
    const found = search.topicOf(index, question, scope ?? undefined, Object.values(locales));
    assert.deepEqual(plain(found)?.map(({ chapter, start, end }) => [chapter, start, end]) ?? null, topic);
    if (!topic) return;
    const made = plain(await search.answer(manifest, { question, scope: scope ?? undefined }));
    assert.equal(made.answer, answer);
    assert.deepEqual(made.sources.map(({ tag }) => tag).sort(), [...sources].sort());
  });
}

test("a greeting in another language than the page's", async () => {
  const manifest = fixture("book.es.json");
  const { search, locales } = load("es", FILES);
  for (const question of ["Hello!", "Guten Tag", "谢谢", "merci beaucoup"]) {
    assert.equal((await search.answer(manifest, { question })).answer, locales.es.answer.small_talk_reply);
  }
  assert.equal((await search.answer(manifest, { question: "hello Miami" })).status, "not_found");
});
