/** The reader's panel: puts its parts together and listens to the keyboard. */
(() => {
  const { config } = askBook;
  const { t, h, tool, icon } = askBook.dom;
  const LIMIT = 500, SUGGESTIONS = 4, TALLEST = 160;

  /** @type {AskBook.Namespace["createPanel"]} */
  async function createPanel(host) {
    const shadow = /** @type {ShadowRoot} */ (host.shadowRoot);
    const launcher = /** @type {HTMLElement} */ (shadow.querySelector("button"));
    const state = askBook.recall();
    /** @type {Element | null} */
    let cameFrom = null;
    /** @type {AskBook.Turn | undefined} */
    let edited;

    const talk = h("div", { class: "talk", tabindex: "-1", role: "log", "aria-live": "off", "aria-label": t("title") });
    const input = h("textarea", {
      part: "input", rows: 1, placeholder: t("placeholder"), "aria-label": t("placeholder"), autocomplete: "off", enterkeyhint: "send", dir: "auto",
      "aria-describedby": "ask-book-status",
    });
    const sender = h("button", { class: "send", type: "submit" });
    const form = h("form", { class: "ask", onsubmit: submit }, input, sender);
    const scope = h("button", { type: "button", class: "scope", "aria-pressed": "false", onclick: () => press(scope.ariaPressed !== "true") }, t("this_page"));
    const line = h("p", { part: "status", id: "ask-book-status" });
    const live = h("div", { class: "unseen", role: "status" });
    const bar = h("div", { class: "bar", hidden: true },
      h("button", { type: "button", class: "unfold", onclick: unfold }, t("to_answer")),
      h("button", { type: "button", class: "back", onclick: () => travel.goBack() }, icon("back"), t("back")));
    const grip = h("div", { class: "grip", role: "separator", tabindex: 0, "aria-label": t("resize"), "aria-orientation": "vertical", "aria-valuenow": 0 });
    const head = h("div", { class: "head" }, h("h2", {}, t("title")), tool("fresh", t("fresh"), startAfresh), tool("close", t("close"), close));
    const panel = h("section", { part: "panel", class: "panel idle", role: "dialog", "aria-label": t("title"), lang: askBook.lang, hidden: true },
      grip, head, talk, bar, h("div", { class: "foot" }, form, h("div", { class: "below" }, scope, line)), live,
      ...["uncited", "unsupported"].map((kind) => h("span", { id: "ask-book-" + kind, hidden: true }, t(kind))));

    /** @param {string} name */
    const style = (name) => new Promise((resolve) =>
      shadow.append(h("link", { rel: "stylesheet", href: new URL(name, askBook.here).href, onload: resolve, onerror: resolve })));
    await style("panel.css");
    shadow.append(panel);

    const say = (/** @type {string} */ text) => void (live.textContent = text);
    const status = (/** @type {string} */ text) => void (line.textContent = text);
    const layout = askBook.createLayout(panel, grip, head, close);
    const conversation = askBook.createConversation({ changed, status: (text) => (status(text), greet()), say });
    const { turns: past } = conversation;
    const save = () => {
      conversation.save();
      askBook.remember({ scroll: talk.scrollTop });
    };
    const travel = askBook.createTravel({ panel, bar, fit: layout.fit, leave: save, hasTurns: () => past.length > 0, say, status });
    /** @type {Promise<unknown> | undefined} */
    let dressed;
    /** @type {AskBook.Notes | undefined} */
    let notes;
    /** @type {AskBook.Turns | undefined} */
    let turns;

    // -- the conversation ---------------------------------------------------------------------------------------------

    /** What draws questions and answers comes with the first of them. */
    async function load() {
      await Promise.all([askBook.load("answer.js"), dressed ??= style("answer.css")]);
      notes ??= askBook.createNotes(talk, travel.link);
      turns ??= askBook.createTurns({ conversation, notes, link: travel.link, say, edit });
    }

    function draw() {
      if (past.length && !turns) {
        void load().then(draw, () => status(t("error_failed")));
        return;
      }
      notes?.hide();
      talk.replaceChildren(...(turns && past.length ? past.map(turns.draw) : drawIdle()));
      talk.scrollTop = (past.length && askBook.recall().scroll) || 0;
      panel.classList.toggle("idle", !past.length);
    }

    function drawIdle() {
      /** @param {string} title @param {string[]} questions */
      const list = (title, questions) => (questions.length ? [h("h3", {}, title), h("ul", {}, ...questions.map((question) =>
        h("li", {}, h("button", { type: "button", class: "suggestion", dir: "auto", onclick: () => void ask(question) }, question))))] : []);
      return [
        h("div", { class: "welcome" },
          h("p", { class: "intro" }, t("intro")),
          h("div", { class: "notices" }),
          ...list(t("examples"), suggestions()),
          ...list(t("earlier"), (askBook.recall().earlier ?? []).map(String))),
      ];
    }

    /** What is known of who answers, once it is known. */
    function greet() {
      const [intro, place] = [".intro", ".notices"].map((selector) => talk.querySelector(selector));
      if (intro) intro.textContent = t(conversation.hasModel() ? "intro_model" : "intro");
      place?.replaceChildren(...conversation.notices().map(({ message }) => h("p", { class: "notice" }, String(message))));
    }

    /** The author's questions, else three made of the page's own headings. */
    function suggestions() {
      if (config.suggestions?.length) return config.suggestions.slice(0, SUGGESTIONS).map(String);
      const headings = ["main section:not(.footnotes) > :is(h2, h3)", "#quarto-sidebar .chapter-title"].flatMap((selector) => [...document.querySelectorAll(selector)]);
      const names = headings.map((heading) => {
        const copy = /** @type {Element} */ (heading.cloneNode(true));
        for (const extra of copy.querySelectorAll(".header-section-number, .anchorjs-link, .math, mjx-container")) extra.remove();
        return (copy.textContent ?? "").replace(/\s+/g, " ").trim();
      });
      return [...new Set(names)].filter((name) => name.length > 2 && name.length < 60).slice(0, 3).map((heading) => t("suggestion", { heading }));
    }

    /** @type {Set<AskBook.Turn>} */
    const stale = new Set();

    /** @param {AskBook.Turn} turn @param {boolean} [isNew] */
    function changed(turn, isNew) {
      panel.classList.remove("idle", "peek");
      if (!turns) draw();
      else if (isNew) add(turns.draw(turn), past.indexOf(turn));
      else {
        if (!stale.size) requestAnimationFrame(() => {
          for (const one of stale) turns?.update(one);
          stale.clear();
          busy();
        });
        stale.add(turn);
      }
      busy();
    }

    /** @param {HTMLElement} article @param {number} at */
    function add(article, at) {
      notes?.hide();
      const old = talk.children[at];
      if (past.length === 1) talk.replaceChildren(article);
      else if (old) old.replaceWith(article);
      else talk.append(article);
      // not scrollIntoView(), which also moves the page on a phone
      talk.scrollTop += article.getBoundingClientRect().top - talk.getBoundingClientRect().top;
    }

    /** @param {string} question */
    function saysHere(question) {
      try {
        return new RegExp(t("here"), "iu").test(question);
      } catch {
        return false; // an author's own pattern, which is none
      }
    }

    /** @param {string} question @param {{ mode?: string, replaces?: AskBook.Turn }} [how] */
    function ask(question, how) {
      const here = scope.ariaPressed === "true" || saysHere(question) ? { scope: config.href, where: pageTitle() } : {};
      return conversation.ask(question, { ...here, ...how });
    }

    /** @param {SubmitEvent} event */
    function submit(event) {
      event.preventDefault();
      if (conversation.isRunning()) {
        conversation.stop();
        return;
      }
      const question = input.value.replace(/\s+/g, " ").trim();
      if (!question) return;
      if ([...question].length > LIMIT) {
        const words = t("too_long", { n: LIMIT });
        status(words);
        say(words);
        return;
      }
      void ask(question, { replaces: edited });
      write("");
    }

    /** @param {AskBook.Turn} turn */
    function edit(turn) {
      edited = turn;
      press(Boolean(turn.scope));
      write(turn.question);
      input.focus({ preventScroll: true });
    }

    /** @param {string} words */
    function write(words) {
      input.value = words;
      grow();
    }

    function grow() {
      input.style.height = "auto";
      input.style.height = Math.min(input.scrollHeight + 2, TALLEST) + "px";
      if (!input.value) edited = undefined;
    }

    /** The page that is asked alone. */
    function pageTitle() {
      const title = document.querySelector("h1 .chapter-title") ?? document.querySelector("h1");
      return (title?.textContent ?? document.title).replace(/\s+/g, " ").trim();
    }

    /** @param {boolean} on */
    const press = (on) => void (scope.ariaPressed = String(on));

    function busy() {
      const on = conversation.isRunning();
      const name = t(on ? "stop" : "send");
      if (sender.title === name) return;
      sender.classList.toggle("stop", on);
      sender.ariaLabel = sender.title = name;
      sender.replaceChildren(icon(on ? "stop" : "send"));
    }

    function startAfresh() {
      conversation.clear();
      travel.clear();
      bar.hidden = true;
      draw();
      busy();
      greet();
      input.focus({ preventScroll: true });
    }

    function unfold() {
      travel.unfold();
      (notes?.anchor() ?? input).focus({ preventScroll: true });
    }

    // -- the keyboard -------------------------------------------------------------------------------------------------

    input.addEventListener("input", grow);
    input.addEventListener("input", () => void load().catch(() => {}), { once: true });
    input.addEventListener("keydown", (event) => {
      if (event.isComposing) return;
      if (event.key === "Enter" && !event.shiftKey) {
        event.preventDefault();
        if (!conversation.isRunning()) form.requestSubmit();
      } else if (event.key === "ArrowUp" && !input.value && past.length) {
        event.preventDefault();
        write(past[past.length - 1].question);
      }
    });
    // The page's own one-key shortcuts must not see what is typed here: Quarto's search takes the focus on the keyup of `s` or `f`.
    panel.addEventListener("keyup", (event) => event.stopPropagation());
    panel.addEventListener("keydown", (event) => {
      const { key } = event;
      if (key === "Escape" && !notes?.hide(true)) close();
      else if ((key === "ArrowRight" || key === "ArrowLeft") && /** @type {HTMLElement} */ (event.target).closest(".note, .card")) {
        event.preventDefault();
        notes?.next(key === "ArrowRight" ? 1 : -1);
      }
      event.stopPropagation();
    });
    panel.addEventListener("click", (event) => {
      if (!(/** @type {HTMLElement} */ (event.target).closest(".note, .card, .doubt"))) notes?.hide();
    });
    let saving = 0;
    talk.addEventListener("scroll", () => {
      clearTimeout(saving);
      saving = window.setTimeout(save, 400);
    }, { passive: true });
    // A sidecar that was started meanwhile is used.
    window.addEventListener("focus", () => panel.hidden || !askBook.client.isLoopback(location.hostname) || void conversation.connect());
    window.addEventListener("pagehide", () => {
      conversation.stop();
      save();
    });

    // -- open and closed ----------------------------------------------------------------------------------------------

    /** @type {AskBook.Panel["open"]} */
    function open({ focus, question, about }) {
      if (panel.hidden) {
        cameFrom = document.activeElement;
        panel.hidden = false;
        host.setAttribute("open", "");
        askBook.remember({ open: true });
        if (state.width && !layout.isSheet()) layout.resize(state.width);
        layout.fit();
        void conversation.connect();
        talk.scrollTop = (past.length && askBook.recall().scroll) || 0;
      }
      if (about) write(t("about_selection", { words: about }));
      if (focus) {
        panel.classList.remove("peek");
        layout.fit();
        input.focus({ preventScroll: true });
      }
      const text = question?.replace(/\s+/g, " ").trim();
      if (text && past.at(-1)?.question !== text) void ask([...text].slice(0, LIMIT).join(""), { mode: "extractive" });
    }

    function close() {
      if (panel.hidden) return;
      notes?.hide();
      save();
      panel.hidden = true;
      host.removeAttribute("open");
      layout.fit();
      askBook.remember({ open: false });
      const back = cameFrom instanceof HTMLElement && cameFrom !== document.body && cameFrom !== host && cameFrom.isConnected ? cameFrom : launcher;
      back.focus({ preventScroll: true });
    }

    draw();
    busy();
    return { open, close, reveal: travel.reveal };
  }

  askBook.createPanel = createPanel;
})();
