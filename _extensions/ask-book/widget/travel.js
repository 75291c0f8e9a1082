/** From an answer into the book and back. */
(() => {
  const { links } = askBook;
  const { t, h } = askBook.dom;

  /** @type {AskBook.Namespace["createTravel"]} */
  function createTravel({ panel, bar, fit, leave, hasTurns, say, status }) {
    const hasWay = () => Boolean(askBook.recall().back);

    /** @type {AskBook.Travel["link"]} */
    function link(place, attributes, ...children) {
      const url = links.passage(place);
      return h("a", {
        ...attributes, href: url,
        onclick: (/** @type {MouseEvent} */ event) => {
          if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
          event.preventDefault();
          goTo(url, place);
        },
      }, ...children);
    }

    /** @param {string} url @param {AskBook.Place & { quote: string }} place */
    function goTo(url, { quote, anchor }) {
      leave();
      askBook.remember({ back: { url: location.href, y: scrollY }, quote, arriving: true });
      if (links.page(url) !== links.page(location.href)) {
        location.assign(url);
        return;
      }
      try {
        history.pushState(null, "", url);
      } catch {
        location.hash = anchor; // A browser that lets no `file:` page change its query.
      }
      void arrive(quote, anchor);
    }

    /** @param {string} quote @param {string} anchor */
    async function arrive(quote, anchor) {
      askBook.remember({ arriving: false });
      panel.classList.add("peek");
      bar.hidden = !hasWay() && !hasTurns();
      fit();
      await Promise.all(["answer.js", ...(CSS.highlights ? [] : ["marks.js"])].map((file) => askBook.load(file)));
      const found = askBook.highlight.show(quote, anchor);
      const words = t(found ? "arrived" : "not_on_page");
      say(words);
      if (!found) status(words);
    }

    function unfold() {
      panel.classList.remove("peek");
      bar.hidden = !hasWay();
      fit();
    }

    function goBack() {
      const { back } = askBook.recall();
      askBook.remember({ back: null });
      unfold();
      clear();
      if (!back) return;
      if (links.page(back.url) !== links.page(location.href)) {
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

    const clear = () => askBook.highlight?.clear();

    /** @param {string} hash */
    function anchorOf(hash) {
      try {
        return decodeURIComponent(hash.slice(1));
      } catch {
        return "";
      }
    }

    /** The passage of a deep link. @type {AskBook.Travel["reveal"]} */
    async function reveal(passage) {
      const [, tag, wanted] = /^(f\d+-\d+-\d+)~([0-9a-f]{8})$/.exec(passage) ?? [];
      if (!tag) return;
      const anchor = anchorOf(location.hash);
      const { quote } = askBook.recall();
      if (quote && links.hash(quote) === wanted) {
        await arrive(quote, anchor);
        return;
      }
      await Promise.all(["search.js", "passage.js"].map((file) => askBook.load(file)));
      const words = await askBook.local.manifest().then((manifest) => askBook.quoteOf(manifest, tag, wanted), () => null);
      await arrive(words ?? "", anchor);
    }

    window.addEventListener("popstate", () => {
      const passage = new URLSearchParams(location.search).get("ask-book");
      if (passage) void reveal(passage);
      else clear();
    });

    // Back on the page that a passage was opened from.
    const { back } = askBook.recall();
    if (back && !back.url) {
      askBook.remember({ back: null });
      window.scrollTo({ top: back.y, behavior: "instant" });
    } else bar.hidden = !back;

    return { link, reveal, unfold, goBack, clear };
  }

  askBook.createTravel = createTravel;
})();
