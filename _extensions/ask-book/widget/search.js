/**
 * The sidecar's lexical retrieval, in the browser: the same tokens, BM25, ranking and evidence
 * (`sidecar/ask_book/retrieval/`, where each rule is explained; vectors in `tests/fixtures/`).
 */
askBook.offPage((askBook) => {
  const GRAM = 4, K1 = 1.2, B = 0.75, DAMPED = 0.8;
  const STOPWORD_WEIGHT = 0.5, HELD = 0.5, OPENING = 0.45, NEAR = 0.4, REFERENCES = 0.5, ASIDE = 0.2, FREQUENT = 0.3, FEWEST = 5;
  const REPEATED = 3, SAME_PASSAGE = 0.8;
  const BIAS = -4.78, SCORE = 7.57, COVERED = 2.06, NAME = -2.66, ENOUGH = 0.15, LOOKED_AT = 3;
  const ASIDES = new Set(["code", "output", "table", "math"]);
  const SLICE_MS = typeof document === "undefined" ? 250 : 12; // A worker has no page to leave a turn to.

  const INVISIBLE = /[\u00ad\u200b-\u200f\u2060\ufeff]+/g;
  const DIACRITICS = /[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u065f\u0670]+/g;
  const UNSPACED =
    "\\u0e00-\\u0eff\\u1000-\\u109f\\u1100-\\u11ff\\u1780-\\u17ff\\u2e80-\\u2fdf\\u3005-\\u3007\\u3021-\\u3029\\u3040-\\u312f" +
    "\\u3131-\\u318e\\u31a0-\\u31bf\\u31f0-\\u31ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\uac00-\\ud7a3\\uf900-\\ufaff\\u{20000}-\\u{3ffff}";
  const PIECES = new RegExp(`[${UNSPACED}]+|[^${UNSPACED}]+`, "gu");
  const IS_UNSPACED = new RegExp(`^[${UNSPACED}]`, "u"), IS_OF_LETTERS = /^[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]/;
  const RUNS = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu;
  /** @type {Record<string, string>} */
  const SPELT_OUT = { ß: "ss", æ: "ae", œ: "oe", ø: "o", đ: "d", ð: "d", ł: "l", ħ: "h", ı: "i", þ: "th", ς: "σ" };
  const QUOTED = /["“”„«「『]([^"“”„«»「」『』]+)["“”»」』]/g;

  /** @param {string} text @param {boolean} [marks] keep diacritics */
  function fold(text, marks) {
    const lower = text.normalize("NFKD").toLowerCase().replace(INVISIBLE, "");
    return (marks ? lower : lower.replace(DIACRITICS, "").replace(/[ßæœøđðłħıþς]/g, (letter) => SPELT_OUT[letter])).normalize("NFC");
  }

  /** @param {string} folded @returns {string[]} */
  const runs = (folded) => folded.match(RUNS) ?? [];

  /** @type {Map<string, string[]>} */
  const termsOf = new Map();

  /** @param {string} run */
  function terms(run) {
    let found = termsOf.get(run);
    if (!found) {
      found = (run.match(PIECES) ?? []).flatMap((piece) => {
        const unspaced = IS_UNSPACED.test(piece);
        const points = [...(unspaced ? piece : `_${piece}_`)];
        const size = unspaced ? Math.min(2, points.length) : GRAM;
        const grams = points.slice(size - 1).map((_, i) => points.slice(i, i + size).join(""));
        return unspaced ? grams : points.length > GRAM ? [`_${piece}_`, ...grams] : [`_${piece}_`];
      });
      termsOf.set(run, found);
    }
    return found;
  }

  /** @param {string} text @param {boolean} [marks] */
  const tokens = (text, marks) => runs(fold(text, marks)).flatMap(terms);

  /** How many of the words are among these. @param {string[]} words @param {Set<string>} stopwords */
  const countOf = (words, stopwords) => words.filter((word) => stopwords.has(word)).length;

  // -- the book -----------------------------------------------------------------------------------------------------

  /** A chapter with its text; offsets count code points, as in the manifest. */
  class ChapterText {
    /** @param {AskBook.Chapter} chapter */
    constructor(chapter) {
      this.chapter = chapter;
      this.blocks = chapter.sections.flatMap((section) => section.blocks);
      this.text = this.blocks.map((block) => block.text).join("\n");
      this.points = /[\ud800-\udfff]/.test(this.text) ? [...this.text] : null;
      this.length = (this.points ?? this.text).length;
    }

    /** @param {number} start @param {number} end */
    slice(start, end) {
      return this.points ? this.points.slice(start, end).join("") : this.text.slice(start, end);
    }

    /** @param {number} offset */
    sectionAt(offset) {
      const { sections } = this.chapter;
      return sections.findLast((section) => section.start <= offset) ?? sections[0];
    }

    /** @param {number} start @param {number} end */
    blocksIn(start, end) {
      return this.blocks.filter((block) => block.end > start && block.start < end);
    }
  }

  /** @typedef {{ written: string, run: string, stop: boolean, glued: boolean }} Word */

  class Index {
    /** @param {AskBook.Manifest} manifest @param {string} stopwords */
    constructor(manifest, stopwords) {
      this.manifest = manifest;
      const sample = manifest.chapters.map((chapter) => chapter.sections.map(({ blocks }) => blocks.map(({ text }) => text)).join()).join().slice(0, 200_000).toLowerCase();
      const { lang } = manifest.book;
      this.marks = lang ? /^vi\b/i.test(lang) : (sample.match(/[\u1ea0-\u1ef9đơư]/g) ?? []).length * 50 > sample.length;
      this.stopwords = new Set(stopwords.split(" "));
      this.lang = lang.toLowerCase().split(/[-_]/)[0] || askBook.lang;
      const words = lang ? [] : runs(fold(sample));
      /** Whether the stop words are of the book's language, and not those of English for want of others. */
      this.hasTable = this.lang === askBook.lang && countOf(words, this.stopwords) * 5 >= words.length;
      this.chapters = manifest.chapters.map((chapter) => new ChapterText(chapter));
      /** @type {Map<string, number>} */
      this.rows = new Map();
      /** @type {Map<string, number[]>} */
      this.rowsOfRun = new Map();
      /** @type {number[][]} passages and counts by turns, for each term */
      this.postings = [];
      /** @type {number[]} */
      this.lengths = [];
      this.mean = 1;
      /** @type {Map<number, Set<string>>} */
      this.words = new Map();
    }

    /** Index every passage, in slices of time that leave the page its turn. @param {(share: number) => void} [tell] */
    async build(tell) {
      let last = performance.now();
      for (let at = this.lengths.length; at < this.manifest.chunks.length; at++) {
        this.#add(at);
        if (performance.now() - last > SLICE_MS) {
          await new Promise((resolve) => setTimeout(resolve));
          tell?.(at / this.manifest.chunks.length);
          last = performance.now();
        }
      }
      this.rowsOfRun.clear();
      if (!this.hasTable) {
        const least = 2 * Math.max(FEWEST, FREQUENT * this.lengths.length);
        const words = [...this.rows].filter(([term, row]) => this.postings[row].length >= least && (/^_.*_$/s.test(term) || IS_UNSPACED.test(term)));
        if (words.length) this.stopwords = new Set(words.map(([term]) => term.replaceAll("_", "")));
      }
      this.mean = Math.max(1, this.lengths.reduce((sum, length) => sum + length, 0) / (this.lengths.length || 1));
      const lists = this.manifest.chapters.flatMap((chapter) => chapter.sections.filter(({ title }) => LISTS_OF_REFERENCES.has(runs(fold(title))[0]))
        .map(({ start, end }) => /** @type {Span} */ ([chapter.index, start, end])));
      this.factor = this.#passagesIn(lists).map((inside, at) => (inside ? REFERENCES : 1) * (1 - ASIDE * this.#aside(at)));
      return this;
    }

    /** The share of a passage that is code, output, tables or formulas. @param {number} at */
    #aside(at) {
      const { chapter, start, end } = this.manifest.chunks[at];
      const blocks = this.chapters[chapter].blocksIn(start, end);
      const length = (/** @type {AskBook.Block[]} */ some) => sum(some.map(({ text }) => (/[\ud800-\udfff]/.test(text) ? [...text] : text).length));
      return length(blocks.filter(({ kind }) => ASIDES.has(kind))) / (length(blocks) || 1);
    }

    /** @param {number} at */
    #add(at) {
      /** @type {Map<number, number>} */
      const counts = new Map();
      let length = 0;
      for (const run of this.runsOf(at)) {
        for (const row of this.#rowsOf(run)) {
          counts.set(row, (counts.get(row) ?? 0) + 1);
          length++;
        }
      }
      for (const [row, count] of counts) this.postings[row].push(at, count);
      this.lengths.push(length);
    }

    /** What a passage is found by. @param {number} at */
    runsOf(at) {
      const { chapter, start, end } = this.manifest.chunks[at];
      const headings = this.headings(at);
      const contexts = this.chapters[chapter].blocksIn(start, end).map(({ context }) => context).filter(Boolean);
      return runs(fold([...headings, ...headings, this.body(at), ...contexts].join("\n"), this.marks));
    }

    /** The numbers of a run's terms: a book has few runs, which come again and again. @param {string} run */
    #rowsOf(run) {
      let found = this.rowsOfRun.get(run);
      if (!found) {
        found = terms(run).map((term) => {
          const row = this.rows.get(term) ?? this.postings.push([]) - 1;
          this.rows.set(term, row);
          return row;
        });
        this.rowsOfRun.set(run, found);
      }
      return found;
    }

    /** @param {string} term */
    postingsOf(term) {
      return this.postings[this.rows.get(term) ?? -1] ?? [];
    }

    /** The idf of a term. @param {string} term */
    weight(term) {
      const frequency = this.postingsOf(term).length / 2;
      return Math.log(1 + (this.lengths.length - frequency + 0.5) / (frequency + 0.5));
    }

    /** @param {number} at */
    body(at) {
      const { chapter, start, end } = this.manifest.chunks[at];
      return this.chapters[chapter].slice(start, end);
    }

    /** @param {number} at */
    headings(at) {
      const { chapter, start } = this.manifest.chunks[at];
      const book = this.chapters[chapter];
      return [...new Set([book.chapter.title, ...book.sectionAt(start).heading_path])];
    }

    /** The words of a passage's text. @param {number} at @returns {Set<string>} */
    wordsOf(at) {
      let words = this.words.get(at);
      if (!words) {
        words = new Set(runs(fold(this.body(at), this.marks)));
        this.words.set(at, words);
      }
      return words;
    }

    /** Whether a passage has a term. @param {string} term @param {number} at */
    holds(term, at) {
      const row = this.postingsOf(term);
      let low = 0, high = row.length / 2;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (row[2 * middle] < at) low = middle + 1;
        else high = middle;
      }
      return row[2 * low] === at;
    }

    /** The stop words of the other language that the question is in, none if it is in the book's. @param {string} question */
    #foreign(question) {
      const words = runs(fold(question));
      const [first, second] = Object.entries(askBook.locales).map(([code, table]) => {
        const stopwords = new Set(table.stopwords.split(" "));
        return { code, stopwords, count: countOf(words, stopwords) };
      }).sort((a, b) => b.count - a.count);
      return first.code !== this.lang && first.count * 5 > words.length && first.count !== second?.count ? first.stopwords : new Set();
    }

    /** @param {string} question */
    read(question) {
      const aside = this.#foreign(question);
      const asked = this.#read(question, new Set([...this.stopwords, ...aside]), aside.size > 0);
      return this.hasTable || asked.words.some(({ stop }) => !stop) ? asked : this.#read(question, aside, aside.size > 0);
    }

    /** @param {string} question @param {Set<string>} stopwords @param {boolean} isForeign */
    #read(question, stopwords, isForeign) {
      /** @type {Map<string, Word>} equal words are one object */
      const known = new Map();
      const words = runs(question.replace(INVISIBLE, "").normalize("NFC")).flatMap((run) => run.match(PIECES) ?? []).flatMap((written) => runs(fold(written, this.marks)).flatMap((run) =>
        IS_UNSPACED.test(run)
          ? terms(run).map((two, i) => ({ written: two, run: two, stop: stopwords.has(two) || /^[\u3040-\u309f]+$/.test(two), glued: i > 0 }))
          : [{ written, run, stop: stopwords.has(run), glued: false }])).map((word) => {
        const key = JSON.stringify(word);
        return known.get(key) ?? (known.set(key, word), word);
      });
      /** @type {Map<string, number>} */
      const weights = new Map();
      for (const { run, stop } of words) {
        if (stop && isForeign) continue;
        const own = terms(run), weight = (stop ? STOPWORD_WEIGHT : 1) / Math.sqrt(own.length);
        for (const term of own) weights.set(term, Math.max(weights.get(term) ?? 0, weight));
      }
      // Bigrams that only join the end of a word to the next, or belong to what is asked with.
      const unknown = words.filter(({ run }) => IS_UNSPACED.test(run) && !this.rows.has(run));
      const missed = new Set([...inner(words, new Set(unknown.filter(({ stop }) => !stop)))].map(({ run }) => run));
      for (const { run } of unknown) if (!missed.has(run)) weights.delete(run);
      const phrases = [...question.matchAll(QUOTED)].map(([, phrase]) => ({ written: phrase.trim(), runs: runs(fold(phrase, this.marks)) }));
      return { words, weights, phrases: phrases.filter((phrase) => phrase.runs.length) };
    }

    /**
     * The best `k` passages for a question, best first, and whether they are enough.
     * @param {string} question @param {number} [k] @param {string | null} [scope] see `inScope`
     */
    search(question, k = 7, scope = null) {
      const { words, weights, phrases } = this.read(question);
      const gains = new Map([...weights].map(([term, weight]) => [term, weight * this.weight(term) ** (this.rows.has(term) ? DAMPED : 1)]));
      const attainable = sum(gains.values()) || 1;
      const within = scope ? this.inScope(scope) : null;
      const all = /** @type {number[]} */ (this.factor).map((value, at) => (!within || within[at] ? value : 0));
      const holders = phrases.map((phrase) => new Set([...this.#with(phrase.runs)].filter((at) => all[at])));
      const counts = all.map((_, at) => holders.filter((holder) => holder.has(at)).length);
      const most = counts.reduce((a, b) => Math.max(a, b), 0);
      const factor = all.map((value, at) => (counts[at] === most ? value : 0));
      const place = this.named(question).map((value, at) => (factor[at] ? value : 0));
      const named = place.reduce((a, b) => Math.max(a, b), 0);
      const verbatim = named && words.every(({ stop, run }) => stop || isNameOfPlace(run)) ? null : this.#with(runs(fold(question, this.marks)));
      const base = factor.map(() => 0);
      for (const [term, gain] of gains) {
        const row = this.postingsOf(term);
        for (let i = 0; i < row.length; i += 2) {
          base[row[i]] += (gain * row[i + 1]) / (row[i + 1] + K1 * (1 - B + (B * this.lengths[row[i]]) / this.mean));
        }
      }
      base.forEach((value, at) => (base[at] = (factor[at] * value) / attainable));
      base.forEach((value, at) => (base[at] = value + (1 - value) * place[at]));
      const highest = base.reduce((a, b) => Math.max(a, b), 0);
      for (const at of verbatim ?? []) if (factor[at]) base[at] = highest + (1 - highest) * base[at];
      const scored = best(base.map((value, at) => [at, value])).slice(0, REPEATED * k);
      const hits = this.#withoutRepetitions(scored, k);
      const missing = phrases.filter((phrase, i) => phrase.runs.length > 1 && !holders[i].size).map(({ written }) => written);
      return { hits, evidence: this.#judge(words, hits, missing, named) };
    }

    /** The passages in which these runs follow each other. @param {string[]} phrase @returns {Set<number>} */
    #with(phrase) {
      const wanted = ` ${phrase.join(" ")} `;
      const [rarest, ...others] = phrase.flatMap(terms).sort((a, b) => this.postingsOf(a).length - this.postingsOf(b).length);
      return new Set(this.postingsOf(rarest).filter((at, i) =>
        i % 2 === 0 && others.every((term) => this.holds(term, at)) && ` ${this.runsOf(at).join(" ")} `.includes(wanted)));
    }

    /** @param {[number, number][]} scored @param {number} k */
    #withoutRepetitions(scored, k) {
      /** @type {{ chunk: number, score: number }[]} */
      const kept = [];
      for (const [chunk, score] of scored) {
        if (kept.length === k) break;
        const mine = this.wordsOf(chunk);
        const isNew = kept.every((other) => {
          const theirs = this.wordsOf(other.chunk);
          const common = [...mine].filter((word) => theirs.has(word)).length;
          return !mine.size || common < SAME_PASSAGE * (mine.size + theirs.size - common);
        });
        if (isNew) kept.push({ chunk, score });
      }
      return kept;
    }

    // -- is it enough? (`evidence.py`) ----------------------------------------------------------------------------------

    /** @param {Word[]} words @param {{ chunk: number, score: number }[]} hits @param {string[]} missing @param {number} named */
    #judge(words, hits, missing, named) {
      const asked = words.filter(({ stop, run }) => !stop && !(named && isNameOfPlace(run)));
      const families = new Map(asked.map((word) => [word, this.#family(word.run)]));
      const isKnown = (/** @type {Word} */ word) => Boolean(families.get(word)?.length);
      const known = new Set(asked.filter(isKnown));
      const absent = asked.filter((word) => !known.has(word));
      const names = this.lang.startsWith("de") ? 0
        : absent.filter((word) => /^\p{Lu}/u.test(word.written) && word !== words[0]).length;
      const covered = Math.max(0, ...hits.slice(0, LOOKED_AT).map(({ chunk }) => {
        const has = (/** @type {string} */ term) => this.holds(term, chunk);
        return sum(asked.map((word) => (families.get(word)?.some(has) ? (!IS_UNSPACED.test(word.run) ? 1 : IS_OF_LETTERS.test(word.run) ? 0.1 : 0.5) : 0)));
      }));
      const logit = BIAS + SCORE * (hits[0]?.score ?? 0) + COVERED * Math.log1p(covered) + NAME * (names + missing.length);
      const settled = named >= HELD || (named && (covered || !asked.length));
      const confidence = !hits.length || !(asked.length || named) ? 0 : settled ? 1 : 1 / (1 + Math.exp(-logit));
      return {
        enough: confidence >= ENOUGH, confidence,
        found_terms: [...new Set(written(words, known))],
        absent_terms: [...new Set([...written(words, inner(words, new Set(absent))), ...missing])],
      };
    }

    /** The terms of the book that count as this word. @param {string} run @returns {string[]} */
    #family(run) {
      if (IS_UNSPACED.test(run)) return this.rows.has(run) ? [run] : [];
      const points = [...run];
      const own = `_${run}_`;
      const exact = this.rows.has(own) ? [own] : [];
      if (points.length < GRAM) return exact;
      const stem = points.slice(0, Math.max(GRAM, Math.ceil((points.length * 2) / 3))).join("");
      const kin = this.#words(stem).filter((term) => [...term].length <= points.length + 5);
      if (exact.length || kin.length) return [...exact, ...kin];
      return this.#words(points.slice(0, 2).join("")).filter((term) => isOneSlip(points, [...term].slice(1, -1)));
    }

    /** @param {string} prefix */
    #words(prefix) {
      return [...this.rows.keys()].filter((term) => term.startsWith("_" + prefix) && term.endsWith("_"));
    }

    /** The passages of a chapter (its file or page), of a part, or under an anchor. @param {string} scope */
    inScope(scope) {
      const { chapters } = this.manifest;
      const named = (/** @type {string} */ name) => chapters.filter(({ file, href, part }) => name && [file, href, part].includes(name));
      const whole = named(scope);
      if (whole.length) return this.#passagesIn(whole.map((chapter) => this.whole(chapter)));
      const hash = scope.lastIndexOf("#");
      const page = named(scope.slice(0, Math.max(0, hash)));
      const under = this.#underAnchor(page.length ? page : chapters, scope.slice(hash + 1));
      return this.#passagesIn(under.length ? under : this.#called(scope).map((chapter) => this.whole(chapter)));
    }

    /** The chapters of this number, else of this file, else with these words in their title. @param {string} name */
    #called(name) {
      const folded = fold(name), words = runs(folded);
      /** @type {((chapter: AskBook.Chapter) => boolean)[]} */
      const ways = [
        ({ number }) => fold(number) === folded,
        ({ file }) => file.replace(/^.*\/|\.[^./]*$/g, "") === name,
        ({ title }) => words.every((word) => (IS_UNSPACED.test(word) ? fold(title) : runs(fold(title))).includes(word)),
      ];
      return ways.map((fits) => this.manifest.chapters.filter((chapter) => words.length && fits(chapter))).find((some) => some.length) ?? [];
    }

    /** A question without its `chapter:…`, and the scope that this is. @param {string} question @returns {[string, string | null]} */
    narrowed(question) {
      const found = question.match(CHAPTER);
      const scope = (found?.[1] ?? "").replace(/^["“”«».,;:!?]+|["“”«».,;:!?]+$/g, "");
      return found && this.inScope(scope).some(Boolean) ? [question.replace(found[0], "").trim() || scope, scope] : [question, null];
    }

    // -- places that a question names (`places.py`) ---------------------------------------------------------------------

    /** @param {string} question */
    named(question) {
      const place = this.lengths.map(() => 0);
      const raise = (/** @type {Span[]} */ spans, /** @type {number} */ value) =>
        this.#passagesIn(spans).forEach((inside, at) => (place[at] = Math.max(place[at], inside ? value : 0)));
      const folded = fold(question);
      const numbered = [...folded.matchAll(NAMED)].flatMap(([, word, numbers]) => (numbers.match(NUMBERS) ?? []).map((number) => [KIND_OF[word], number]));
      for (const [, number, word] of folded.matchAll(NTH)) numbered.push([KIND_OF[word], number]);
      for (const [kind, number] of numbered) {
        if (kind === "cha") {
          const chapters = this.manifest.chapters.filter((chapter) => fold(chapter.number) === number);
          raise(chapters.map((chapter) => this.whole(chapter)), NEAR);
          raise(chapters.flatMap(({ index, sections }) => sections.slice(0, 1).map(({ end }) => /** @type {Span} */ ([index, 0, end]))), OPENING);
        } else raise(this.#spansOfNumber(kind, number), HELD);
      }
      for (const word of question.split(/\s+/)) {
        const name = word.replace(/^[.,;:!?¿¡()[\]{}"'«»“”]+|[.,;:!?¿¡()[\]{}"'«»“”]+$/g, "");
        if (/^[@#]/.test(name)) raise(this.#spansOfId(name.slice(1)), HELD);
        else if (Object.hasOwn(this.manifest.labels, name)) raise(this.#spansOfId(name), HELD);
      }
      return place;
    }

    /** @param {string} kind @param {string} number @returns {Span[]} */
    #spansOfNumber(kind, number) {
      const labelled = Object.entries(this.manifest.labels)
        .filter(([name, { text }]) => name.startsWith(kind + "-") && fold(text).trim().split(/\s+/).at(-1) === number)
        .flatMap(([name]) => this.#spansOfId(name));
      const sections = kind !== "sec" ? [] : this.manifest.chapters.flatMap((chapter) =>
        chapter.sections.filter((part) => fold(part.number) === number).map((part) => this.under(chapter, part)));
      return [...labelled, ...sections];
    }

    /** @param {string} name @returns {Span[]} */
    #spansOfId(name) {
      const held = this.chapters.flatMap(({ chapter, blocks }) =>
        blocks.filter((block) => block.label === name).map(({ start, end }) => /** @type {Span} */ ([chapter.index, start, end])));
      const spans = held.length ? held : this.#underAnchor(this.manifest.chapters, name);
      if (spans.length || !Object.hasOwn(this.manifest.labels, name)) return spans;
      const target = this.manifest.labels[name].href;
      const whole = this.manifest.chapters.filter(({ href }) => href === target);
      if (whole.length) return whole.map((chapter) => this.whole(chapter));
      const hash = target.lastIndexOf("#");
      return this.#underAnchor(this.manifest.chapters.filter(({ href }) => href === target.slice(0, hash)), target.slice(hash + 1));
    }

    /** @param {AskBook.Chapter[]} chapters @param {string} anchor */
    #underAnchor(chapters, anchor) {
      return chapters.flatMap((chapter) =>
        chapter.sections.filter((section) => anchor && section.anchor === anchor).map((section) => this.under(chapter, section)));
    }

    /** @param {AskBook.Chapter} chapter @param {AskBook.Section} section @returns {Span} */
    under(chapter, section) {
      const after = chapter.sections.filter((later) => later.start > section.start && later.level <= section.level).map(({ start }) => start);
      return [chapter.index, section.start, Math.min(this.chapters[chapter.index].length, ...after)];
    }

    /** @param {AskBook.Chapter} chapter @returns {Span} */
    whole(chapter) {
      return [chapter.index, 0, this.chapters[chapter.index].length];
    }

    /** @param {Span[]} spans */
    #passagesIn(spans) {
      return this.manifest.chunks.map(({ chapter, start, end }) => spans.some(([index, first, last]) => chapter === index && start < last && end > first));
    }
  }

  /** @typedef {[chapter: number, start: number, end: number]} Span */

  const KINDS = {
    fig: "fig figura figure figur abbildung abb 图 図", tbl: "tabla table tab tabela tabelle tabella tableau cuadro quadro 表",
    eq: "ecuacion equation equacao gleichung equazione formule formula eq ec gl 式", thm: "teorema theorem theoreme satz thm 定理",
    lem: "lema lemma lemme", cor: "corolario corollary corollaire korollar corollario",
    prp: "proposicion proposition proposicao proposizione", def: "definicion definition definicao definizione def 定义 定義",
    exm: "ejemplo example exemple exemplo beispiel esempio 例", exr: "ejercicio exercise exercice exercicio ubung esercizio",
    lst: "listado listing listagem listato", sec: "seccion section secao abschnitt sezione apartado sec 节 節",
    cha: "capitulo chapter chapitre kapitel capitolo cap chap kap ch apendice appendix annexe anexo anhang appendice 章",
  };
  /** @type {Record<string, string>} */
  const KIND_OF = Object.fromEntries(Object.entries(KINDS).flatMap(([kind, words]) => words.split(" ").map((word) => [word, kind])));
  const NUMBER = "(?:[0-9]+|[a-z](?![a-z]))(?:\\.[0-9]+)*";
  const NUMBERS = new RegExp(NUMBER, "g");
  const AND = "(?:\\s*[,&]\\s*|\\s+(?:y|e|and|et|und)\\s+)";
  const NAMED = new RegExp(
    `(?:(?<!\\p{L})|(?=[^\\x00-\\u024f]))(${Object.keys(KIND_OF).sort((a, b) => b.length - a.length).join("|")})` +
    `(?:s|es|en|n)?\\.?\\s*(${NUMBER}(?:${AND}${NUMBER})*)`, "gu");
  const NTH = /第\s*([0-9]+(?:\.[0-9]+)*)\s*([章节節])/g;
  const CHAPTER = /(?<!\S)(?:chapter|cap[ií]tulo|chapitre|kapitel|capitolo|章)[:：]("[^"]+"|[“«][^”»]+[”»]|[^\s"“«]\S*)/i;
  const LISTS_OF_REFERENCES = new Set(("references referencias referencia bibliography bibliografia bibliographie referenzen literatur " +
    "literaturverzeichnis quellen quellenverzeichnis riferimenti referenser 参考文献 引用文献 文献").split(" "));

  /** @param {Iterable<number>} values */
  function sum(values) {
    let total = 0;
    for (const value of values) total += value;
    return total;
  }

  /** Above 0, best first, ties in reading order. @param {[number, number][]} scored */
  function best(scored) {
    const round = (/** @type {number} */ value) => Math.round(value * 1e9);
    return scored.filter(([, score]) => round(score) > 0).sort((a, b) => round(b[1]) - round(a[1]) || a[0] - b[0]);
  }

  /** Whether two words differ by at most one letter or two neighbours swapped. @param {string[]} a @param {string[]} b */
  function isOneSlip(a, b) {
    if (Math.abs(a.length - b.length) > 1) return false;
    const shorter = Math.min(a.length, b.length);
    let start = 0, end = 0;
    while (start < shorter && a[start] === b[start]) start++;
    while (end < shorter - start && a.at(-1 - end) === b.at(-1 - end)) end++;
    const [restA, restB] = [a, b].map((letters) => letters.slice(start, letters.length - end));
    return Math.max(restA.length, restB.length) <= 1 || (restA.length === 2 && restA.join() === restB.reverse().join());
  }

  /** Whether a word of a question may belong to the name of a place: a kind, a number, a single letter. @param {string} run */
  const isNameOfPlace = (run) => Object.hasOwn(KIND_OF, run) || [...run].length === 1 || new RegExp(`^${NUMBER}$`).test(run);

  /** Without the bigrams that touch a stop word or a known one. @param {Word[]} words @param {Set<Word>} absent */
  function inner(words, absent) {
    const kept = new Set(absent);
    words.forEach((right, i) => {
      const left = words[i - 1];
      if (left && right.glued && absent.has(left) !== absent.has(right)) {
        kept.delete(left);
        kept.delete(right);
      }
    });
    return kept;
  }

  /** The chosen words as the reader wrote them; bigrams that follow each other become one word again. @param {Word[]} words @param {Set<Word>} chosen */
  function written(words, chosen) {
    /** @type {string[]} */
    const texts = [];
    words.forEach((word, i) => {
      if (!chosen.has(word)) return;
      if (word.glued && chosen.has(words[i - 1])) texts[texts.length - 1] += [...word.written].slice(1).join("");
      else texts.push(word.written);
    });
    return texts;
  }

  /** @type {Promise<Index> | undefined} */
  let building;

  /** @param {AskBook.Manifest} manifest @param {string} stopwords @param {(share: number) => void} [tell] */
  function open(manifest, stopwords, tell) {
    building ??= new Index(manifest, stopwords).build(tell);
    return building;
  }

  const isUnspaced = (/** @type {string} */ run) => IS_UNSPACED.test(run);

  askBook.search = { fold, runs, terms, tokens, isUnspaced, isNameOfPlace, HELD, Index, open };
});
