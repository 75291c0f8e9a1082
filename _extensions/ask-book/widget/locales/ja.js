askBookLocale("ja", {
  "not_found": "本には見つかりませんでした",
  "stopwords": "",
  "abbreviations": ""
});
