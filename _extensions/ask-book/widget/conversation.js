/** The questions of this sitting and their answers: who answers them, what is sent along, what is kept. */
(() => {
  const { client } = askBook;
  const { t } = askBook.dom;
  const KEPT = 12, HISTORY = 4, CHARS = 4000, SLOW_MS = 8000, AGAIN_MS = 2000;

  /** @type {AskBook.Namespace["createConversation"]} */
  function createConversation({ changed, status, say }) {
    /** @type {AskBook.Turn[]} */
    const turns = (askBook.recall().turns ?? []).map((turn) =>
      turn.state === "asking" || turn.state === "streaming" ? { ...turn, state: "stopped" } : turn);
    /** @type {AskBook.Sidecar | null} */
    let sidecar = null;
    /** @type {Promise<void> | undefined} */
    let connecting;
    /** @type {AbortController | undefined} */
    let running;
    let read = 0;

    const indexState = () => (sidecar ? sidecar.health.index?.state ?? "failed" : "");
    const answering = () => (indexState() === "ready" ? sidecar : null);
    const hasModel = () => Boolean(answering()?.health.works?.chat);

    /** One line on who answers. */
    function who() {
      const { health } = sidecar ?? {};
      if (indexState() === "building") return t("mode_building", { percent: Math.round(100 * (Number(health?.index?.progress) || 0)) });
      if (!answering()) return read > 0 && read < 1 ? t("mode_reading", { percent: Math.round(100 * read) }) : t("mode_browser");
      const host = String(health?.model_host ?? "");
      if (!hasModel()) return t("mode_sidecar");
      return host && !client.isLoopback(host.replace(/:\d+$/, "")) ? t("mode_model", { host }) : t("mode_model_here");
    }

    /** @param {number} share */
    function tell(share) {
      read = share;
      status(who());
    }

    /** Looks for a sidecar; without one, starts to read the book. */
    function connect() {
      connecting ??= (async () => {
        sidecar = await client.findSidecar();
        connecting = undefined;
        status(who());
        if (indexState() === "building") setTimeout(() => void connect(), AGAIN_MS);
        if (!answering()) void askBook.load("search.js").then(() => askBook.local.prepare(tell)).catch(() => {});
      })();
      return connecting;
    }

    /** @param {AskBook.Turn} turn @param {number} before how many turns were before it @returns {AskBook.Asked} */
    function asked({ question, mode, scope }, before) {
      const history = turns.slice(0, before).filter(({ answer }) => answer).slice(-HISTORY).map(({ question, answer }) =>
        ({ question, answer: (answer?.answer ?? "").replace(/ ?\[\d+\]\(#ask-book-\d+\)/g, "").slice(0, CHARS) }));
      return { question, ...(mode && { mode }), ...(scope && { scope }), ...(history.length && { history }) };
    }

    /** @param {AskBook.Turn} turn @param {AskBook.Asked} words @param {AbortSignal} signal @returns {Promise<AskBook.Answer>} */
    async function answer(turn, words, signal) {
      if (!answering()) await connect();
      const from = answering();
      /** @param {Partial<AskBook.Turn>} news */
      const came = (news) => void (signal.aborted || changed(Object.assign(turn, news)));
      if (from) {
        turn.base = from.base;
        try {
          return await client.ask(from, words, {
            sources: (sources) => came({ sources }),
            delta: (text) => came({ state: "streaming", slow: false, text: turn.text + text }),
            citation: (citation) => came({ citations: [...turn.citations, citation] }),
          }, signal);
        } catch (error) {
          // Its index is being made again: the browser helps out.
          if (client.trouble(error).status !== 503) throw error;
          sidecar = null;
          delete turn.base;
        }
      }
      await askBook.load("search.js");
      return askBook.local.ask(words, tell);
    }

    /** @type {AskBook.Conversation["ask"]} */
    async function ask(question, { mode = null, scope = null, where = "", replaces } = {}) {
      if (running) return;
      const control = (running = new AbortController());
      /** @type {AskBook.Turn} */
      const turn = { question, mode, scope, where, state: "asking", text: "", sources: [], citations: [] };
      const at = replaces ? turns.indexOf(replaces) : -1;
      if (at < 0) turns.push(turn);
      else turns[at] = turn;
      changed(turn, true);
      const slow = setTimeout(() => turn.state === "asking" && changed(Object.assign(turn, { slow: true })), SLOW_MS);
      try {
        const stopped = /** @type {Promise<never>} */ (new Promise((_, reject) => control.signal.addEventListener("abort", reject)));
        turn.answer = await Promise.race([answer(turn, asked(turn, turns.indexOf(turn)), control.signal), stopped]);
        turn.state = "done";
        const { status: outcome, sources, answer: text } = turn.answer;
        say(outcome === "not_found" ? text : t("said_ready", { n: new Set(sources.map(({ href }) => href)).size }));
      } catch (error) {
        turn.state = control.signal.aborted ? "stopped" : "failed";
        if (turn.state === "failed") turn.trouble = client.trouble(error);
        if (turn.trouble?.code === "lost") void connect();
      }
      clearTimeout(slow);
      if (running === control) running = undefined;
      if (turns.includes(turn)) changed(turn);
      save();
    }

    /** @type {AskBook.Conversation["again"]} */
    function again(turn, how = {}) {
      stop();
      const { question, mode, scope, where } = turn;
      void ask(how.question ?? question, { mode, scope, where, ...how, replaces: turn });
    }

    function stop() {
      running?.abort();
      running = undefined;
    }

    function clear() {
      stop();
      const { earlier = [] } = askBook.recall();
      const questions = [...turns.map(({ question }) => question).reverse(), ...earlier];
      askBook.remember({ turns: [], back: null, earlier: [...new Set(questions)].slice(0, KEPT) });
      turns.length = 0;
    }

    const save = () => askBook.remember({ turns: turns.slice(-KEPT) });

    return {
      turns, ask, again, stop, clear, connect, save, hasModel,
      isRunning: () => Boolean(running),
      notices: () => answering()?.health.notices ?? [],
    };
  }

  askBook.createConversation = createConversation;
})();
