askBookLocale("zh", {
  "not_found": "书中未找到",
  "stopwords": "",
  "abbreviations": ""
});
