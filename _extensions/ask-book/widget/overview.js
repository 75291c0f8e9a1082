/**
 * Questions about a whole, such as "What is this book about?" and "Resume el capítulo 5": sentences that say most of it, in
 * reading order. The rules are those of `sidecar/ask_book/answering/overview.py`, where each is explained.
 */
askBook.offPage((askBook) => {
  const { fold, runs, tokens, isNameOfPlace, isUnspaced, HELD, units, ALONE, TITLE } = askBook.search;
  const QUOTES = 14, OPENING_CHARACTERS = 8000, SHORTEST = 40, LONGEST = 320, OPENING = 1.25, ALIKE = 0.5;

  /** @typedef {{ chapter: number, start: number, end: number }} Tag */

  /** @param {AskBook.Locale} locale */
  const triggersOf = ({ answer = {} }) => (answer.overview ?? "").split(" ").filter(Boolean);

  /**
   * What a question wants an overview of; null when it is any other question.
   * @param {any} index @param {string} text @param {string | undefined} scope @param {AskBook.Locale[]} locales @returns {Tag[] | null}
   */
  function topicOf(index, text, scope, locales) {
    /** @type {string[]} */
    const words = index.read(text).words.map((/** @type {{ run: string }} */ { run }) => run);
    const tables = locales.filter((locale) => triggersOf(locale).some((word) => words.includes(word)));
    const triggers = tables.flatMap(triggersOf);
    const left = unexplained(words, new Set([...triggers, ...index.stopwords, ...tables.flatMap(({ stopwords }) => stopwords.split(" "))]));
    /** @type {number[]} */
    const named = index.named(text);
    /** @type {boolean[] | null} */
    const within = scope ? index.inScope(scope) : null;
    const telling = left.filter((word) => !isNameOfPlace(word));
    if (telling.length) return triggers.length && !scope ? titled(index, telling) : null;
    const most = named.reduce((a, b) => Math.max(a, b), 0);
    if (left.length || most) {
      const spans = stretches(index, named.map((value, at) => value > 0 && (!within || within[at])));
      return spans.length && (triggers.length || most < HELD) ? spans : null;
    }
    if (!triggers.length) return null;
    const spans = stretches(index, within ?? index.manifest.chunks.map(() => true));
    return spans.length ? spans : null;
  }

  /** The words that are not known; in a script without spaces, those with a character of no known one. @param {string[]} words @param {Set<string>} known */
  function unexplained(words, known) {
    const covered = new Set([...words.filter((word) => known.has(word) && isUnspaced(word)).flatMap((word) => [...word]), ...[...known].filter((word) => word.length === 1)]);
    return words.filter((word) => !known.has(word) && !(isUnspaced(word) && [...word].every((char) => covered.has(char))));
  }

  /** Neighbouring passages as one. @param {any} index @param {boolean[]} chosen */
  function stretches(index, chosen) {
    /** @type {Tag[]} */
    const spans = [];
    chosen.forEach((yes, at) => {
      const { chapter, start, end } = index.manifest.chunks[at];
      const last = spans.at(-1);
      if (yes && chosen[at - 1] && last && last.chapter === chapter) last.end = end;
      else if (yes) spans.push({ chapter, start, end });
    });
    return spans;
  }

  /** The one chapter, or else section, whose title is these words. @param {any} index @param {string[]} words @returns {Tag[] | null} */
  function titled(index, words) {
    const asked = [...new Set(words)].sort().join(" ");
    const isMeant = (/** @type {string} */ title) =>
      [...new Set(runs(fold(title)))].filter((word) => !index.stopwords.has(word)).sort().join(" ") === asked;
    /** @type {AskBook.Chapter[]} */
    const chapters = index.manifest.chapters;
    const whole = chapters.filter(({ title }) => isMeant(title)).map((chapter) => index.whole(chapter));
    const parts = chapters.flatMap((chapter) => chapter.sections.filter(({ title }) => isMeant(title)).map((section) => index.under(chapter, section)));
    const meant = whole.length ? whole : parts;
    return meant.length === 1 ? meant.map(([chapter, start, end]) => ({ chapter, start, end })) : null;
  }

  /** At most so many of them, from beginning to end. @template T @param {T[]} items @returns {T[]} */
  const spread = (items) => (items.length <= QUOTES ? items : Array.from({ length: QUOTES }, (_, at) => items[Math.floor((at * items.length) / QUOTES)]));

  /** The sentences of a stretch that say most of it, in reading order. @param {any} index @param {Tag} span @param {number} most @param {Set<string>} abbreviations */
  function telling(index, { chapter, start, end }, most, abbreviations) {
    const book = index.chapters[chapter];
    /** @type {Map<string, number>} */
    const whole = new Map();
    /** @type {{ tag: Tag, counts: Map<string, number>, factor: number, section: AskBook.Section }[]} */
    const found = [];
    for (const block of /** @type {AskBook.Block[]} */ (book.blocksIn(start, end))) {
      if (ALONE.has(block.kind) || ["heading", "footnote"].includes(block.kind) || [...block.text].length <= TITLE) continue;
      units(block, abbreviations).forEach((/** @type {[number, number]} */ [first, last], /** @type {number} */ at) => {
        const text = book.slice(first, last);
        const isAside = /[:?：？]$/.test(text) || text.split(":").length > 2 || text.includes("\\(");
        if (first < start || last > end || last - first < SHORTEST || last - first > LONGEST || isAside) return;
        /** @type {Map<string, number>} */
        const counts = new Map();
        for (const term of /** @type {string[]} */ (tokens(text, index.marks))) {
          const isWord = /^_.*_$/s.test(term) || (/[^\0-\x7f]/.test(term) && [...term].length === 2);
          if (isWord && !index.stopwords.has([...term].slice(1, -1).join(""))) counts.set(term, (counts.get(term) ?? 0) + 1);
        }
        for (const [term, count] of counts) whole.set(term, (whole.get(term) ?? 0) + count);
        const section = book.sectionAt(first);
        found.push({ tag: { chapter, start: first, end: last }, counts, factor: at === 0 && section !== found.at(-1)?.section ? OPENING : 1, section });
      });
    }
    const titles = [book.chapter, ...book.chapter.sections.filter((/** @type {AskBook.Section} */ part) => part.start < end && part.end > start)].map(({ title }) => title);
    for (const title of new Set(titles)) for (const term of new Set(tokens(title, index.marks))) if (whole.has(term)) whole.set(term, 2 * (whole.get(term) ?? 0));
    const score = (/** @type {Map<string, number>} */ counts) =>
      [...counts.keys()].reduce((sum, term) => sum + Math.log1p(whole.get(term) ?? 0) * index.weight(term), 0) / Math.sqrt(counts.size || 1);
    const scored = found.map((one) => ({ ...one, score: score(one.counts) * one.factor })).sort((a, b) => b.score - a.score || a.tag.start - b.tag.start);
    /** @type {typeof scored} */
    const chosen = [];
    for (const one of scored) {
      const alike = (/** @type {typeof one} */ { counts }) =>
        [...counts.keys()].filter((term) => one.counts.has(term)).length > ALIKE * (Math.min(counts.size, one.counts.size) || 1);
      if (chosen.length < most && !chosen.some(alike)) chosen.push(one);
    }
    return chosen.map(({ tag }) => tag).sort((a, b) => a.start - b.start);
  }

  /**
   * The summary as quotes: of several chapters one or more each, of one chapter of each section.
   * @param {any} index @param {Tag[]} topic @param {Set<string>} abbreviations
   */
  function summary(index, topic, abbreviations) {
    const [only] = topic;
    /** @type {{ title: string, span: Tag }[]} */
    const parts = topic.length > 1
      ? topic.map((span) => ({ title: index.chapters[span.chapter].chapter.title, span: { ...span, end: Math.min(span.end, span.start + OPENING_CHARACTERS) } }))
      : index.chapters[only.chapter].chapter.sections.filter((/** @type {AskBook.Section} */ part) => part.start < only.end && part.end > only.start)
        .map((/** @type {AskBook.Section} */ { title, start, end }) => ({ title, span: { ...only, start: Math.max(start, only.start), end: Math.min(end, only.end) } }));
    const each = Math.max(1, Math.min(topic.length > 1 ? 3 : 4, Math.floor(QUOTES / Math.max(1, parts.length))));
    return spread(parts).flatMap(({ title, span }) => telling(index, span, each, abbreviations).map((tag, at) => {
      const book = index.chapters[tag.chapter];
      return { tag, block: book.blocksIn(tag.start, tag.end)[0], section: book.sectionAt(tag.start), text: book.slice(tag.start, tag.end), lead: at ? "" : title };
    }));
  }

  Object.assign(askBook.search, { topicOf, summary });
});
