/** Marks words where the browser knows no CSS highlights: elements around them, until they are taken away again. */
(() => {
  /** @type {AskBook.Namespace["markElements"]} */
  function markElements(ranges, name) {
    const marks = ranges.flatMap((range) => {
      const walker = document.createTreeWalker(range.commonAncestorContainer, NodeFilter.SHOW_TEXT);
      const nodes = [];
      for (let node = /** @type {Node | null} */ (walker.currentNode); node; node = walker.nextNode()) {
        if (node instanceof Text && range.intersectsNode(node) && node.data.trim()) nodes.push(node);
      }
      const { startContainer, startOffset, endContainer, endOffset } = range;
      return nodes.map((node) => {
        const part = document.createRange();
        part.selectNodeContents(node);
        if (node === startContainer) part.setStart(node, startOffset);
        if (node === endContainer) part.setEnd(node, endOffset);
        const element = document.createElement("mark");
        element.className = name;
        part.surroundContents(element);
        return element;
      });
    });
    return () => {
      for (const element of marks) {
        const parent = element.parentNode;
        element.replaceWith(...element.childNodes);
        parent?.normalize();
      }
    };
  }

  askBook.markElements = markElements;
})();
