/** A question and all that belongs to it: its answer, what is checked, where it comes from, what went wrong. */
(() => {
  const { config } = askBook;
  const { t, known, h, pathOf } = askBook.dom;

  /** @type {AskBook.Namespace["createTurns"]} */
  function createTurns({ conversation, notes, link, say, edit }) {
    /** @type {WeakMap<AskBook.Turn, { article: HTMLElement, text: HTMLElement, rest: HTMLElement, end: HTMLElement, places: HTMLElement }>} */
    const parts = new WeakMap();
    /** @type {WeakMap<Element, string>} */
    const drawn = new WeakMap();

    /** Draws anew only what has changed. @param {HTMLElement} place @param {unknown} of @param {() => AskBook.Child[]} draw */
    function renew(place, of, draw) {
      const key = JSON.stringify(of);
      if (drawn.get(place) === key) return;
      drawn.set(place, key);
      place.replaceChildren(.../** @type {Node[]} */ (draw().filter(Boolean)));
    }

    /** @type {AskBook.Turns["draw"]} */
    function draw(turn) {
      const text = h("div", { class: "text" });
      const rest = h("div", { class: "rest" });
      const end = h("div", { class: "ending" });
      const places = h("div", {});
      const article = h("article", {},
        h("h3", { class: "question", lang: config.book.lang, dir: "auto" }, turn.question),
        turn.where ? h("p", { class: "where" }, t("only_in", { place: turn.where })) : null,
        h("div", { part: "answer", class: "answer", lang: config.book.lang }, text, rest), end, places);
      parts.set(turn, { article, text, rest, end, places });
      update(turn);
      return article;
    }

    /** @type {AskBook.Turns["update"]} */
    function update(turn) {
      const part = parts.get(turn);
      if (!part) return;
      const { article, text, rest, end, places } = part;
      const { answer, state } = turn;
      article.className = "turn " + state;
      article.setAttribute("aria-busy", String(state === "asking" || state === "streaming"));
      text.classList.toggle("missing", answer?.status === "not_found" && !answer.citations.length && Boolean(answer.nearest.length || answer.absent_terms.length));
      notes.fill(text, answer ? answer.answer : turn.text, answer ? answer.citations : turn.citations, answer?.claims?.marks ?? []);
      renew(rest, [state, turn.slow, answer?.absent_terms], () => drawRest(turn));
      renew(end, [state, turn.trouble, answer?.id], () => drawEnd(turn));
      const sources = answer ? answer.sources : turn.sources;
      renew(places, [sources.map(({ tag }) => tag), answer?.nearest.map(({ tag }) => tag)], () => [
        sources.length > 0 && drawPlaces("sources", t("sources"), sources),
        answer && answer.nearest.length > 0 && drawPlaces("nearest", t("nearest"), answer.nearest),
      ]);
    }

    /** @param {string} words @param {() => void} onclick */
    const button = (words, onclick) => h("button", { type: "button", class: "button", onclick }, words);

    /** @param {AskBook.Turn} turn */
    function drawRest(turn) {
      if (turn.state === "asking") {
        return [
          h("p", { class: "wait", lang: askBook.lang }, t("searching")),
          turn.slow && h("p", { class: "hint", lang: askBook.lang }, t("slow"), " ", button(t("quotes_only"), () => conversation.again(turn, { mode: "extractive" }))),
        ];
      }
      if (!turn.answer?.absent_terms.length) return [];
      const terms = turn.answer.absent_terms.flatMap((term, i) => [i ? ", " : "", h("em", {}, term)]);
      const [before, after] = t("absent", { terms: "\u0000" }).split("\u0000");
      return [h("p", { class: "absent", lang: askBook.lang }, before, ...terms, after)];
    }

    /** @param {string} kind @param {string} title @param {AskBook.Source[]} places */
    function drawPlaces(kind, title, places) {
      const seen = new Set();
      const rows = places.filter(({ href }) => !seen.has(href) && seen.add(href));
      return h("section", { part: "sources", class: "places " + kind },
        h("h4", {}, title),
        h("ol", {}, ...rows.map((place) => h("li", {}, link({ ...place, quote: place.text }, { class: "place", lang: config.book.lang, dir: "auto" }, pathOf(place))))));
    }

    /** @param {AskBook.Turn} turn */
    function drawEnd(turn) {
      const { state, answer, trouble } = turn;
      if (state === "failed" && trouble) return [drawTrouble(turn, trouble)];
      if (state === "stopped") return [h("p", { class: "end" }, h("span", {}, t("stopped")), button(t("again"), () => conversation.again(turn)))];
      if (state !== "done" || !answer) return [];
      const total = answer.citations.length;
      const verified = answer.citations.filter((citation) => citation.verified).length;
      const marks = answer.claims?.marks ?? [];
      const count = (/** @type {string} */ kind) => marks.filter((mark) => mark.kind === kind).length;
      return [
        ...answer.notices.map(({ code, message }) => h("p", { class: "notice" }, known("notice_" + code) || message)),
        total > 0 && h("p", { class: "end" }, h("span", { class: verified === total ? "checked" : "" }, t("checked", { n: verified, total }))),
        ...["uncited", "unsupported"].map((kind) => count(kind) > 0 && h("p", { class: "end doubts" }, t("count_" + kind, { n: count(kind) }))),
        turn.mode === "extractive" && conversation.hasModel() && h("p", { class: "end" }, button(t("ask_model"), () => conversation.again(turn, { mode: null }))),
        turn.scope && answer.status === "not_found" && h("p", { class: "end" }, button(t("whole_book"), () => conversation.again(turn, { scope: null, where: "" }))),
        ...askBook.drawActions(turn, { say, save: conversation.save, edit: () => edit(turn), again: () => conversation.again(turn) }),
      ];
    }

    /** What, why, and what to do. @param {AskBook.Turn} turn @param {AskBook.Trouble} trouble */
    function drawTrouble(turn, { code, message, hint, status, retry_after }) {
      const name = [code.startsWith("provider") ? "502" : code, String(status)].find((key) => key !== "failed" && known("error_" + key)) ?? "failed";
      const own = name === "failed" && message;
      const advice = own ? hint : known("hint_" + name);
      const reason = name === "502" && message;
      return h("div", { class: "trouble", role: "alert" },
        h("p", {}, own || t("error_" + name)),
        reason && h("p", { class: "hint", lang: "en" }, reason),
        advice || retry_after ? h("p", { class: "hint" }, retry_after ? t("wait", { n: retry_after }) : advice) : null,
        h("p", { class: "buttons" },
          button(t("again"), () => conversation.again(turn)),
          name === "502" && turn.mode !== "extractive" && button(t("quotes_only"), () => conversation.again(turn, { mode: "extractive" }))));
    }

    return { draw, update };
  }

  askBook.createTurns = createTurns;
})();
