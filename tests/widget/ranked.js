/** The passages that the browser's search finds: `node ranked.js JOB.json`, with `{lang, manifest, questions, k}`; prints a list for each question. */
"use strict";
const { readFileSync } = require("node:fs");
const { load } = require("./load.js");

const { lang, manifest, questions, k } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const { search, locales } = load(lang, ["search.js"]);
void search.open(manifest, locales[lang].stopwords).then((index) => {
  const found = questions.map((question) => {
    const { hits, evidence } = index.search(question, k);
    return [hits.map(({ chunk }) => chunk), evidence.enough];
  });
  process.stdout.write(JSON.stringify(found));
});
