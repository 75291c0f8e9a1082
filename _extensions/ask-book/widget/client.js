/**
 * Talks with the sidecar of this very book, if there is one.
 *
 * A public page never calls loopback, and a page from `file://` calls it only with
 * the token that `ask-book open` put in its address.
 */
(() => {
  const { config } = askBook;

  /** @param {string} id the book's id @returns {number[]} the four ports a local sidecar of this book tries */
  function ports(id) {
    const base = 10240 + 4 * (parseInt(id.slice(0, 8), 16) % 5440);
    return [base, base + 1, base + 2, base + 3];
  }

  /** @param {string} host */
  const isLoopback = (host) => /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/i.test(host);

  /**
   * Where a sidecar may be, in groups to be asked one after the other.
   * @type {AskBook.Client["candidates"]}
   */
  function candidates({ protocol, hostname }, { book, endpoint }, root, token) {
    const local = ports(book.id).map((port) => `http://127.0.0.1:${port}/`);
    if (protocol === "file:") return token ? [local] : [];
    const groups = [[root]];
    if (isLoopback(hostname)) groups.push(local);
    if (endpoint) {
      const url = new URL(endpoint.endsWith("/") ? endpoint : endpoint + "/", root);
      if (isLoopback(hostname) || !isLoopback(url.hostname)) groups.push([url.href]);
    }
    return groups;
  }

  /** Only a page from `file://` needs the owner's token: the sidecar takes no other request of its kind. */
  const token = location.protocol === "file:" ? askBook.recall().token || "" : "";

  /** @param {Record<string, string>} headers */
  const withToken = (headers) => (token ? { ...headers, Authorization: "Bearer " + token } : headers);

  /** @param {string} base @returns {Promise<AskBook.Sidecar | null>} */
  async function probe(base) {
    try {
      const answer = await fetch(base + "health", { headers: withToken({ Accept: "application/json" }), signal: AbortSignal.timeout(2000) });
      const health = answer.ok && /json/.test(answer.headers.get("Content-Type") || "") ? await answer.json() : null;
      return health?.book?.id === config.book.id ? { base, health } : null;
    } catch {
      return null;
    }
  }

  /** The hash of the very book that these pages are of, from the first words of `book.js`. */
  async function ownHash() {
    try {
      const { body } = await fetch(askBook.root + "ask-book/book.js");
      const reader = /** @type {ReadableStream<Uint8Array>} */ (body).getReader();
      const { value } = await reader.read();
      void reader.cancel();
      return /"hash":"(\w+)"/.exec(new TextDecoder().decode(value))?.[1];
    } catch {
      return null; // A page from `file:` may not fetch; its token leads to the right one.
    }
  }

  /** @type {AskBook.Client["findSidecar"]} */
  async function findSidecar() {
    for (const group of candidates(location, config, askBook.root, token)) {
      const found = (await Promise.all(group.map(probe))).filter((one) => one !== null);
      // Of two copies of one book on this machine, the one whose pages these are.
      const own = found.length > 1 && await ownHash();
      if (found.length) return found.find(({ health }) => health.book.hash === own) ?? found[0];
    }
    return null;
  }

  /**
   * Reads an event stream from pieces of text cut anywhere.
   * @type {AskBook.Client["eventReader"]}
   */
  function eventReader(receive) {
    let rest = "";
    return (text) => {
      const events = (rest + text).replaceAll("\r", "").split("\n\n");
      rest = /** @type {string} */ (events.pop());
      for (const event of events) {
        let kind = "message";
        const data = [];
        for (const line of event.split("\n")) {
          if (line.startsWith("event:")) kind = line.slice(6).trim();
          else if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
        }
        if (data.length) receive(kind, JSON.parse(data.join("\n")));
      }
    };
  }

  /** @param {string} url @param {object} body @param {string} accept @param {AbortSignal} [signal] */
  async function post(url, body, accept, signal) {
    const headers = withToken({ "Content-Type": "application/json", Accept: accept });
    const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body), signal });
    if (response.ok && response.body) return response.body;
    const { error } = await response.json().catch(() => ({}));
    throw { code: String(response.status), ...error, status: response.status, retry_after: Number(response.headers.get("Retry-After")) || 0 };
  }

  /** @type {AskBook.Client["ask"]} */
  async function ask({ base }, question, events, signal) {
    const body = await post(base + "ask", question, "text/event-stream", signal);
    /** @type {AskBook.Answer | undefined} */
    let done;
    const read = eventReader((kind, data) => {
      if (kind === "sources") events.sources?.(data);
      else if (kind === "delta") events.delta?.(data.text);
      else if (kind === "citation") events.citation?.(data);
      else if (kind === "done") done = data;
      else if (kind === "error") throw data.error ?? data;
    });
    const decoder = new TextDecoder();
    const reader = body.getReader();
    for (;;) {
      const piece = await reader.read();
      read(decoder.decode(piece.value, { stream: !piece.done }));
      if (piece.done) break;
    }
    if (!done) throw { code: "lost" };
    return done;
  }

  /** What the reader thinks of an answer, for the author. @type {AskBook.Client["feedback"]} */
  const feedback = async (base, opinion) => void (await post(base + "feedback", opinion, "application/json"));

  /** Whether the PDF of a report is there. @type {AskBook.Client["report"]} */
  async function report(base, id) {
    const answer = await fetch(`${base}reports/${encodeURIComponent(id)}`, { headers: withToken({ Accept: "application/json" }) });
    return answer.ok ? String((await answer.json()).pdf) : "failed";
  }

  /** @type {AskBook.Client["trouble"]} */
  function trouble(error) {
    if (error instanceof TypeError) return { code: "lost", message: "" };
    const { code = "failed", message = "", hint = "", status = 0, retry_after = 0 } = /** @type {Partial<AskBook.Trouble>} */ (error ?? {});
    return { code: String(code), message: String(message), hint: String(hint), status, retry_after };
  }

  askBook.client = { ports, isLoopback, candidates, eventReader, findSidecar, ask, feedback, report, trouble };
})();
