/** `book.js` is the manifest without what follows from the rest (`lua/brief.lua`); here it is worked out again. */
(() => {
  /** Stands alone: its source also goes into the worker. @type {AskBook.Namespace["read"]} */
  function read(book) {
    const text = book instanceof ArrayBuffer ? new TextDecoder().decode(book) : "";
    /** @type {AskBook.Brief | AskBook.Manifest} */
    const brief = text ? JSON.parse(text.slice(text.indexOf("askBookManifest(") + 16, text.lastIndexOf(")"))) : book;
    if ("labels" in brief) return brief;
    const length = (/** @type {string} */ words) => (/[\ud800-\udfff]/.test(words) ? [...words].length : words.length);
    /** @type {AskBook.Chunk[]} */
    const chunks = [];
    /** @type {AskBook.Manifest["labels"]} */
    const labels = {};
    const chapters = brief.chapters.map(({ sections, chunks: counts, labels: own, ...chapter }, index) => {
      /** @type {AskBook.Section[]} */
      const above = [];
      /** @type {number[]} */
      const starts = [];
      let at = 0;
      const whole = sections.map(({ blocks, path, ...section }) => {
        while (above.length && above[above.length - 1].level >= section.level) above.pop();
        const start = at;
        const written = blocks.map((block) => {
          const [words, kind, context = "", label = ""] = Array.isArray(block) ? block : [block];
          const start = at;
          starts.push(start);
          at += length(words) + 1;
          return { kind: kind || "para", start, end: at - 1, text: words, context, label };
        });
        const heading_path = path ?? [...above.at(-1)?.heading_path ?? [], section.title];
        above.push({ ...section, heading_path, start, end: at, blocks: written });
        return above[above.length - 1];
      });
      const size = Math.max(0, at - 1);
      for (const section of whole) section.end = Math.min(section.end, size);
      let first = 0;
      for (const count of counts) chunks.push({ chapter: index, start: starts[first], end: starts[(first += count)] ?? size });
      for (const [name, label] of Object.entries(own)) {
        const [words, anchor] = Array.isArray(label) ? label : [label, name];
        labels[name] ??= { href: chapter.href + (anchor && "#" + anchor), text: words };
      }
      return { ...chapter, index, sections: whole };
    });
    return { ...brief, chapters, chunks, labels };
  }

  askBook.read = read;
})();
