"use strict";
const assert = require("node:assert/strict");
const { existsSync } = require("node:fs");
const { join } = require("node:path");
const { test } = require("node:test");
const { load, plain, fixture, WIDGET } = require("./load.js");

const FILES = ["search.js", "extractive.js"];
const words = (text) => new Set(text.split(" ").filter(Boolean));

for (const { lang, text, sentences } of fixture("sentences.json")) {
  test(`sentences: ${lang}: ${text.slice(0, 40)}`, () => {
    const known = existsSync(join(WIDGET, `locales/${lang}.js`)) ? lang : "en";
    const { search, locales } = load(known, FILES);
    const spans = plain(search.sentences(text, words(locales[known].abbreviations)));
    assert.deepEqual(spans.map(([start, end]) => text.slice(start, end)), sentences);
  });
}

for (const { book, question, passages, quotes, answer } of fixture("extractive.json")) {
  test(`extractive: ${question}`, async () => {
    const manifest = fixture(book);
    const { search, locales } = load(manifest.book.lang, FILES);
    const locale = locales[manifest.book.lang];
    const index = await search.open(manifest, locale.stopwords);
    const hits = passages.map(([tag, score]) => {
      const [chapter, start, end] = tag.match(/\d+/g).map(Number);
      return { tag: { chapter, start, end }, score };
    });
    // As in the vectors: the weight of a term is its length.
    const terms = search.asked({ marks: index.marks, weight: (term) => [...term].length }, question, index.stopwords);
    const chosen = search.choose(index, hits, terms, words(locale.abbreviations), (locale.answer.leans_on ?? "").split(" "));
    assert.deepEqual(plain(chosen.map(({ tag, text }) => [`[f${tag.chapter}-${tag.start}-${tag.end}]`, text])), quotes);
    assert.equal(search.compose(chosen), answer);
  });
}

for (const { page, anchor, link } of fixture("links.json")) {
  test(`link: ${page}`, () => {
    const { search } = load("en", FILES);
    assert.equal(search.link(page, anchor), link);
    const url = new URL(link, "http://book.test/sub/");
    assert.equal(decodeURIComponent(url.pathname), `/sub/${page}`);
    assert.equal(decodeURIComponent(url.hash), anchor && `#${anchor}`);
  });
}

test("a question that leans on the one before takes its words along, and so on", () => {
  const { search, locales } = load("en", FILES);
  const history = [{ question: "Which food in spring?" }, { question: "And then?" }];
  const searched = (question) => search.withWhatWentBefore({ question, history }, locales.en);
  for (const text of ["What about March?", "How about in March?", "And March?", "Then?"]) assert.equal(searched(text), `${text} And then? Which food in spring?`);
  for (const text of ["Who is Dr. Ames?", "How heavy must a hive be?", "Fondant?"]) assert.equal(searched(text), text);
});

for (const [lang, said] of Object.entries(fixture("conversation.json"))) {
  test(`conversation: ${lang}`, () => {
    const { search, locales } = load(lang, FILES);
    const searched = (question) => search.withWhatWentBefore({ question, history: [{ question: "before" }] }, locales[lang]);
    const wrong = [...said.leaning.filter((text) => searched(text) !== `${text} before`), ...said.alone.filter((text) => searched(text) !== text)];
    assert.deepEqual(wrong, said.missed);
    assert.deepEqual(said.small_talk.filter((text) => !search.isSmallTalk(text, locales[lang])), []);
    assert.deepEqual(said.questions.filter((text) => search.isSmallTalk(text, locales[lang])), []);
  });
}
