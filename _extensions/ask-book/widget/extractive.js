/**
 * Answers without a model, in the browser: the best sentences of the best passages, word for word. The rules are those
 * of `sidecar/ask_book/answering/` (`sentences.py`, `extractive.py`, `ask.py`; vectors in `tests/fixtures/`).
 */
askBook.offPage((askBook) => {
  const { fold, runs, tokens, open } = askBook.search;
  const PASSAGES = 7, MOST = 4, CHARS = 1200, LONGEST = 600, TITLE = 40, ENOUGH = 0.35, AROUND = 0.75, ASIDE = 0.5, NEAREST = 3, WORDS_OF_A_GREETING = 8, WORDS_BESIDE_A_PRONOUN = 2;
  const WHOLE = new Set(["heading", "table", "code", "output", "math", "figure"]);
  const CODE = new Set(["code", "output"]);
  const ALONE = new Set([...CODE, "table", "math", "figure", "list"]);

  const CLOSING = "\"'”’»›)\\]」』）】》〉";
  const OPENING_MARKS = "\"'“‘«‹(\\[{¿¡—–\\-";
  const BEHIND = `[${CLOSING}]*(?:[ \u00a0\u202f]»)?`;
  const MARK = new RegExp(`[。！？｡]+${BEHIND}|[.!?…؟۔।॥]+${BEHIND}(?=\\s|$)`, "gu");
  const BETWEEN = new RegExp(`[\\s${OPENING_MARKS}]*`, "uy");
  const INITIALS = /^(?:\p{L}\.)*\p{L}$/u;

  /** @typedef {[start: number, end: number]} Span */

  /**
   * Spans of the sentences of a text, in UTF-16 units.
   * @param {string} text @param {Set<string>} abbreviations @returns {Span[]}
   */
  function sentences(text, abbreviations) {
    /** @type {Span[]} */
    const spans = [];
    for (const line of text.matchAll(/[^\n]+/g)) {
      let start = line.index;
      for (const mark of line[0].matchAll(MARK)) {
        const at = line.index + mark.index;
        const end = at + mark[0].length;
        if (!ends(text, start, mark[0], at, line.index + line[0].length, abbreviations)) continue;
        spans.push([start, end]);
        start = end;
      }
      spans.push([start, line.index + line[0].length]);
    }
    return spans.map((span) => trim(text, span)).filter(([start, end]) => start < end);
  }

  /** @param {string} text @param {number} start @param {string} mark @param {number} at @param {number} limit @param {Set<string>} abbreviations */
  function ends(text, start, mark, at, limit, abbreviations) {
    if (/^[。！？｡]/.test(mark)) return true;
    BETWEEN.lastIndex = at + mark.length;
    BETWEEN.test(text);
    const next = Math.min(BETWEEN.lastIndex || at + mark.length, limit);
    if (next < limit && /^\p{Lowercase}/u.test(text.slice(next))) return false;
    if (mark.replace(new RegExp(`[${CLOSING} \u00a0\u202f]+$`), "") !== ".") return true;
    const soFar = text.slice(start, at).trim().split(/\s+/).filter(Boolean);
    const word = (soFar.at(-1) ?? "").replace(new RegExp(`^[${OPENING_MARKS}]+`), "");
    const isInitial = INITIALS.test(word) && word === word.toUpperCase() && word !== word.toLowerCase();
    return !(isInitial || (soFar.length === 1 && /^[\d.]+$/.test(word)) || abbreviations.has(word + "."));
  }

  /** @param {string} text @param {Span} span @returns {Span} */
  function trim(text, [start, end]) {
    const piece = text.slice(start, end);
    const first = start + piece.length - piece.trimStart().length;
    return [first, Math.max(first, end - (piece.length - piece.trimEnd().length))];
  }

  /** @param {string} text */
  const pointsIn = (text) => (/[\ud800-\udfff]/.test(text) ? [...text].length : text.length);

  /**
   * What may be quoted of a block, as offsets in its chapter: sentences, or all of a table row, code or formula.
   * @param {AskBook.Block} block @param {Set<string>} abbreviations @returns {Span[]}
   */
  function units({ kind, start, text }, abbreviations) {
    const spans = WHOLE.has(kind) ? [trim(text, [0, text.length])].filter(([first, last]) => first < last) : sentences(text, abbreviations);
    return spans.map(([first, last]) => [start + pointsIn(text.slice(0, first)), start + pointsIn(text.slice(0, last))]);
  }

  /** @typedef {{ chapter: number, start: number, end: number }} Tag */
  /** @typedef {{ tag: Tag, score: number }} Passage */
  /** @typedef {{ tag: Tag, block: AskBook.Block, section: AskBook.Section, factor: number, inside: string[], around: string[] }} Candidate */

  /** @param {any} index @param {string} question @param {Set<string>} stopwords @returns {Map<string, number>} */
  function asked(index, question, stopwords) {
    const words = runs(fold(question, index.marks));
    const telling = words.filter((/** @type {string} */ word) => !stopwords.has(fold(word)));
    return new Map((telling.length ? telling : words).flatMap((/** @type {string} */ word) => tokens(word, index.marks)).map((/** @type {string} */ term) => [term, index.weight(term)]));
  }

  /** A row or a term that others have as their context: alone it says nothing. @param {AskBook.Block} block @param {AskBook.Section} section */
  const isHead = (block, section) => ["table", "list"].includes(block.kind) && section.blocks.some((other) =>
    other !== block && other.kind === block.kind && other.context.replaceAll(" · ", " ").includes(block.text));

  /** A few words without a full stop, such as the title of a callout. @param {AskBook.Block} block @param {string} text */
  const isTitle = ({ kind }, text) => ["para", "callout", "quote"].includes(kind) && pointsIn(text) < TITLE
    && !/[.!?…。！？｡؟۔।॥]$/u.test(text.replace(/["'”’»)]+$/, ""));

  /**
   * @param {any} index @param {Passage[]} passages @param {Map<string, number>} weights @param {Set<string>} abbreviations
   * @returns {Candidate[]}
   */
  function candidates(index, passages, weights, abbreviations) {
    const best = Math.max(0, ...passages.map(({ score }) => score));
    const seen = new Set();
    /** @type {Candidate[]} */
    const found = [];
    const termsIn = (/** @type {string} */ text) => new Set(/** @type {string[]} */ (tokens(text, index.marks)).filter((term) => weights.has(term)));
    for (const { tag: within, score } of passages) {
      const book = index.chapters[within.chapter];
      for (const block of /** @type {AskBook.Block[]} */ (book.blocksIn(within.start, within.end))) {
        const section = book.sectionAt(block.start);
        if (block.kind === "heading" || isHead(block, section)) continue;
        const above = termsIn([book.chapter.title, ...section.heading_path, block.context].join(" "));
        const spans = units(block, abbreviations).map((span) => cut(book, span));
        const inside = spans.map(([start, end]) => termsIn(book.slice(start, end)));
        spans.forEach(([start, end], at) => {
          const name = `${within.chapter}-${start}-${end}`;
          const text = book.slice(start, end);
          if (seen.has(name) || start < within.start || start >= within.end || isTitle(block, text)) return;
          if (block.kind === "table" && !inside[at].size) return;
          seen.add(name);
          const factor = (best ? score / best : 1) * (/[:?：？]$/.test(text) || CODE.has(block.kind) ? ASIDE : 1);
          const around = [...weights.keys()].filter((term) => !inside[at].has(term)
            && (above.has(term) || inside[at - 1]?.has(term) || inside[at + 1]?.has(term)));
          found.push({
            tag: { chapter: within.chapter, start, end }, block, section, factor,
            inside: [...weights.keys()].filter((term) => inside[at].has(term)), around,
          });
        });
      }
    }
    return found;
  }

  /** @param {any} book @param {Span} span @returns {Span} */
  function cut(book, [start, end]) {
    if (end - start <= LONGEST) return [start, end];
    const piece = [...book.slice(start, start + LONGEST + 1)];
    const border = piece.lastIndexOf(piece.includes("\n") ? "\n" : " ");
    return [start, start + [...piece.slice(0, border > 0 ? border : LONGEST).join("").trimEnd()].length];
  }

  /**
   * The quotes that answer, in the order in which they are shown.
   * @param {any} index @param {Passage[]} passages @param {Map<string, number>} weights @param {Set<string>} abbreviations @param {string[]} leansOn
   */
  function choose(index, passages, weights, abbreviations, leansOn) {
    const left = candidates(index, passages, weights, abbreviations);
    const total = [...weights.values()].reduce((sum, weight) => sum + weight, 0);
    /** @type {Candidate[]} */
    const chosen = [];
    const taken = new Set();
    const sum = (/** @type {string[]} */ terms) => terms.reduce((all, term) => all + (weights.get(term) ?? 0) * (taken.has(term) ? 0.5 : 1), 0);
    let first = 0, chars = 0;
    while (left.length && chosen.length < MOST) {
      const scores = left.map(({ factor, inside, around }) => (total ? Math.round((factor * (sum(inside) + AROUND * sum(around)) * 1e9) / total) / 1e9 : 0));
      const best = scores.indexOf(Math.max(...scores));
      first ||= scores[best];
      const [item] = left.splice(best, 1);
      chars += item.tag.end - item.tag.start;
      if (!scores[best] || scores[best] < ENOUGH * first || (chosen.length && chars > CHARS)) break;
      chosen.push(item);
      for (const term of item.inside) taken.add(term);
    }
    const sections = chosen.map(({ section }) => section);
    const blocks = chosen.map(({ block }) => block);
    chosen.sort((a, b) => sections.indexOf(a.section) - sections.indexOf(b.section) || blocks.indexOf(a.block) - blocks.indexOf(b.block)
      || a.tag.start - b.tag.start || a.tag.end - b.tag.end);
    return joined(index, chosen.map((item) => withWhatItLeansOn(index, item, abbreviations, leansOn))).map((tag) => {
      const book = index.chapters[tag.chapter];
      return { tag, block: book.blocksIn(tag.start, tag.end)[0], section: book.sectionAt(tag.start), text: book.slice(tag.start, tag.end) };
    });
  }

  /** @param {any} index @param {Candidate} item @param {Set<string>} abbreviations @param {string[]} leansOn @returns {Tag} */
  function withWhatItLeansOn(index, { tag, block }, abbreviations, leansOn) {
    const [word] = runs(fold(index.chapters[tag.chapter].slice(tag.start, Math.min(tag.end, tag.start + 40))));
    const before = units(block, abbreviations).filter(([, end]) => end <= tag.start).at(-1);
    return before && leansOn.includes(word) && tag.end - before[0] <= LONGEST ? { ...tag, start: before[0] } : tag;
  }

  /** @param {any} index @param {Tag[]} tags */
  function joined(index, tags) {
    /** @type {Tag[]} */
    const out = [];
    for (const tag of tags) {
      const last = out.at(-1);
      if (last && last.chapter === tag.chapter && last.start <= tag.start) {
        const between = last.end < tag.start ? index.chapters[tag.chapter].slice(last.end, tag.start) : "";
        const end = Math.max(last.end, tag.end);
        if (tag.start < last.end || (/^ *$/.test(between) && end - last.start <= LONGEST)) {
          out[out.length - 1] = { ...last, end };
          continue;
        }
      }
      out.push(tag);
    }
    return out;
  }

  /** Markdown that shows `text` literally. @param {string} text */
  const escape = (text) => text
    .replace(/[\\`*_[\]<>&$~^|@]|(?<=https?):|(?<=www)\./g, "\\$&")
    .replace(/^([ \t]*)((?:\d{1,9}(?=[.)]))?)([-+#=:%.)])/gm, "$1$2\\$3");

  /** @param {AskBook.Block} block @param {string} text @param {string} note */
  function markdown(block, text, note) {
    const head = block.kind === "table" && block.context ? `*${escape(block.context)}*: ` : "";
    if (!CODE.has(block.kind)) return `${head}${escape(text)} ${note}`;
    const fence = "`".repeat(Math.max(3, 1 + Math.max(0, ...(text.match(/`+/g) ?? []).map(({ length }) => length))));
    return `${fence}\n${text}\n${fence}\n\n${note}`;
  }

  /** The answer's Markdown. @param {{ block: AskBook.Block, section: AskBook.Section, text: string, lead?: string }[]} quotes */
  function compose(quotes) {
    return quotes.map(({ block, section, text, lead }, i) => {
      const before = quotes[i - 1];
      const together = before?.section === section && !ALONE.has(block.kind) && !ALONE.has(before.block.kind);
      return (i ? (together ? " " : "\n\n") : "") + (lead ? `**${escape(lead)}.** ` : "") + markdown(block, text, `[${i + 1}](#ask-book-${i + 1})`);
    }).join("");
  }

  /** The address, from the book's first page, of a place in a page: what has a meaning in addresses is escaped. @param {string} page @param {string} anchor */
  function link(page, anchor) {
    const path = page.replace(/[%?#\\: ]/g, (char) => "%" + char.charCodeAt(0).toString(16).toUpperCase());
    return anchor ? `${path}#${anchor}` : path;
  }

  /** @param {any} index @param {Tag} tag @returns {AskBook.Place} */
  function placeOf(index, { chapter, start, end }) {
    const book = index.chapters[chapter];
    const { anchor, heading_path } = book.sectionAt(start);
    const { href, title } = book.chapter;
    return { tag: `[f${chapter}-${start}-${end}]`, href: link(href, anchor), anchor, chapter_title: title, heading_path };
  }

  /** @param {any} index @param {Tag} tag @param {number} score @returns {AskBook.Source} */
  const sourceOf = (index, tag, score) =>
    ({ ...placeOf(index, tag), score: Math.round(score * 1e4) / 1e4, text: index.chapters[tag.chapter].slice(tag.start, tag.end) });

  /** Whether the words only greet, thank or ask who answers, in the language of this table. @param {string} question @param {AskBook.Locale} locale */
  function isSmallTalk(question, { answer = {} }) {
    const words = runs(fold(question));
    const phrases = (answer.small_talk ?? "").split("|").filter(Boolean).sort((a, b) => b.length - a.length);
    if (!phrases.length || words.length > WORDS_OF_A_GREETING) return false;
    const said = words.join(" ");
    const rest = said.replace(new RegExp(`(?<!\\S)(?:${phrases.join("|")})(?!\\S)`, "g"), "");
    return rest !== said && !rest.trim();
  }

  /** What to search for: a question that leans on the one before it takes that one's words along, and so on. @param {AskBook.Asked} asked @param {AskBook.Locale} locale */
  function withWhatWentBefore({ question, history = [] }, { stopwords, answer = {} }) {
    const few = stopwords.split(" ");
    const [begins, refers] = [`^(?:${answer.follows_up})`, answer.refers].map((pattern) => new RegExp(/** @type {string} */ (pattern)));
    const leans = (/** @type {string} */ text) => {
      const words = runs(fold(text));
      const telling = words.filter((/** @type {string} */ word) => !few.includes(word)).length;
      const said = words.join(" ");
      return !telling || begins.test(said) || (telling <= WORDS_BESIDE_A_PRONOUN && refers.test(said));
    };
    const words = [question];
    for (const before of history.toReversed()) {
      if (!leans(/** @type {string} */ (words.at(-1)))) break;
      words.push(before.question);
    }
    return words.join(" ");
  }

  /** Reads the book, telling how much of it. @param {AskBook.Manifest} manifest @param {(share: number) => void} tell */
  const prepare = (manifest, tell) => open(manifest, askBook.locales[askBook.lang].stopwords, tell);

  /**
   * The answer of the contract, without a sidecar.
   * @param {AskBook.Manifest} manifest @param {AskBook.Asked} request @returns {Promise<AskBook.Answer>}
   */
  async function answer(manifest, request) {
    const locale = askBook.locales[askBook.lang];
    const index = await open(manifest, locale.stopwords);
    /** @type {AskBook.Answer} */
    const result = {
      id: "", status: "not_found", mode: "extractive", answer: locale.not_found, citations: [], sources: [], absent_terms: [], nearest: [], notices: [],
    };
    const locales = Object.values(askBook.locales);
    if (locales.some((table) => isSmallTalk(request.question, table))) return { ...result, answer: locale.answer?.small_talk_reply ?? result.answer };
    const leansOn = (locale.answer?.leans_on ?? "").split(" ");
    const [question, named] = index.narrowed(withWhatWentBefore(request, locale));
    const scope = named ?? request.scope;
    const abbreviations = new Set(locale.abbreviations.split(" "));
    const topic = askBook.search.topicOf(index, question, scope, locales);
    const summed = topic ? askBook.search.summary(index, topic, abbreviations) : [];
    if (summed.length) return withQuotes(index, result, summed);
    const { hits, evidence } = index.search(question, PASSAGES, scope);
    /** @type {Passage[]} */
    const passages = hits.map((/** @type {{ chunk: number, score: number }} */ { chunk, score }) => ({ tag: manifest.chunks[chunk], score }));
    /** @type {AskBook.Source[]} */
    const sources = passages.map(({ tag, score }) => sourceOf(index, tag, score)).filter(({ text }) => text.trim());
    const telling = passages.filter((_, i) => index.factor[hits[i].chunk] === 1);
    const quotes = evidence.enough ? choose(index, telling, asked(index, question, index.stopwords), abbreviations, leansOn) : [];
    if (!quotes.length) return { ...result, absent_terms: evidence.absent_terms, nearest: sources.slice(0, NEAREST) };
    return withQuotes(index, result, quotes, sources);
  }

  /**
   * An answer made of quotes; without `sources`, these are the passages that the quotes begin in.
   * @param {any} index @param {AskBook.Answer} result @param {(Parameters<typeof compose>[0][0] & { tag: Tag })[]} quotes @param {AskBook.Source[]} [sources]
   * @returns {AskBook.Answer}
   */
  function withQuotes(index, result, quotes, sources) {
    const around = index.manifest.chunks.filter((/** @type {Tag} */ { chapter, start, end }) =>
      quotes.some(({ tag }) => tag.chapter === chapter && start <= tag.start && tag.start < end));
    return {
      ...result, status: "answered", answer: compose(quotes), sources: sources ?? around.map((/** @type {Tag} */ tag) => sourceOf(index, tag, 1)),
      citations: quotes.map(({ tag, text }, i) => ({ n: i + 1, ...placeOf(index, tag), quote: text, verified: true })),
    };
  }

  Object.assign(askBook.search, { ALONE, TITLE, sentences, units, asked, choose, compose, link, isSmallTalk, withWhatWentBefore, prepare, answer });
});
