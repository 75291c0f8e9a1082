"use strict";
const assert = require("node:assert/strict");
const { test } = require("node:test");
const { load, plain, fixture, tables } = require("./load.js");

const { search } = load("en", ["search.js"]);

for (const { name, text, marks, tokens } of fixture("tokens.json").cases) {
  test(`tokens: ${name}`, () => assert.deepEqual(plain(search.tokens(text, marks)), tokens));
}

const near = (got, wanted) => assert.ok(Math.abs(got - wanted) <= 1e-6, `${got} is not ${wanted}`);

for (const wanted of fixture("ranking.json").cases) {
  test(`ranking: ${wanted.question}`, async () => {
    const manifest = fixture(`book.${wanted.book}.json`);
    const { search, locales, lang } = load(manifest.book.lang, [...tables.map((table) => `locales/${table}.js`), "search.js"]);
    const index = await search.open(manifest, locales[lang].stopwords);
    const { hits, evidence } = plain(index.search(wanted.question, wanted.k, wanted.scope));
    assert.deepEqual(hits.map(({ chunk }) => chunk), wanted.hits.map(([chunk]) => chunk));
    hits.forEach(({ score }, i) => near(score, wanted.hits[i][1]));
    near(evidence.confidence, wanted.confidence);
    assert.equal(evidence.enough, wanted.enough);
    assert.deepEqual(evidence.found_terms, wanted.found_terms);
    assert.deepEqual(evidence.absent_terms, wanted.absent_terms);
  });
}

for (const { book, question, words, scope } of fixture("narrowed.json")) {
  test(`narrowed: ${question}`, async () => {
    const manifest = fixture(`book.${book}.json`);
    const { search, locales } = load(manifest.book.lang, ["search.js"]);
    const index = await search.open(manifest, locales[manifest.book.lang].stopwords);
    assert.deepEqual(plain(index.narrowed(question)), [words, scope]);
  });
}
