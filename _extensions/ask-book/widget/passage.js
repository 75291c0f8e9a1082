/** What a deep link from elsewhere leads to: its words, found in the text of the book. */
(() => {
  /**
   * The words of a deep link: at its offsets if they still hash to the same, else any block or sentence that does.
   * @type {AskBook.Namespace["quoteOf"]}
   */
  function quoteOf(manifest, tag, wanted) {
    const { hash } = askBook.links;
    const [index, start, end] = (/f(\d+)-(\d+)-(\d+)/.exec(tag) || []).slice(1).map(Number);
    const blocks = (/** @type {AskBook.Chapter} */ chapter) => chapter.sections.flatMap((section) => section.blocks.map((block) => block.text));
    const chapter = manifest.chapters[index];
    if (chapter) {
      const quote = [...blocks(chapter).join("\n")].slice(start, end).join("");
      if (hash(quote) === wanted) return quote;
    }
    for (const text of manifest.chapters.flatMap(blocks)) {
      if (hash(text) === wanted) return text;
      const size = end - start;
      const points = [...text];
      for (let at = 0; at + size < points.length + 1; at++) {
        if (at && !/[\s"'“«(¿¡]/.test(points[at - 1])) continue;
        const part = points.slice(at, at + size).join("");
        if (hash(part) === wanted) return part;
      }
    }
    return null;
  }

  askBook.quoteOf = quoteOf;
})();
