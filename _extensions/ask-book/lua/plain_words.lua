--- The words that Quarto writes by itself ("Figure", "Chapter", "Proof"), by language.

local M = {}

---@alias PlainWords table<string, string>

local ORDER = {
  "fig", "tbl", "lst", "eq", "sec", "chapter", "appendix", "part",
  "thm", "lem", "cor", "prp", "cnj", "def", "exm", "exr", "sol", "rem", "alg", "proof",
  "note", "tip", "warning", "important", "caution",
  "code", "abstract", "footnotes", "contents", "previous", "next", "references", "appendices",
}

local TABLES = {
  en = "Figure|Table|Listing|Equation|Section|Chapter|Appendix|Part|"
    .. "Theorem|Lemma|Corollary|Proposition|Conjecture|Definition|Example|Exercise|Solution|Remark|Algorithm|"
    .. "Proof|Note|Tip|Warning|Important|Caution|"
    .. "Code|Abstract|Footnotes|Contents|Previous|Next|References|Appendices",
  es = "Figura|Tabla|Listado|Ecuación|Sección|Capítulo|Apéndice|Parte|"
    .. "Teorema|Lema|Corolario|Proposición|Conjetura|Definición|Ejemplo|Ejercicio|Solución|Observación|Algoritmo|"
    .. "Prueba|Nota|Tip|Advertencia|Importante|Precaución|"
    .. "Código|Resumen|Notas|Contenido|Anterior|Siguiente|Referencias|Apéndices",
  fr = "Figure|Table|Listing|Équation|Section|Chapitre|Annexe|Partie|"
    .. "Théorème|Lemme|Corollaire|Proposition|Conjecture|Définition|Exemple|Exercice|Solution|Remarque|Algorithme|"
    .. "Preuve|Note|Astuce|Avertissement|Important|Mise en garde|"
    .. "Code|Résumé|Notes de bas de page|Table des matières|Précédent|Suivant|Références|Annexes",
  pt = "Figura|Tabela|Listagem|Equação|Seção|Capítulo|Apêndice|Parte|"
    .. "Teorema|Lema|Corolário|Proposição|Conjectura|Definição|Exemplo|Exercício|Solução|Observação|Algoritmo|"
    .. "Prova|Nota|Dica|Aviso|Importante|Cuidado|"
    .. "Código|Resumo|Notas de rodapé|Índice|Anterior|Próximo|Referências|Apêndices",
  de = "Abbildung|Tabelle|Listing|Gleichung|Kapitel|Kapitel|Anhang|Teil|"
    .. "Theorem|Lemma|Korollar|Aussage|Annahme|Definition|Beispiel|Übungsaufgabe|Lösung|Anmerkung|"
    .. "Algorithmus|Beweis|Hinweis|Tipp|Warnung|Wichtig|Vorsicht|"
    .. "Code|Zusammenfassung|Fußnoten|Inhaltsverzeichnis|Zurück|Weiter|Literatur|Anhang",
  it = "Figura|Tabella|Lista|Equazione|Sezione|Capitolo|Appendice|Parte|"
    .. "Teorema|Lemma|Corollario|Proposizione|Congettura|Definizione|Esempio|Esercizio|Soluzione|Osservazione|"
    .. "Algoritmo|Dimostrazione|Nota|Suggerimento|Avviso|Importante|Attenzione|"
    .. "Codice|Abstract|Note|Indice|Precedente|Successivo|Riferimenti|Appendici",
  ca = "Figura|Taula|Llistat|Equació|Secció|Capítol|Apèndix|Part|"
    .. "Teorema|Lema|Corol·lari|Proposició|Conjectura|Definició|Exemple|Exercici|Solució|Observació|Algorithm|"
    .. "Demostració|Nota|Consell|Alerta|Important|Precaució|"
    .. "Codi|Resum|Notes a peu de pàgina|Taula de continguts|Anterior|Següent|Referències|Apèndixs",
  nl = "Figuur|Tabel|Listing|Vergelijking|Paragraaf|Hoofdstuk|Bijlage|Deel|"
    .. "Stelling|Lemma|Conclusie|Voorstel|Aanname|Definitie|Voorbeeld|Oefening|Oplossing|Opmerking|Algorithm|"
    .. "Bewijs|Opmerking|Tip|Waarschuwing|Belangrijk|Opgelet|"
    .. "Code|Samenvatting|Voetnoten|Inhoudsopgave|Vorige|Volgende|Referenties|Bijlagen",
  pl = "Rysunek|Tabela|Wykaz|Równanie|Sekcja|Rozdział|Załącznik|Część|"
    .. "Twierdzenie|Lemat|Wniosek|Proposition|Przypuszczenie|Definicja|Przykład|Ćwiczenie|Rozwiązanie|Komentarz|"
    .. "Algorithm|Dowód|Adnotacja|Wskazówka|Ostrzeżenie|Ważne|Zagrożenie|"
    .. "Kod|Abstrakt|Przypisy|Spis treści|Poprzedni|Następny|Bibliografia|Załączniki",
  ru = "Рисунок|Таблица|Список|Уравнение|Глава|Глава|Приложение|Часть|"
    .. "Теорема|Лемма|Следствие|Утверждение|Гипотеза|Определение|Пример|Упражнение|Решение|Примечание|Algorithm|"
    .. "Доказательство|Уведомление|Совет|Предупреждение|Важное уведомление|Осторожность|"
    .. "Код|Аннотация|Сноски|Содержание|Назад|Вперёд|использованная литература|Приложения",
  zh = "图|表|列表|式|小节|章节|附录|部分|"
    .. "定理|引理|推论|命题|猜想|定义|例|习题|解|注记|Algorithm|"
    .. "证|注记|提示|警告|重要|注意|"
    .. "代码|摘要|脚注|目录|上一页|下一页|参考文献|附录",
  ja = "図|表|コード|式|セクション|チャプター|付録|部|"
    .. "定理|補題|系|命題|予想|定義|例|練習|解答|注釈|Algorithm|"
    .. "証明|ノート|ヒント|警告|重要|注意|"
    .. "コード|概要|脚注|目次|前へ|次へ|参考文献|付録",
  ko = "그림|표|목록|방정식|섹션|장|부록|부|"
    .. "정리|보조정리|따름정리|명제|추측|정의|보기|예제|해답|주석|Algorithm|"
    .. "증명|노트|힌트|경고|중요|주의|"
    .. "코드|초록|각주|목차|이전|다음|참고문헌|부록",
}

