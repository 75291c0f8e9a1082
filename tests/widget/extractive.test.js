"use strict";
const assert = require("node:assert/strict");
const { test } = require("node:test");
const { load, plain, fixture } = require("./load.js");

const widgets = new Map();
const widget = (lang) => {
  if (!widgets.has(lang)) widgets.set(lang, load(lang, ["search.js", "extractive.js"]));
  return widgets.get(lang);
};

const words = (text) => new Set((text ?? "").split(" "));

for (const { lang, text, sentences } of fixture("sentences.json")) {
  const { search, locales } = widget(lang === "hi" ? "en" : lang);
  test(`sentences: ${text}`, () => {
    const spans = plain(search.sentences(text, words(Object.values(locales)[0].abbreviations)));
    assert.deepEqual(spans.map(([start, end]) => text.slice(start, end)), sentences);
  });
}

for (const { book, question, passages, quotes } of fixture("extractive.json")) {
  test(`quotes: ${question}`, async () => {
    const manifest = fixture(book);
    const { search, locales } = widget(manifest.book.lang);
    const locale = Object.values(locales)[0];
    const index = await search.open(manifest, locale.stopwords);
    const weights = search.asked({ marks: false, weight: (term) => [...term].length }, question, words(locale.stopwords));
    const given = passages.map(([tag, score]) => {
      const [chapter, start, end] = tag.match(/\d+/g).map(Number);
      return { tag: { chapter, start, end }, score };
    });
    const found = search.choose(index, given, weights, words(locale.abbreviations), [...words(locale.answer.leans_on)]);
    assert.deepEqual(plain(found).map(({ tag, text }) => [`[f${tag.chapter}-${tag.start}-${tag.end}]`, text]), quotes);
  });
}
