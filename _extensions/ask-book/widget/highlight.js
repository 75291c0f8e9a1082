/**
 * From a quote to the very words on the page: finds them, opens what hides them,
 * scrolls there and marks them.
 *
 * Both sides are compared without any white space, and a formula is one symbol on
 * both, whatever MathJax or KaTeX made of it; which formula it is, its TeX tells.
 */
(() => {
  const NAME = "ask-book";
  // The list of `lua/visible.lua`: what the text of the manifest leaves out of the page.
  const SKIP = "script, style, template, noscript, title, annotation, annotation-xml, metadata, desc, nav, button, select, textarea, " +
    "datalist, iframe, object, audio, video, canvas, .footnote-ref, .footnote-back, .anchorjs-link, .code-copy-button, " +
    ".code-annotation-anchor, .callout-btn-toggle, .callout-icon-container, .toc-actions, .tabset-margin-container, .hidden, " +
    ".visually-hidden, .sr-only, .screen-reader-only, [hidden], .code-fold > summary, .code-annotation-container-grid > dt, " +
    ".code-annotation-container-hidden > dt, .MathJax_Preview, mjx-assistive-mml, ask-book, [style*='display:none'], [style*='display: none']";
  const FORMULA = "span.math, img.math, math, eq";
  const QUOTED_FORMULA = /\\\((.*?)(?:\\\)|$)|\\\[(.*?)(?:\\\]|$)/gs;
  const ATOM = "\uFFFC";
  const BLANKS = /[\s\u00AD\u200B-\u200D\u2060\uFEFF]/g;

  /**
   * The page's words without white space, and where each one is. The label of a tab stands before what the tab shows.
   * @param {Element[]} roots read one after the other
   */
  function read(roots) {
    let text = "";
    /** @type {{ at: number, node: Text | Element, offsets: number[] | null }[]} one entry for each text node or formula */
    const runs = [];
    /** @type {Set<number>} positions where the words go on elsewhere in the page, or something was left out */
    const breaks = new Set();
    /** @param {Element} part */
    const visit = (part) => {
      const walker = document.createTreeWalker(part, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, (node) => {
        if (node instanceof Text) return NodeFilter.FILTER_ACCEPT;
        const element = /** @type {Element} */ (node);
        if (element.matches(SKIP)) {
          if (element.textContent) breaks.add(text.length);
          return NodeFilter.FILTER_REJECT;
        }
        if (element.matches(".panel-tabset > .nav-tabs")) return NodeFilter.FILTER_REJECT;
        if (element.matches(".panel-tabset > .tab-content > *")) return NodeFilter.FILTER_ACCEPT;
        if (!element.matches(FORMULA)) return NodeFilter.FILTER_SKIP;
        runs.push({ at: text.length, node: element, offsets: null });
        text += ATOM;
        return NodeFilter.FILTER_REJECT;
      });
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        if (node instanceof Text) add(node);
        else {
          const label = document.querySelector(`[role=tab][aria-controls="${CSS.escape(/** @type {Element} */ (node).id)}"]`);
          breaks.add(text.length);
          if (label) visit(label);
          breaks.add(text.length);
        }
      }
    };
    /** @param {Text} node */
    const add = (node) => {
      const offsets = [];
      const at = text.length;
      for (let i = 0; i < node.data.length; i++) {
        if (node.data[i].search(BLANKS) === 0) continue;
        offsets.push(i);
        text += node.data[i];
      }
      if (offsets.length) runs.push({ at, node, offsets });
    };
    for (const root of roots) {
      breaks.add(text.length);
      visit(root);
    }
    return { text, runs, breaks };
  }

  /** @param {string} text */
  const bare = (text) => text.replace(BLANKS, "");

  /**
   * A quote without white space, as its letters or with its formulas as atoms.
   * @type {AskBook.Highlighter["spellings"]}
   */
  const spellings = (quote) => [bare(quote), bare(quote.replace(QUOTED_FORMULA, ATOM))];

  /** MathJax takes the TeX out of the page and keeps it. @returns {Map<Element, string>} the TeX in each element */
  function typeset() {
    const items = [...window.MathJax?.startup?.document?.math ?? []];
    return new Map(items.flatMap(({ typesetRoot, math }) => typesetRoot?.parentElement ? [[typesetRoot.parentElement, math]] : []));
  }

  /** @param {Element} formula @param {Map<Element, string>} kept @returns {string} its TeX, or what it shows */
  function source(formula, kept) {
    const tex = formula instanceof HTMLImageElement ? formula.alt : formula.querySelector("annotation[encoding='application/x-tex']")?.textContent;
    return bare(tex ?? kept.get(formula) ?? formula.textContent ?? "").replace(/^\\[([](.*)\\[)\]]$/s, "$1");
  }

  /**
   * Where the words are: the first place with the very formulas of the quote, else the first one.
   * @param {ReturnType<typeof read>} words @param {string} wanted @param {string} quote @returns {[number, number] | null}
   */
  function place({ text, runs }, wanted, quote) {
    const places = [];
    for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) places.push(at);
    if (!wanted.includes(ATOM) || places.length < 2) return places.length ? [places[0], places[0] + wanted.length] : null;
    const formulas = [...quote.matchAll(QUOTED_FORMULA)].map(([, inline, display]) => bare(inline ?? display)).join(ATOM);
    const kept = typeset();
    const drawn = runs.filter((run) => !run.offsets).map((run) => ({ at: run.at, tex: source(/** @type {Element} */ (run.node), kept) }));
    const has = (/** @type {number} */ at) => drawn.filter((one) => one.at >= at && one.at < at + wanted.length).map((one) => one.tex).join(ATOM) === formulas;
    const at = places.find(has) ?? places[0];
    return [at, at + wanted.length];
  }

  /**
   * One range for each stretch of words with nothing left out inside it.
   * @param {ReturnType<typeof read>} words @param {[number, number]} span @returns {Range[]}
   */
  function toRanges({ runs, breaks }, [start, end]) {
    const cuts = [start, ...[...breaks].filter((at) => at > start && at < end).sort((a, b) => a - b), end];
    /** @param {number} at */
    const runAt = (at) => /** @type {(typeof runs)[0]} */ (runs.findLast((run) => run.at <= at));
    return cuts.slice(1).map((to, i) => {
      const range = document.createRange();
      const first = runAt(cuts[i]);
      const last = runAt(to - 1);
      if (first.offsets) range.setStart(first.node, i && cuts[i] === first.at ? 0 : first.offsets[cuts[i] - first.at]);
      else range.setStartBefore(first.node);
      if (last.offsets) range.setEnd(last.node, last.offsets[to - 1 - last.at] + 1);
      else range.setEndAfter(last.node);
      return range;
    });
  }

  /** @param {string} quote @param {string} anchor @returns {Range[] | null} */
  function find(quote, anchor) {
    const main = document.querySelector("#quarto-document-content") || document.querySelector("main") || document.body;
    const section = anchor ? document.getElementById(anchor)?.closest("section") : null;
    // A theme may put the title in a banner above the text.
    const banner = document.getElementById("title-block-header");
    for (const roots of [section ? [section] : [], banner && !main.contains(banner) ? [banner, main] : [main]]) {
      const words = read(roots);
      for (const wanted of spellings(quote)) {
        const span = wanted ? place(words, wanted, quote) : null;
        if (span) return toRanges(words, span);
      }
    }
    return null;
  }

  /** Opens every tab, callout, fold or collapsed part around a node. @param {Node} node */
  function uncover(node) {
    for (let element = node.parentElement; element; element = element.parentElement) {
      const controls = element.id || element.className ? [...document.querySelectorAll("[data-bs-target], [data-bs-toggle][href]")].filter((control) => {
        const target = control.getAttribute("data-bs-target") || control.getAttribute("href") || "";
        try {
          return target.length > 1 && element.matches(target);
        } catch {
          return false;
        }
      }) : [];
      if (element instanceof HTMLDetailsElement) element.open = true;
      if (element.hidden) element.removeAttribute("hidden");
      if (element.matches(".tab-pane:not(.active)")) {
        const tab = /** @type {HTMLElement | undefined} */ (controls[0]);
        if (window.bootstrap && tab) tab.click();
        for (const pane of element.parentElement?.children ?? []) pane.classList.toggle("active", pane === element);
        element.classList.add("show");
        for (const other of tab?.closest("[role=tablist]")?.querySelectorAll("[role=tab]") ?? []) {
          other.classList.toggle("active", other === tab);
          other.setAttribute("aria-selected", String(other === tab));
        }
      } else if (element.matches(".collapse:not(.show)")) {
        element.classList.add("show");
        for (const control of controls) {
          control.classList.remove("collapsed");
          control.setAttribute("aria-expanded", "true");
        }
      }
    }
  }

  /** @type {(() => void) | undefined} */
  let unmark;

  /** @param {Range[]} ranges */
  function mark(ranges) {
    clear();
    if (window.Highlight && CSS.highlights) {
      CSS.highlights.set(NAME, new Highlight(...ranges));
      unmark = () => void CSS.highlights.delete(NAME);
      return;
    }
    unmark = askBook.markElements(ranges, NAME);
  }

  function clear() {
    unmark?.();
    unmark = undefined;
  }

  /** How much of the window's height the sheet of a narrow screen leaves for the page. */
  function visibleHeight() {
    const panel = document.querySelector("ask-book")?.shadowRoot?.querySelector(".panel");
    const box = panel?.getBoundingClientRect();
    return box && box.height && box.width > innerWidth * 0.9 && box.top > 120 ? box.top : innerHeight;
  }

  /** Scrolls to a third of the height, and again while fonts, formulas and figures settle, unless the reader moves. @param {() => DOMRect} place */
  function scrollTo(place) {
    const go = () => window.scrollTo({ top: Math.max(0, scrollY + place().top - visibleHeight() / 3), behavior: "instant" });
    const settle = new ResizeObserver(go);
    const stop = () => {
      settle.disconnect();
      for (const kind of ["wheel", "touchmove", "keydown", "pointerdown"]) window.removeEventListener(kind, stop, true);
    };
    for (const kind of ["wheel", "touchmove", "keydown", "pointerdown"]) window.addEventListener(kind, stop, { capture: true, passive: true });
    go();
    settle.observe(document.body);
    setTimeout(stop, document.readyState === "complete" ? 1200 : 4000);
  }

  /** Marks the quote and goes there; false if the page does not have it, and then goes to the anchor. @type {AskBook.Highlighter["show"]} */
  function show(quote, anchor) {
    clear();
    const ranges = find(quote, anchor);
    const target = ranges ? null : document.getElementById(anchor);
    if (ranges) {
      // the first one last: of several tabs, the first stays open
      for (const range of ranges.toReversed()) {
        uncover(range.startContainer);
        uncover(range.endContainer);
      }
      mark(ranges);
      scrollTo(() => ranges[0].getClientRects()[0] ?? ranges[0].getBoundingClientRect());
    } else if (target) {
      uncover(target);
      scrollTo(() => target.getBoundingClientRect());
    } else if (!anchor) {
      scrollTo(() => document.body.getBoundingClientRect());
    }
    return Boolean(ranges);
  }

  const sheet = new CSSStyleSheet();
  const paint = "background-color: var(--ask-book-highlight, #ffe08a); color: var(--ask-book-highlight-text, #1d1600);";
  sheet.replaceSync(`::highlight(${NAME}) { ${paint} } mark.${NAME} { padding: 0; ${paint} }`);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];

  askBook.highlight = { show, clear, spellings };
})();