--- Quarto's own names for the words of `language:` that a book may replace.
local SETTING = {
  note = "callout-note-title", tip = "callout-tip-title", warning = "callout-warning-title",
  important = "callout-important-title", caution = "callout-caution-title",
  proof = "environment-proof-title", rem = "environment-remark-title", sol = "environment-solution-title",
  code = "code-summary", abstract = "section-title-abstract", footnotes = "section-title-footnotes",
  references = "section-title-references", appendices = "section-title-appendices",
  appendix = "crossref-apx-prefix", chapter = "crossref-ch-prefix", part = "crossref-part-title",
}

---@param tree any
---@param key string
---@return string|nil
local function text_at(tree, key)
  local value = type(tree) == "table" and tree[key]
  return type(value) == "string" and value or nil
end

--- The words for a book. `titles` stand over a figure or theorem, `prefixes` in a reference to it.
---@param lang string a BCP 47 tag, or ""
---@param config table the project's merged configuration (`language:` and `crossref:` are read)
---@return PlainWords titles, PlainWords prefixes
function M.of(lang, config)
  local words = TABLES[lang:lower():match("^%a+") or "en"] or TABLES.en
  local titles, prefixes, at = {}, {}, 0
  for word in words:gmatch("[^|]+") do
    at = at + 1
    local name = ORDER[at]
    local own = type(config.language) == "table"
      and (text_at(config.language, SETTING[name] or ("crossref-" .. name .. "-title")))
    titles[name] = text_at(config.crossref, name .. "-title") or own or word
    local prefix = type(config.language) == "table" and text_at(config.language, "crossref-" .. name .. "-prefix")
    prefixes[name] = text_at(config.crossref, name .. "-prefix") or prefix or titles[name]
  end
  return titles, prefixes
end

return M
