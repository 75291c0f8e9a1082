/**
 * The book in the browser: its text, and answers from it when no sidecar gives them.
 *
 * The search runs in a worker made of the very functions that the page has loaded, which also works on `file://`;
 * where a page's policy allows no worker, it runs in the page, in slices.
 */
(() => {
  const { read } = askBook;

  /** @type {((askBook: AskBook.Namespace) => void)[]} */
  const parts = [];
  askBook.offPage = (part) => void parts.push(part);

  /** @type {Promise<AskBook.Book> | undefined} */
  let book;

  /** `book.js`: its bytes from this page's own origin, or on `file://` what its script hands over. */
  function load() {
    book ??= (async () => {
      const url = askBook.root + "ask-book/book.js";
      try {
        if (location.protocol === "file:") {
          /** @type {AskBook.Brief | undefined} */
          let received;
          window.askBookManifest = (data) => {
            received = data;
          };
          await askBook.load(url);
          if (received) return received;
          throw new Error("empty");
        }
        const answer = await fetch(url);
        if (!answer.ok || /html/.test(answer.headers.get("Content-Type") ?? "")) throw new Error(String(answer.status));
        return await answer.arrayBuffer();
      } catch {
        book = undefined;
        throw { code: "no_book" };
      }
    })();
    return book;
  }

  /** @type {AskBook.Local["manifest"]} */
  const manifest = async () => read(await load());

  /**
   * The other side, in the worker: takes the book, then questions.
   * @param {typeof parts} parts @param {typeof read} read
   */
  function worker(parts, read) {
    const post = /** @type {(message: object) => void} */ (self.postMessage);
    const askBook = /** @type {AskBook.Namespace} */ ({});
    /** @type {AskBook.Manifest} */
    let manifest;
    self.onmessage = async ({ data: { id, space, book, asked } }) => {
      try {
        Object.assign(askBook, space);
        if (book) {
          for (const part of parts) part(askBook);
          manifest = read(book);
          await askBook.search.prepare(manifest, (/** @type {number} */ progress) => post({ progress }));
          post({ progress: 1 });
        } else post({ id, answer: await askBook.search.answer(manifest, asked) });
      } catch {
        post({ id, failed: true });
      }
    };
    post({ id: 0 });
  }

  /** @param {AskBook.Book} book @param {(share: number) => void} tell @returns {Promise<AskBook.Engine>} */
  async function inWorker(book, tell) {
    const url = URL.createObjectURL(new Blob([`(${worker})([${parts.join()}], ${read})`], { type: "text/javascript" }));
    try {
      const other = new Worker(url);
      /** @type {Map<number, { resolve: (answer: any) => void, reject: (error: unknown) => void }>} */
      const waiting = new Map();
      /** @param {number} id @returns {Promise<any>} */
      const reply = (id) => new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
      let last = 0;
      other.onmessage = ({ data: { id, progress, answer, failed } }) => {
        if (progress !== undefined) tell(progress);
        const one = waiting.get(id);
        waiting.delete(id);
        if (failed) one?.reject({ code: "failed" });
        else one?.resolve(answer);
      };
      other.onerror = () => waiting.forEach(({ reject }) => reject({ code: "failed" }));
      await reply(0);
      const { lang, locales, config } = askBook;
      other.postMessage({ space: { lang, locales, config }, book });
      return (asked) => {
        const answer = reply(++last);
        other.postMessage({ id: last, space: { locales }, asked });
        return answer;
      };
    } finally {
      URL.revokeObjectURL(url);
    }
  }

  /** @param {AskBook.Book} book @param {(share: number) => void} tell @returns {AskBook.Engine} */
  function inPage(book, tell) {
    for (const part of parts) part(askBook);
    const manifest = read(book);
    void askBook.search.prepare(manifest, tell).then(() => tell(1));
    return (asked) => askBook.search.answer(manifest, asked);
  }

  /** @type {Promise<AskBook.Engine> | undefined} */
  let engine;

  /** Loads and reads the book, once. @type {AskBook.Local["prepare"]} */
  function prepare(tell) {
    engine ??= (async () => {
      try {
        const book = await load();
        return await inWorker(book, tell).catch(() => inPage(book, tell));
      } catch (error) {
        engine = undefined;
        throw error;
      }
    })();
    return engine;
  }

  /** @type {AskBook.Local["ask"]} */
  async function ask(asked, tell) {
    const engine = await prepare(tell);
    const answer = await engine(asked);
    const { lang, languages, locales } = askBook;
    if (answer.status === "answered" || answer.answer !== locales[lang].not_found || languages.every((one) => one in locales)) return answer;
    // Perhaps a greeting, or a question about the whole book, in another language than the page's.
    await Promise.all(languages.map((one) => askBook.load(`locales/${one}.js`).catch(() => {})));
    return engine(asked);
  }

  askBook.local = { manifest, prepare, ask };
})();
