/**
 * The little Markdown an answer is made of, as plain data. Links other than notes stay as their words.
 *
 * A stretch of the answer that the reader should doubt is set between characters of the private use area, so that
 * offsets in the Markdown become places in what is shown.
 */
(() => {
  const DOUBTS = { uncited: "\uE000", unsupported: "\uE001" };
  const CERTAIN = "\uE002";
  const PRIVATE = /[\uE000-\uE002]/g;
  const PREFIX = /^ {0,3}> ?|^\s*(?:[-*+]|\d+[.)])\s+|^#{1,6}\s+/;
  const WRITTEN = /\\\((.{1,999}?)\\\)|\\\[(.{1,999}?)\\\]/gs;
  const DEEPEST = 4;

  /** @type {AskBook.Markdown["doubt"]} */
  function doubt(text, marks) {
    const points = [...text.replace(PRIVATE, "\uFFFD")];
    for (const { start, end, kind } of [...marks].sort((a, b) => b.start - a.start)) {
      if (!(0 <= start && start < end && end <= points.length && Object.hasOwn(DOUBTS, kind))) continue;
      const isWhole = !start || points[start - 1] === "\n";
      const lines = points.slice(start, end).join("").split("\n").map((line, i) => {
        const [prefix = ""] = i || isWhole ? PREFIX.exec(line) ?? [] : [];
        return line.trim() ? prefix + DOUBTS[kind] + line.slice(prefix.length) + CERTAIN : line;
      });
      points.splice(start, end - start, lines.join("\n"));
    }
    return points.join("");
  }

  /** @param {string} line @returns {AskBook.Paragraph["kind"] | ""} */
  const kindOf = (line) =>
    !line.trim() ? "" : /^ {0,3}>/.test(line) ? "quote" : /^\s*[-*+]\s/.test(line) ? "item" : /^\s*\d{1,9}[.)]\s/.test(line) ? "step"
    : /^#{1,6}\s/.test(line) ? "heading" : /^ {0,3}\|.*\|\s*$/.test(line) ? "table" : "p";

  /** @type {AskBook.Markdown["parse"]} */
  function parse(text) {
    /** @type {AskBook.Paragraph[]} */
    const paragraphs = [];
    /** @param {AskBook.Paragraph["kind"]} kind @param {string[]} lines */
    const add = (kind, lines) => {
      const words = lines.join("\n").trim();
      if (!words) return;
      const code = kind === "code" ? [{ kind: /** @type {const} */ ("text"), text: lines.join("\n").replace(PRIVATE, "") }] : null;
      paragraphs.push({ kind, inline: code ?? inline(words) });
    };
    const lines = text.replaceAll("\r", "").split("\n");
    for (let i = 0; i < lines.length; ) {
      const fence = /^( {0,3}> ?)?[\uE000\uE001]?(`{3,}(?=[^`]*$)|~{3,})/.exec(lines[i]);
      const first = i;
      if (fence) {
        const strip = (/** @type {string} */ line) => (fence[1] ? line.replace(/^ {0,3}> ?/, "") : line);
        for (i++; i < lines.length && !strip(lines[i]).replace(PRIVATE, "").startsWith(fence[2]); i++);
        add("code", lines.slice(first + 1, i).map(strip));
        do i++; while (lines[i]?.trim() === "");
        if (/^(\[\d+\]\(#ask-book-\d+\))+$/.test(lines[i])) paragraphs.at(-1)?.inline.push(...inline(lines[i++]));
        continue;
      }
      const kind = kindOf(lines[i]);
      const bare = (/** @type {string} */ line) => line.replace(PREFIX, "");
      for (i++; kind && i < lines.length; i++) {
        const next = kindOf(lines[i]);
        if (kind === "table" ? next !== "table" : kind === "quote"
          ? next !== "quote" || !bare(lines[i]).trim() || /^ {0,3}> ?(`{3,}|~{3,})/.test(lines[i])
          : next !== "p" || kind === "heading") break;
      }
      if (kind === "table") paragraphs.push({ kind, inline: [], rows: lines.slice(first, i).filter((line) => !/^[\s|:-]*$/.test(line)).map(cells) });
      else if (kind) add(kind, lines.slice(first, i).map(kind === "p" ? String : bare));
    }
    return paragraphs;
  }

  /** @param {string} line @returns {AskBook.Inline[][]} */
  const cells = (line) => line.trim().slice(1, -1).split(/(?<!\\)\|/).map((cell) => inline(cell.trim()));

  const INLINE = new RegExp([
    /([\uE000-\uE002])/, // a doubt begins or ends
    /\\\((.{1,999}?)\\\)/, // a formula
    /\\\[(.{1,999}?)\\\]/, // one of its own
    /(?<![\w$])\$(?!\$)(\S|\S[^$\n]{0,999}?[^\s\\])\$(?![\d$])|\$\$([^$]{1,999})\$\$/,
    /\\([!-/:-@[-`{-~])/, // an escaped character
    /(?<ticks>`+)([^]*?[^`])\k<ticks>(?!`)/, // code
    /\*\*(?=\S)((?:\\.|[^\\])+?)\*\*|\*(?=\S)((?:\\.|[^\\*])+?)\*/, // strong, emphasis
    /\[\d+\]\(#ask-book-(\d+)\)/, // a note
    /!?\[((?:\\.|[^\]\\]){0,999})\]\([^)\s]{0,999}\)/, // a link
    /( {2,}|\\)\n/, // the end of a line
  ].map(({ source }) => source).join("|"), "gs");

  /** Words of the book, and their formulas. @type {AskBook.Markdown["words"]} */
  function words(text) {
    /** @type {(AskBook.Words | AskBook.Formula)[]} */
    const parts = [];
    let at = 0;
    for (const match of text.matchAll(WRITTEN)) {
      if (match.index > at) parts.push({ kind: "text", text: text.slice(at, match.index) });
      parts.push({ kind: "formula", text: match[1] ?? match[2], display: match[1] === undefined });
      at = match.index + match[0].length;
    }
    if (at < text.length) parts.push({ kind: "text", text: text.slice(at) });
    return parts;
  }

  /** @param {string} text @param {number} [depth] @returns {AskBook.Inline[]} */
  function inline(text, depth = 0) {
    /** @type {AskBook.Inline[]} */
    const parts = [];
    let plain = "";
    let at = 0;
    /** @param {AskBook.Inline} part */
    const add = (part) => {
      flush();
      parts.push(part);
    };
    // What is escaped is text as it stands; so are the words of the book.
    const flush = () => {
      parts.push(...words(plain));
      plain = "";
    };
    const pattern = new RegExp(INLINE);
    for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
      plain += text.slice(at, match.index);
      // Escaped brackets are no formula.
      if (match[3] && !/\\[A-Za-z]|(?<!\\)[\^_]/.test(match[3])) {
        plain += "[";
        at = pattern.lastIndex = match.index + 2;
        continue;
      }
      at = match.index + match[0].length;
      const [, mark, round, square, dollar, dollars, escaped, , code, strong, em, note, label] = match;
      const inner = strong ?? em ?? label;
      const formula = round ?? dollar ?? square ?? dollars;
      if (mark) add({ kind: "doubt", text: mark === DOUBTS.uncited ? "uncited" : mark === CERTAIN ? "" : "unsupported" });
      else if (escaped) plain += escaped;
      else if (formula) add({ kind: "formula", text: formula.replace(PRIVATE, ""), display: formula === (square ?? dollars) });
      else if (code) add({ kind: "code", text: code.replace(PRIVATE, "") });
      else if (note) add({ kind: "note", n: Number(note) });
      else if (inner === undefined) add({ kind: "break", text: "" });
      else {
        const children = depth < DEEPEST ? inline(inner, depth + 1) : [{ kind: /** @type {const} */ ("text"), text: inner.replace(PRIVATE, "") }];
        flush();
        parts.push(...(label === undefined ? [{ kind: strong ? /** @type {const} */ ("strong") : /** @type {const} */ ("em"), inline: children }] : children));
      }
    }
    plain += text.slice(at);
    flush();
    return parts.reduce(joined, /** @type {AskBook.Inline[]} */ ([]));
  }

  /** Neighbouring texts as one. @param {AskBook.Inline[]} parts @param {AskBook.Inline} part */
  function joined(parts, part) {
    const last = parts.at(-1);
    if (part.kind === "text" && last?.kind === "text") last.text += part.text;
    else parts.push(part);
    return parts;
  }

  askBook.markdown = { parse, doubt, words };
})();
