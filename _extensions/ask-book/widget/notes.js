/** The text of an answer: its notes, each with a card that shows the quote, and the stretches that a reader should doubt. */
(() => {
  const { config, markdown } = askBook;
  const { t, h, pathOf } = askBook.dom;
  const SHOW_MS = 120, HIDE_MS = 250;

  /** @param {string} tex @param {boolean} display */
  function drawFormula(tex, display) {
    const span = h("span", { class: display ? "formula display" : "formula", dir: "ltr" }, tex);
    void askBook.load("formulas.js").then(() => askBook.typeset(span, tex, display)).catch(() => {});
    return span;
  }

  /** Words of the book as they are; formulas apart, and the cells of a row told apart. @param {string} text */
  const drawWords = (text) => markdown.words(text).map((part) =>
    part.kind === "formula" ? drawFormula(part.text, part.display) : h("span", {}, ...part.text.split("\t").flatMap((cell, i) => (i ? [h("span", { class: "cell" }), cell] : [cell]))));

  /** @type {AskBook.Namespace["createNotes"]} */
  function createNotes(talk, drawLink) {
    /** @type {{ anchor: HTMLElement, card: HTMLElement, pinned: boolean } | null} */
    let shown = null;
    let waiting = 0;

    /** @param {() => unknown} then @param {number} delay */
    function soon(then, delay) {
      clearTimeout(waiting);
      waiting = window.setTimeout(then, delay);
    }

    /** What shows a card on hover, click or focus. @param {HTMLElement} anchor @param {() => HTMLElement} draw */
    function hang(anchor, draw) {
      const show = (/** @type {boolean} */ pinned) => {
        clearTimeout(waiting);
        if (shown?.anchor === anchor) {
          shown.pinned ||= pinned;
          return;
        }
        hide();
        const card = draw();
        card.addEventListener("pointerenter", () => clearTimeout(waiting));
        card.addEventListener("pointerleave", () => soon(() => !shown?.pinned && hide(), HIDE_MS));
        anchor.after(card);
        if (anchor.hasAttribute("aria-expanded")) anchor.setAttribute("aria-expanded", "true");
        shown = { anchor, card, pinned };
        place(anchor, card);
      };
      anchor.addEventListener("pointerenter", (event) => {
        if (event.pointerType === "mouse" && !shown?.pinned) soon(() => show(false), SHOW_MS);
      });
      anchor.addEventListener("pointerleave", () => soon(() => !shown?.pinned && hide(), HIDE_MS));
      return { show, toggle: () => (shown?.anchor === anchor && shown.pinned ? hide() : show(true)) };
    }

    /** Below its anchor if there is room, else above it. @param {HTMLElement} anchor @param {HTMLElement} card */
    function place(anchor, card) {
      const answer = /** @type {HTMLElement} */ (anchor.closest(".answer"));
      const inner = /** @type {DOMRect} */ ([...anchor.getClientRects()].at(-1));
      const [outer, box] = [talk, answer].map((element) => element.getBoundingClientRect());
      const fitsBelow = inner.bottom + card.offsetHeight + 12 < outer.bottom || inner.top - card.offsetHeight - 12 < outer.top;
      card.style.top = (fitsBelow ? inner.bottom + 8 : inner.top - card.offsetHeight - 8) - box.top + "px";
      card.style.setProperty("--tip", inner.left + inner.width / 2 - box.left + "px");
      card.classList.toggle("above", !fitsBelow);
      const below = card.getBoundingClientRect().bottom + 8 - outer.bottom;
      if (fitsBelow && below > 0) talk.scrollTop += Math.min(below, inner.top - outer.top);
    }

    /** @param {boolean} [refocus] */
    function hide(refocus) {
      clearTimeout(waiting);
      if (!shown) return false;
      const { anchor, card } = shown;
      shown = null;
      card.remove();
      if (anchor.hasAttribute("aria-expanded")) anchor.setAttribute("aria-expanded", "false");
      if (refocus) anchor.focus();
      return true;
    }

    /** @param {AskBook.Citation} citation */
    function drawNote(citation) {
      const label = t("note", { n: citation.n, place: pathOf(citation) });
      const chip = h("button", { type: "button", part: "note", class: "note", "aria-expanded": "false", "aria-label": label, onclick: () => toggle() }, String(citation.n));
      const { toggle } = hang(chip, () => h("span", { part: "quote", class: "card", role: "group", "aria-label": label },
        h("q", { lang: config.book.lang, dir: "auto" }, ...drawWords(citation.quote)),
        h("span", { class: "where", lang: config.book.lang, dir: "auto" }, pathOf(citation)),
        h("span", { class: "under" },
          h("span", { class: citation.verified ? "checked" : "" }, t(citation.verified ? "verified" : "unverified")),
          drawLink(citation, { part: "jump", class: "jump" }, t("jump")))));
      return chip;
    }

    /** @param {string} kind @param {(Node | string | null)[]} words */
    function drawDoubt(kind, words) {
      const doubt = h("span", { class: "doubt " + kind, tabindex: 0, "aria-describedby": "ask-book-" + kind, onfocus: () => show(false), onblur: () => hide() }, ...words);
      const { show } = hang(doubt, () => h("span", { class: "card why", "aria-hidden": "true" }, t(kind)));
      return doubt;
    }

    /** @param {AskBook.Inline[]} parts @param {AskBook.Citation[]} citations @param {boolean} [tied] @returns {(Node | string | null)[]} */
    function drawInline(parts, citations, tied = true) {
      /** @type {(Node | string | null)[]} */
      const children = [];
      let doubt = "", from = 0;
      const close = () => {
        if (doubt) children.push(drawDoubt(doubt, children.splice(from)));
        doubt = "";
      };
      for (const part of parts) {
        if (part.kind === "doubt") {
          close();
          [doubt, from] = [part.text, children.length];
        } else if (part.kind === "note") {
          // A note stays on the line of its last word.
          const last = children.length > from ? children.at(-1) : null;
          const word = typeof last === "string" && tied ? /\S{1,24}\s*$/.exec(last) : null;
          const citation = citations.find(({ n }) => n === part.n);
          if (word) children[children.length - 1] = word.input.slice(0, word.index);
          children.push(h("span", { class: "tie" }, word?.[0], citation && drawNote(citation)));
        } else if (part.kind === "formula") children.push(drawFormula(part.text, part.display));
        else if ("inline" in part) children.push(h(part.kind, {}, ...drawInline(part.inline, citations, tied)));
        else children.push(part.kind === "text" ? part.text : part.kind === "break" ? h("br") : h("code", {}, part.text));
      }
      close();
      return children;
    }

    /** @param {AskBook.Paragraph[]} group one paragraph, or the items of a list @param {AskBook.Citation[]} citations */
    function drawGroup(group, citations) {
      const [{ kind, inline, rows = [] }] = group;
      const children = drawInline(inline, citations, kind !== "code");
      if (kind === "item" || kind === "step") {
        return h(kind === "item" ? "ul" : "ol", {}, ...group.map((item) => h("li", { dir: "auto" }, ...drawInline(item.inline, citations))));
      }
      if (kind === "table") {
        return h("div", { class: "listing table", tabindex: 0 }, h("table", {}, ...rows.map((row, i) =>
          h("tr", {}, ...row.map((cell) => h(i ? "td" : "th", { dir: "auto" }, ...drawInline(cell, citations)))))));
      }
      if (kind === "quote") return h("blockquote", {}, h("p", { dir: "auto" }, ...children));
      if (kind === "code") return h("div", { class: "listing" }, h("pre", { tabindex: 0, dir: "ltr" }, h("code", {}, children[0])), ...children.slice(1));
      return h("p", { dir: "auto" }, ...(kind === "heading" ? [h("strong", {}, ...children)] : children));
    }

    /** @type {WeakMap<Element, string>} */
    const drawn = new WeakMap();

    /** Draws what is new of a text that grows. @type {AskBook.Notes["fill"]} */
    function fill(body, text, citations, marks) {
      /** @type {AskBook.Paragraph[][]} */
      const groups = [];
      for (const paragraph of markdown.parse(markdown.doubt(text, marks))) {
        const last = groups.at(-1);
        if (/item|step/.test(paragraph.kind) && last?.[0].kind === paragraph.kind) last.push(paragraph);
        else groups.push([paragraph]);
      }
      groups.forEach((group, i) => {
        const words = JSON.stringify(group);
        const key = words + citations.filter(({ n }) => words.includes(`"n":${n}}`)).map(({ n }) => n);
        const old = body.children[i];
        if (old && drawn.get(old) === key) return;
        if (old?.contains(shown?.anchor ?? null)) hide();
        const node = drawGroup(group, citations);
        drawn.set(node, key);
        if (old) old.replaceWith(node);
        else body.append(node);
      });
      while (body.children.length > groups.length) body.lastElementChild?.remove();
    }

    /** @type {AskBook.Notes["next"]} */
    function next(step) {
      const chips = /** @type {HTMLButtonElement[]} */ ([...talk.querySelectorAll(".note")]);
      const root = /** @type {ShadowRoot} */ (talk.getRootNode());
      const at = chips.indexOf(/** @type {HTMLButtonElement} */ (shown?.anchor ?? root.activeElement));
      const chip = chips[at + step];
      if (at < 0 || !chip) return;
      chip.focus();
      chip.click();
    }

    return { fill, hide, next, anchor: () => shown?.anchor };
  }

  askBook.createNotes = createNotes;
})();
