--- The few words that the builder itself says, in the languages of the book.
local terms = {
  en = {
    figure = "Figure", references = "References", notes = "Notes",
    section = "Section", chapter = "Chapter", appendix = "Appendix", equation = "Equation",
  },
  es = {
    figure = "Figura", references = "Referencias", notes = "Notas",
    section = "Sección", chapter = "Capítulo", appendix = "Apéndice", equation = "Ecuación",
  },
  fr = {
    figure = "Figure", references = "Références", notes = "Notes",
    section = "Section", chapter = "Chapitre", appendix = "Annexe", equation = "Équation",
  },
  pt = {
    figure = "Figura", references = "Referências", notes = "Notas",
    section = "Seção", chapter = "Capítulo", appendix = "Apêndice", equation = "Equação",
  },
  de = {
    figure = "Abbildung", references = "Literatur", notes = "Anmerkungen",
    section = "Abschnitt", chapter = "Kapitel", appendix = "Anhang", equation = "Gleichung",
  },
  it = {
    figure = "Figura", references = "Riferimenti", notes = "Note",
    section = "Sezione", chapter = "Capitolo", appendix = "Appendice", equation = "Equazione",
  },
  zh = {
    figure = "图", references = "参考文献", notes = "注释",
    section = "节", chapter = "章", appendix = "附录", equation = "公式",
  },
  ja = {
    figure = "図", references = "参考文献", notes = "注",
    section = "節", chapter = "章", appendix = "付録", equation = "式",
  },
}

---@param lang string a BCP 47 tag, or ""
---@return table<string, string>
return function(lang)
  return terms[lang:lower():match("^%a+") or "en"] or terms.en
end
