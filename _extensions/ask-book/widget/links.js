/** Addresses: of a passage, of a question. Both lead only into this book, whatever a sidecar says. */
(() => {
  /** FNV-1a, 32 bits, of the UTF-8 bytes. http://www.isthe.com/chongo/tech/comp/fnv @type {AskBook.Links["hash"]} */
  function hash(text) {
    let value = 0x811c9dc5;
    for (const byte of new TextEncoder().encode(text)) value = Math.imul(value ^ byte, 0x01000193);
    return (value >>> 0).toString(16).padStart(8, "0");
  }

  /** @type {AskBook.Links["passage"]} */
  function passage({ href, tag, quote }) {
    let url = new URL(href, askBook.root);
    if (!url.href.startsWith(askBook.root)) url = new URL(askBook.root);
    if (tag) url.search = "?ask-book=" + tag.replace(/[[\]]/g, "") + "~" + hash(quote);
    return url.href;
  }

  /** The open page with a question: whoever follows it reads quotes, and only a click asks a model. @type {AskBook.Links["question"]} */
  function question(text) {
    const url = new URL(location.href);
    url.hash = "";
    url.search = new URLSearchParams({ ask: text }).toString();
    return url.href;
  }

  /** The page of an address. @type {AskBook.Links["page"]} */
  const page = (url) => url.replace(/[?#].*$/, "").replace(/\/$/, "/index.html");

  askBook.links = { hash, passage, question, page };
})();
