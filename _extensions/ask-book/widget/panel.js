/**
 * The reader's panel: one conversation, drawn from plain data.
 *
 * Everything that comes from a question, an answer, a quote or the config becomes text
 * nodes, never markup.
 */
(() => {
  const { config, client, highlight } = askBook;
  const LIMIT = 500;
  const KEPT = 12;

  /**
   * The little Markdown an answer is made of. Links other than notes stay as their words.
   * @type {AskBook.Namespace["parseAnswer"]}
   */
  function parseAnswer(text) {
    /** @type {AskBook.Paragraph[]} */
    const paragraphs = [];
    /** @param {AskBook.Paragraph["kind"]} kind @param {string[]} lines */
    const add = (kind, lines) => {
      const words = lines.join("\n").trim();
      if (words) paragraphs.push({ kind, inline: kind === "code" ? [{ kind: "text", text: lines.join("\n") }] : inline(words) });
    };
    const lines = text.replaceAll("\r", "").split("\n");
    for (let i = 0; i < lines.length; ) {
      const fence = /^( {0,3}> ?)?(`{3,}(?=[^`]*$)|~{3,})/.exec(lines[i]);
      const first = i;
      if (fence) {
        const strip = (/** @type {string} */ line) => (fence[1] ? line.replace(/^ {0,3}> ?/, "") : line);
        for (i++; i < lines.length && !strip(lines[i]).startsWith(fence[2]); i++);
        add("code", lines.slice(first + 1, i).map(strip));
        do i++; while (lines[i]?.trim() === "");
        if (/^(\[\d+\]\(#ask-book-\d+\))+$/.test(lines[i])) paragraphs.at(-1)?.inline.push(...inline(lines[i++]));
        continue;
      }
      const kindOf = (/** @type {string} */ line) =>
        !line.trim() ? "" : /^ {0,3}>/.test(line) ? "quote" : /^\s*([-*+]|\d+[.)])\s/.test(line) ? "item" : /^#{1,6}\s/.test(line) ? "heading" : "p";
      const kind = kindOf(lines[i]);
      const bare = (/** @type {string} */ line) => line.replace(/^ {0,3}> ?|^\s*([-*+]|\d+[.)])\s+|^#{1,6}\s+/, "");
      for (i++; kind && i < lines.length; i++) {
        const next = kindOf(lines[i]);
        if (kind === "quote" ? next !== "quote" || !bare(lines[i]).trim() || /^ {0,3}> ?(`{3,}|~{3,})/.test(lines[i]) : next !== "p" || kind === "heading") break;
      }
      if (kind) add(kind, lines.slice(first, i).map(kind === "p" ? String : bare));
    }
    return paragraphs;
  }

  /** @param {string} text @returns {AskBook.Inline[]} */
  function inline(text) {
    /** @type {AskBook.Inline[]} */
    const parts = [];
    const pattern = /\\([!-/:-@[-`{-~])|(`+)([^]*?[^`])\2(?!`)|\*\*(?=\S)((?:\\.|[^\\])+?)\*\*|\*(?=\S)((?:\\.|[^\\*])+?)\*|\[(\d+)\]\(#ask-book-(\d+)\)|!?\[((?:\\.|[^\]\\])*)\]\([^)\s]*\)|( {2,}|\\)\n/g;
    let plain = "";
    let at = 0;
    const flush = () => {
      if (plain) parts.push({ kind: "text", text: plain });
      plain = "";
    };
    const unescape = (/** @type {string} */ words) => words.replace(/\\([!-/:-@[-`{-~])/g, "$1");
    for (const match of text.matchAll(pattern)) {
      plain += text.slice(at, match.index);
      at = match.index + match[0].length;
      const [, escaped, , code, strong, em, note, , words, hard] = match;
      if (escaped) plain += escaped;
      else if (words !== undefined) plain += unescape(words);
      else {
        flush();
        if (code) parts.push({ kind: "code", text: code });
        else if (strong) parts.push({ kind: "strong", text: unescape(strong) });
        else if (em) parts.push({ kind: "em", text: unescape(em) });
        else if (note) parts.push({ kind: "note", n: Number(note) });
        else if (hard) parts.push({ kind: "break", text: "" });
      }
    }
    plain += text.slice(at);
    flush();
    return parts;
  }

  const texts = { ...askBook.locales.en?.ui, ...askBook.locales[askBook.lang]?.ui, ...config.texts };
  const number = new Intl.NumberFormat(askBook.lang);

  /** @param {string} key @param {Record<string, string | number>} [values] */
  const t = (key, values = {}) =>
    (texts[key] ?? key).replace(/\{(\w+)\}/g, (whole, name) => {
      const value = values[name];
      return value === undefined ? whole : typeof value === "number" ? number.format(value) : value;
    });

  /**
   * @template {keyof HTMLElementTagNameMap} K
   * @param {K} tag
   * @param {Record<string, any>} [attributes] `part` also sets data-ask-book; `on…` adds a listener
   * @param {...(Node | string | null | undefined | false)} children
   * @returns {HTMLElementTagNameMap[K]}
   */
  function h(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value === undefined || value === null || value === false) continue;
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else element.setAttribute(name, value === true ? "" : String(value));
      if (name === "part") element.setAttribute("data-ask-book", String(value));
    }
    element.append(.../** @type {(Node | string)[]} */ (children.filter(Boolean)));
    return element;
  }

  /** @param {string} path an icon drawn in a 24 × 24 box */
  function icon(path) {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("viewBox", "0 0 24 24");
    svg.setAttribute("aria-hidden", "true");
    const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
    line.setAttribute("d", path);
    svg.append(line);
    return svg;
  }
  const ICONS = {
    close: "M6 6l12 12M18 6L6 18",
    send: "M12 19V5M6 11l6-6 6 6",
    stop: "M8 8h8v8H8z",
    fresh: "M12 5v14M5 12h14",
    back: "M19 12H5M11 6l-6 6 6 6",
  };

  /** @param {AskBook.Place} place */
  const pathOf = ({ chapter_title, heading_path }) =>
    (heading_path[0] === chapter_title ? heading_path : [chapter_title, ...heading_path]).filter(Boolean).join(" › ");

  /** @type {AskBook.Namespace["createPanel"]} */
  async function createPanel(host, css) {
    const shadow = /** @type {ShadowRoot} */ (host.shadowRoot);
    const launcher = /** @type {HTMLElement} */ (shadow.querySelector("button"));
    const state = askBook.recall();

    /** @type {AskBook.Turn[]} */
    const turns = (state.turns ?? []).map((turn) =>
      turn.state === "asking" || turn.state === "streaming" ? { ...turn, state: "stopped" } : turn);
    /** @type {AskBook.Sidecar | null} */
    let sidecar = null;
    /** @type {Promise<void> | undefined} */
    let connecting;
    /** @type {AbortController | undefined} */
    let running;
    /** @type {Element | null} */
    let cameFrom = null;
    /** @type {{ chip: HTMLButtonElement, card: HTMLElement, pinned: boolean } | null} */
    let shown = null;

    const talk = h("div", { class: "talk", tabindex: "-1", role: "log", "aria-live": "off", "aria-label": t("title") });
    const input = h("textarea", {
      part: "input", rows: 1, placeholder: t("placeholder"), "aria-label": t("placeholder"), autocomplete: "off", enterkeyhint: "send",
      "aria-describedby": "ask-book-status",
    });
    const send = h("button", { class: "send", type: "submit", "aria-label": t("send"), title: t("send") }, icon(ICONS.send));
    const form = h("form", { onsubmit: submit }, input, send);
    const status = h("p", { part: "status", id: "ask-book-status" });
    const live = h("div", { class: "unseen", role: "status" });
    const bar = h("div", { class: "bar", hidden: true },
      h("button", { type: "button", class: "unfold", onclick: unfold }, t("to_answer")),
      h("button", { type: "button", class: "back", onclick: goBack }, icon(ICONS.back), t("back")));
    const grip = h("div", { class: "grip", role: "separator", tabindex: 0, "aria-label": t("resize"), "aria-orientation": "vertical", "aria-valuenow": 0 });
    const panel = h("section", { part: "panel", class: "panel", role: "dialog", "aria-label": t("title"), lang: askBook.lang, hidden: true },
      grip,
      h("div", { class: "head" },
        h("h2", {}, t("title")),
        h("button", { class: "fresh", type: "button", "aria-label": t("fresh"), title: t("fresh"), onclick: startAfresh }, icon(ICONS.fresh)),
        h("button", { class: "close", type: "button", "aria-label": t("close"), title: t("close"), onclick: () => close() }, icon(ICONS.close))),
      talk, bar, h("div", { class: "foot" }, form, status), live);

    await new Promise((resolve) => {
      const link = h("link", { rel: "stylesheet", href: css, onload: resolve, onerror: resolve });
      shadow.append(link, panel);
    });

    // -- the conversation ---------------------------------------------------------------------------------------------

    function save() {
      askBook.remember({ turns: turns.slice(-KEPT), scroll: talk.scrollTop });
    }

    function draw() {
      shown = null;
      talk.replaceChildren(...(turns.length ? turns.map(drawTurn) : [drawIdle()]));
      panel.classList.toggle("idle", !turns.length);
    }

    function drawIdle() {
      return h("div", { class: "welcome" },
        h("p", { class: "intro" }, t("intro")),
        h("h3", {}, t("examples")),
        h("ul", {}, ...suggestions().map((question) =>
          h("li", {}, h("button", { type: "button", class: "suggestion", onclick: () => void ask(question, null) }, question)))));
    }

    /** The author's questions, else three made of the page's own headings. */
    function suggestions() {
      if (config.suggestions?.length) return config.suggestions.slice(0, 4).map(String);
      const headings = ["main section:not(.footnotes) > :is(h2, h3)", "#quarto-sidebar .chapter-title"].flatMap((selector) => [...document.querySelectorAll(selector)]);
      const names = headings.map((heading) => {
        const copy = /** @type {Element} */ (heading.cloneNode(true));
        for (const extra of copy.querySelectorAll(".header-section-number, .anchorjs-link, .math, mjx-container")) extra.remove();
        return (copy.textContent ?? "").replace(/\s+/g, " ").trim();
      });
      return [...new Set(names)].filter((name) => name.length > 2 && name.length < 60).slice(0, 3).map((heading) => t("suggestion", { heading }));
    }

    /** @param {AskBook.Turn} turn */
    function drawTurn(turn) {
      const article = h("article", { class: "turn " + turn.state }, h("h3", { class: "question", lang: config.book.lang }, turn.question));
      fill(article, turn);
      return article;
    }

    /** Draws all of a turn below its question. @param {HTMLElement} article @param {AskBook.Turn} turn */
    function fill(article, turn) {
      const { answer } = turn;
      const sources = answer ? answer.sources : turn.sources;
      const missing = answer?.status === "not_found" && answer.answer === askBook.locales[askBook.lang]?.not_found;
      const body = h("div", { part: "answer", class: missing ? "answer missing" : "answer", lang: config.book.lang });
      if (turn.state === "asking") body.append(h("p", { class: "wait" }, t("searching")));
      else body.append(...drawText(answer ? answer.answer : turn.text, answer ? answer.citations : turn.citations));
      if (answer?.absent_terms.length) {
        const terms = answer.absent_terms.flatMap((term, i) => [i ? ", " : "", h("em", {}, term)]);
        const [before, after] = t("absent", { terms: "\u0000" }).split("\u0000");
        body.append(h("p", { class: "absent", lang: askBook.lang }, before, ...terms, after));
      }
      article.className = "turn " + turn.state;
      article.setAttribute("aria-busy", String(turn.state === "asking" || turn.state === "streaming"));
      article.replaceChildren(article.children[0], body,
        ...drawEnd(turn),
        ...(sources.length ? [drawPlaces("sources", t("sources"), sources)] : []),
        ...(answer?.nearest.length ? [drawPlaces("nearest", t("nearest"), answer.nearest)] : []));
    }

    /** @param {string} kind @param {string} title @param {AskBook.Source[]} places */
    function drawPlaces(kind, title, places) {
      const seen = new Set();
      const rows = places.filter(({ href }) => !seen.has(href) && seen.add(href));
      return h("section", { part: "sources", class: "places " + kind },
        h("h4", {}, title),
        h("ol", {}, ...rows.map((place) => h("li", {}, drawLink({ ...place, quote: place.text }, { class: "place", lang: config.book.lang }, pathOf(place))))));
    }

    /** @param {AskBook.Turn} turn */
    function drawEnd({ state, answer, trouble, question, mode }) {
      const again = () => h("button", { type: "button", class: "again", onclick: () => void ask(question, mode, true) }, t("again"));
      if (state === "failed" && trouble) {
        const known = texts["error_" + trouble.code];
        return [h("div", { class: "trouble", role: "alert" },
          h("p", {}, trouble.message || known || t("error_failed")),
          trouble.hint || (trouble.message ? "" : texts["hint_" + trouble.code]) ? h("p", { class: "hint" }, trouble.hint || texts["hint_" + trouble.code]) : null,
          again())];
      }
      if (state === "stopped") return [h("p", { class: "end" }, h("span", {}, t("stopped")), again())];
      if (state !== "done" || !answer) return [];
      const total = answer.citations.length;
      const verified = answer.citations.filter((citation) => citation.verified).length;
      const copy = h("button", { type: "button", class: "copy", onclick: () => void copyAnswer(question, answer, copy) }, t("copy"));
      return [
        ...answer.notices.map((notice) => h("p", { class: "notice" }, notice.message)),
        answer.status === "answered" && h("p", { class: "end" },
          h("span", { class: verified === total ? "checked" : "" }, t("checked", { n: verified, total })), copy),
      ].filter((part) => part !== false);
    }

    /** @param {string} text @param {AskBook.Citation[]} citations @returns {HTMLElement[]} */
    function drawText(text, citations) {
      /** @type {HTMLElement[]} */
      const out = [];
      for (const { kind, inline } of parseAnswer(text)) {
        /** @type {(Node | string | null)[]} */
        const children = [];
        for (const part of inline) {
          if (part.kind === "note") {
            // A note stays on the line of its last word.
            const last = children.at(-1);
            const word = typeof last === "string" && kind !== "code" ? /\S{1,24}\s*$/.exec(last) : null;
            if (word) children[children.length - 1] = word.input.slice(0, word.index);
            children.push(h("span", { class: "tie" }, word?.[0], drawNote(citations.find(({ n }) => n === part.n))));
          } else children.push(part.kind === "text" ? part.text : part.kind === "break" ? h("br") : h(part.kind, {}, part.text));
        }
        if (kind === "item") {
          const list = out.at(-1)?.tagName === "UL" ? /** @type {HTMLElement} */ (out.at(-1)) : h("ul");
          if (list !== out.at(-1)) out.push(list);
          list.append(h("li", {}, ...children));
        } else if (kind === "quote") out.push(h("blockquote", {}, h("p", {}, ...children)));
        else if (kind === "code") out.push(h("div", { class: "listing" }, h("pre", { tabindex: 0 }, h("code", {}, children[0])), ...children.slice(1)));
        else out.push(kind === "heading" ? h("p", {}, h("strong", {}, ...children)) : h("p", {}, ...children));
      }
      return out;
    }

    // -- notes --------------------------------------------------------------------------------------------------------

    /** @param {AskBook.Citation | undefined} citation */
    function drawNote(citation) {
      if (!citation) return null;
      const chip = h("button", {
        type: "button", part: "note", class: "note", "aria-expanded": "false", "aria-label": t("note", { n: citation.n, place: pathOf(citation) }),
        onclick: () => (shown?.chip === chip && shown.pinned ? hideCard() : showCard(chip, citation, true)),
        onpointerenter: (/** @type {PointerEvent} */ event) => {
          if (event.pointerType === "mouse" && !shown?.pinned) hover(() => showCard(chip, citation, false), 120);
        },
        onpointerleave: () => hover(() => !shown?.pinned && hideCard(), 250),
      }, String(citation.n));
      return chip;
    }

    let waiting = 0;
    /** @param {() => unknown} then @param {number} delay */
    function hover(then, delay) {
      clearTimeout(waiting);
      waiting = window.setTimeout(then, delay);
    }

    /** @param {HTMLButtonElement} chip @param {AskBook.Citation} citation @param {boolean} pinned */
    function showCard(chip, citation, pinned) {
      clearTimeout(waiting);
      if (shown?.chip === chip) {
        shown.pinned = pinned || shown.pinned;
        return;
      }
      hideCard();
      const quote = h("q", { lang: config.book.lang }, citation.quote);
      const card = h("span", {
        part: "quote", class: "card", role: "group", "aria-label": t("note", { n: citation.n, place: pathOf(citation) }),
        onpointerenter: () => clearTimeout(waiting),
        onpointerleave: () => hover(() => !shown?.pinned && hideCard(), 250),
      },
        quote,
        h("span", { class: "where", lang: config.book.lang }, pathOf(citation)),
        h("span", { class: "under" },
          h("span", { class: citation.verified ? "checked" : "" }, t(citation.verified ? "verified" : "unverified")),
          drawLink(citation, { part: "jump", class: "jump" }, t("jump"))));
      chip.after(card);
      chip.setAttribute("aria-expanded", "true");
      shown = { chip, card, pinned };
      place(chip, card);
    }

    /** Below the note if there is room, else above it. @param {HTMLElement} chip @param {HTMLElement} card */
    function place(chip, card) {
      const answer = /** @type {HTMLElement} */ (chip.closest(".answer"));
      const [outer, inner, box] = [talk, chip, answer].map((element) => element.getBoundingClientRect());
      const fitsBelow = inner.bottom + card.offsetHeight + 12 < outer.bottom || inner.top - card.offsetHeight - 12 < outer.top;
      card.style.top = (fitsBelow ? inner.bottom + 8 : inner.top - card.offsetHeight - 8) - box.top + "px";
      card.style.setProperty("--tip", inner.left + inner.width / 2 - box.left + "px");
      card.classList.toggle("above", !fitsBelow);
      const below = card.getBoundingClientRect().bottom + 8 - outer.bottom;
      if (fitsBelow && below > 0) talk.scrollTop += Math.min(below, inner.top - outer.top);
    }

    /** @param {boolean} [refocus] */
    function hideCard(refocus) {
      clearTimeout(waiting);
      if (!shown) return;
      const { chip, card } = shown;
      shown = null;
      card.remove();
      chip.setAttribute("aria-expanded", "false");
      if (refocus) chip.focus();
    }

    /** @param {number} step */
    function nextNote(step) {
      const chips = /** @type {HTMLButtonElement[]} */ ([...talk.querySelectorAll(".note")]);
      const at = chips.indexOf(/** @type {HTMLButtonElement} */ (shown?.chip ?? shadow.activeElement));
      const next = chips[at + step];
      if (at < 0 || !next) return;
      next.focus();
      next.click();
    }

    // -- from the answer into the book and back ------------------------------------------------------------------------

    /** @param {AskBook.Place & { quote: string }} place @param {Record<string, any>} attributes @param {string} text */
    function drawLink(place, attributes, text) {
      const url = highlight.deepLink(place);
      return h("a", {
        ...attributes, href: url,
        onclick: (/** @type {MouseEvent} */ event) => {
          if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
          event.preventDefault();
          goTo(url, place);
        },
      }, text);
    }

    /** @param {string} url */
    const bare = (url) => url.replace(/[?#].*$/, "").replace(/\/$/, "/index.html");

    /** @param {string} url @param {AskBook.Place & { quote: string }} place */
    function goTo(url, { quote, anchor }) {
      save();
      askBook.remember({ back: { url: location.href, y: scrollY }, quote, arriving: true });
      if (bare(url) !== bare(location.href)) {
        location.assign(url);
        return;
      }
      try {
        history.pushState(null, "", url);
      } catch {
        location.hash = anchor; // A browser that lets no `file:` page change its query.
      }
      arrive(quote, anchor);
    }

    /** @param {string} quote @param {string} anchor */
    function arrive(quote, anchor) {
      askBook.remember({ arriving: false });
      panel.classList.add("peek");
      bar.hidden = !askBook.recall().back && !turns.length;
      fit();
      const found = highlight.show(quote, anchor);
      say(t(found ? "arrived" : "not_on_page"));
      if (!found) status.textContent = t("not_on_page");
    }

    function unfold() {
      panel.classList.remove("peek");
      bar.hidden = !askBook.recall().back;
      (shown?.chip ?? input).focus({ preventScroll: true });
    }

    function goBack() {
      const { back } = askBook.recall();
      askBook.remember({ back: null });
      panel.classList.remove("peek");
      bar.hidden = true;
      highlight.clear();
      if (!back) return;
      if (bare(back.url) !== bare(location.href)) {
        askBook.remember({ back: { ...back, url: "" } });
        location.assign(back.url);
        return;
      }
      try {
        history.pushState(null, "", back.url);
      } catch {
        // The address may not change here; the place does.
      }
      window.scrollTo({ top: back.y, behavior: "instant" });
    }

    // -- asking -------------------------------------------------------------------------------------------------------

    /** @param {Event} event */
    function submit(event) {
      event.preventDefault();
      if (running) {
        running.abort();
        return;
      }
      const question = input.value.replace(/\s+/g, " ").trim();
      if (!question) return;
      if ([...question].length > LIMIT) {
        say((status.textContent = t("too_long", { n: LIMIT })));
        return;
      }
      input.value = "";
      grow();
      void ask(question, null);
    }

    /** @param {string} question @param {string | null} mode @param {boolean} [again] */
    async function ask(question, mode, again) {
      if (running) return;
      const control = (running = new AbortController());
      hideCard();
      if (!turns.length) talk.replaceChildren();
      panel.classList.remove("idle", "peek");
      /** @type {AskBook.Turn} */
      const turn = { question, mode, state: "asking", text: "", sources: [], citations: [] };
      if (again) {
        const at = turns.findLastIndex((old) => old.question === question);
        turns.splice(at, 1);
        talk.children[at]?.remove();
      }
      turns.push(turn);
      const article = drawTurn(turn);
      talk.append(article);
      // not scrollIntoView(), which also moves the page on a phone
      talk.scrollTop += article.getBoundingClientRect().top - talk.getBoundingClientRect().top;
      busy(true);

      let drawn = 0;
      const redraw = () => {
        drawn ||= requestAnimationFrame(() => {
          drawn = 0;
          if (turn.state === "asking" || turn.state === "streaming") fill(article, turn);
        });
      };
      try {
        await (connecting ?? connect());
        if (!sidecar || building()) await connect();
        turn.answer = await client.ask(building() ? null : sidecar, question, mode, {
          sources: (sources) => {
            turn.sources = sources;
            redraw();
          },
          delta: (text) => {
            turn.state = "streaming";
            turn.text += text;
            redraw();
          },
          citation: (citation) => {
            turn.citations.push(citation);
            redraw();
          },
        }, control.signal);
        turn.state = "done";
        const { status: outcome, sources, answer } = turn.answer;
        say(outcome === "not_found" ? answer : t("said_ready", { n: new Set(sources.map(({ href }) => href)).size }));
      } catch (error) {
        turn.state = control.signal.aborted ? "stopped" : "failed";
        if (turn.state === "failed") {
          turn.trouble = client.trouble(error);
          sidecar = turn.trouble.code === "lost" ? null : sidecar;
        }
      }
      running = undefined;
      busy(false);
      fill(article, turn);
      save();
    }

    /** @param {boolean} on */
    function busy(on) {
      const name = t(on ? "stop" : "send");
      send.classList.toggle("stop", on);
      send.setAttribute("aria-label", name);
      send.title = name;
      send.replaceChildren(icon(on ? ICONS.stop : ICONS.send));
    }

    /** @param {string} text what a screen reader hears */
    function say(text) {
      live.textContent = text;
    }

    function startAfresh() {
      running?.abort();
      turns.length = 0;
      highlight.clear();
      askBook.remember({ turns: [], back: null });
      bar.hidden = true;
      draw();
      input.focus({ preventScroll: true });
    }

    /** @param {string} question @param {AskBook.Answer} answer @param {HTMLElement} button */
    async function copyAnswer(question, answer, button) {
      const notes = answer.citations.map((note) =>
        `[${note.n}] “${note.quote}” — ${config.book.title}, ${pathOf(note)}. ${highlight.deepLink(note)}`);
      const text = `**${question}**\n\n${answer.answer.replace(/\[(\d+)\]\(#ask-book-\d+\)/g, "[$1]")}\n\n${notes.join("\n")}\n`;
      try {
        await navigator.clipboard.writeText(text);
      } catch {
        const area = h("textarea", {});
        area.value = text;
        panel.append(area);
        area.select();
        document.execCommand("copy");
        area.remove();
      }
      button.textContent = t("copied");
      say(t("copied"));
      setTimeout(() => (button.textContent = t("copy")), 2000);
    }

    // -- who answers --------------------------------------------------------------------------------------------------

    const building = () => Boolean(sidecar && sidecar.health.index?.state !== "ready");

    function connect() {
      connecting = (async () => {
        sidecar = await client.findSidecar();
        const { health } = sidecar ?? {};
        const progress = Number(health?.index?.progress) || 0;
        status.textContent = building() ? t("mode_building", { percent: Math.round(progress * 100) }) : t(sidecar ? "mode_sidecar" : "mode_browser");
        if (building()) setTimeout(() => void connect(), 2000);
      })();
      return connecting;
    }

    // -- the panel itself ---------------------------------------------------------------------------------------------

    function grow() {
      input.style.height = "auto";
      input.style.height = Math.min(input.scrollHeight + 2, 160) + "px";
    }
    input.addEventListener("input", grow);
    input.addEventListener("keydown", (event) => {
      if (event.isComposing) return;
      if (event.key === "Enter" && !event.shiftKey) {
        event.preventDefault();
        if (!running) form.requestSubmit();
      } else if (event.key === "ArrowUp" && !input.value && turns.length) {
        event.preventDefault();
        input.value = turns[turns.length - 1].question;
        grow();
      }
    });
    // The page's own one-key shortcuts must not see what is typed here: Quarto's search takes the focus on the keyup of `s` or `f`.
    panel.addEventListener("keyup", (event) => event.stopPropagation());
    panel.addEventListener("keydown", (event) => {
      const target = /** @type {HTMLElement} */ (event.target);
      if (event.key === "Escape") shown ? hideCard(true) : close();
      else if ((event.key === "ArrowRight" || event.key === "ArrowLeft") && target.closest(".note, .card")) {
        event.preventDefault();
        nextNote(event.key === "ArrowRight" ? 1 : -1);
      }
      event.stopPropagation();
    });
    panel.addEventListener("click", (event) => {
      if (shown && !(/** @type {HTMLElement} */ (event.target).closest(".note, .card"))) hideCard();
    });

    const isSheet = () => matchMedia("(max-width: 991.98px)").matches;
    /** @param {number} size of the drawer or the sheet, in pixels */
    function resize(size) {
      const sheet = isSheet();
      const most = sheet ? innerHeight * 0.97 : Math.min(innerWidth * 0.6, 720);
      const value = Math.round(Math.max(sheet ? 160 : 320, Math.min(most, size)));
      panel.style.setProperty(sheet ? "--sheet" : "--drawer", value + "px");
      if (!sheet) askBook.remember({ width: value });
      fit();
    }
    const sizeNow = () => (isSheet() ? panel.offsetHeight : panel.offsetWidth);
    grip.addEventListener("pointerdown", (event) => {
      const [x, y, size] = [event.clientX, event.clientY, sizeNow()];
      const rtl = getComputedStyle(panel).direction === "rtl" ? -1 : 1;
      grip.setPointerCapture(event.pointerId);
      /** @param {PointerEvent} move */
      const wanted = (move) => size + (isSheet() ? y - move.clientY : rtl * (x - move.clientX));
      grip.onpointermove = (move) => resize(wanted(move));
      grip.onpointerup = grip.onpointercancel = (up) => {
        grip.onpointermove = grip.onpointerup = grip.onpointercancel = null;
        if (isSheet() && wanted(up) < innerHeight * 0.2) close();
        else panel.classList.remove("peek");
      };
    });
    grip.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: 32, ArrowUp: 32, ArrowRight: -32, ArrowDown: -32 }[event.key];
      if (!step) return;
      event.preventDefault();
      resize(sizeNow() + step);
    });
    /** Keeps the sheet above the keyboard and inside the screen, and the text beside the drawer: the page makes room only if it must. */
    function fit() {
      const view = window.visualViewport;
      if (view && view.scale < 1.05 && isSheet()) {
        panel.style.setProperty("--below", "0px");
        const hidden = panel.offsetTop + panel.offsetHeight - view.offsetTop - view.height;
        panel.style.setProperty("--below", Math.max(0, Math.round(hidden)) + "px");
        panel.style.setProperty("--view", Math.round(view.width) + "px");
      }
      const content = document.getElementById("quarto-content") ?? document.body;
      content.style.paddingInlineEnd = "";
      panel.style.removeProperty("--room");
      grip.ariaValueNow = String(sizeNow());
      if (panel.hidden || isSheet()) return;
      const covered = () => {
        const [text, drawer] = [document.querySelector("main") ?? content, panel].map((element) => element.getBoundingClientRect());
        return Math.min(text.right + 8 - drawer.left, drawer.right + 8 - text.left);
      };
      if (covered() <= 0) return;
      content.style.paddingInlineEnd = panel.offsetWidth + "px";
      const still = covered();
      if (still <= 0) return;
      panel.style.setProperty("--room", panel.offsetWidth - still + "px");
      content.style.paddingInlineEnd = panel.offsetWidth + "px";
    }
    window.addEventListener("resize", fit);
    for (const kind of ["resize", "scroll"]) window.visualViewport?.addEventListener(kind, fit);
    talk.addEventListener("scroll", () => hover(save, 400), { passive: true });

    /** @type {AskBook.Panel["open"]} */
    function open({ focus, question }) {
      if (panel.hidden) {
        cameFrom = document.activeElement;
        panel.hidden = false;
        host.setAttribute("open", "");
        askBook.remember({ open: true });
        if (state.width && !isSheet()) resize(state.width);
        fit();
        void connect();
        talk.scrollTop = askBook.recall().scroll ?? (turns.length ? talk.scrollHeight : 0);
      }
      if (focus) {
        panel.classList.remove("peek");
        input.focus({ preventScroll: true });
      }
      const text = question?.replace(/\s+/g, " ").trim();
      if (text && turns.at(-1)?.question !== text) void ask([...text].slice(0, LIMIT).join(""), "extractive");
    }

    function close() {
      if (panel.hidden) return;
      hideCard();
      save();
      panel.hidden = true;
      host.removeAttribute("open");
      fit();
      askBook.remember({ open: false });
      const back = cameFrom instanceof HTMLElement && cameFrom !== document.body && cameFrom !== host && cameFrom.isConnected ? cameFrom : launcher;
      back.focus({ preventScroll: true });
    }

    /** @type {AskBook.Panel["reveal"]} */
    async function reveal(passage) {
      const [, tag, wanted] = /^(f\d+-\d+-\d+)~([0-9a-f]{8})$/.exec(passage) ?? [];
      if (!tag) return;
      const anchor = decodeURIComponent(location.hash.slice(1));
      const { quote } = askBook.recall();
      const words = quote && highlight.hash(quote) === wanted ? quote
        : await client.manifest().then((manifest) => highlight.quoteOf(manifest, tag, wanted), () => null);
      arrive(words ?? "", anchor);
    }

    window.addEventListener("popstate", () => {
      const passage = new URLSearchParams(location.search).get("ask-book");
      if (passage) void reveal(passage);
      else highlight.clear();
    });
    window.addEventListener("pagehide", save);

    draw();
    const { back } = askBook.recall();
    if (back && !back.url) {
      askBook.remember({ back: null });
      window.scrollTo({ top: back.y, behavior: "instant" });
    } else bar.hidden = !back;
    return { open, close, reveal };
  }

  askBook.parseAnswer = parseAnswer;
  askBook.createPanel = createPanel;
})();
