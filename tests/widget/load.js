/** Loads the widget's classic scripts as a page would, with no page around them, for tests of what needs none. */
"use strict";
const { readFileSync, readdirSync } = require("node:fs");
const { join } = require("node:path");
const vm = require("node:vm");

const WIDGET = join(__dirname, "../../_extensions/ask-book/widget");
const FIXTURES = join(__dirname, "../fixtures");

const tables = readdirSync(join(WIDGET, "locales")).map((name) => name.replace(".js", ""));

/**
 * @param {string} lang of the book; the page speaks English if there is no table of it
 * @param {string[]} files of the widget, in order
 * @param {{ id?: string, root?: string }} [of] the book's id, the address of its first page
 * @returns the widget's namespace
 */
function load(lang, files, { id = "1ab939ebe78f", root = "http://book.test/" } = {}) {
  const spoken = tables.includes(lang) ? lang : "en";
  const askBook = {
    config: { book: { id, title: "A book", lang }, texts: {} },
    lang: spoken,
    locales: {},
    root,
    recall: () => ({}),
    remember: () => {},
    offPage: (part) => part(askBook),
  };
  const context = vm.createContext({
    askBook, URL, TextDecoder, TextEncoder, ArrayBuffer, AbortSignal, setTimeout, performance, Intl, fetch,
    location: new URL("index.html", root),
    document: { adoptedStyleSheets: [] },
    CSSStyleSheet: class { replaceSync() {} },
    askBookLocale: (name, locale) => { askBook.locales[name] = locale; },
  });
  for (const file of [`locales/${spoken}.js`, ...files]) vm.runInContext(readFileSync(join(WIDGET, file), "utf8"), context);
  return askBook;
}

/** What another realm made, as this realm's. */
const plain = (value) => JSON.parse(JSON.stringify(value));

/** A fixture that Python is held to as well. */
const fixture = (name) => JSON.parse(readFileSync(join(FIXTURES, name), "utf8"));

module.exports = { load, plain, fixture, tables, WIDGET };
