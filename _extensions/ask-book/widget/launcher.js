/**
 * The round button: all that a page loads before a reader asks for more.
 *
 * It defines <ask-book>, reads the page's config, and brings the panel when it is
 * opened, when a link asks for it (`?ask=`, `?ask-book=`), or when the reader comes
 * from a page where it was open.
 */
(() => {
  const script = /** @type {HTMLScriptElement | null} */ (document.currentScript);
  const block = document.getElementById("ask-book-config");
  if (!script || !block || customElements.get("ask-book")) return;

  /** @type {AskBook.Config} */
  const config = JSON.parse(block.textContent || "");
  const here = new URL(".", script.src).href;
  const label = {
    de: "Das Buch fragen", es: "Pregúntale al libro", fr: "Interroger le livre", it: "Chiedi al libro",
    ja: "本に質問する", pt: "Pergunte ao livro", zh: "向本书提问", en: "Ask the book",
  };
  const language = (config.book.lang || document.documentElement.lang || "en").toLowerCase().split("-")[0];
  const lang = /** @type {keyof typeof label} */ (language in label ? language : "en");

  /** @type {Map<string, Promise<void>>} */
  const loaded = new Map();
  const memory = "ask-book:" + config.book.id;

  // The files that are loaded later add the rest.
  const askBook = /** @type {AskBook.Namespace} */ ({
    config, here, lang, languages: Object.keys(label),
    locales: {},
    root: new URL(config.root || "./", location.href).href,
    load(name) {
      const url = new URL(name, here).href;
      let done = loaded.get(url);
      if (!done) {
        done = new Promise((resolve, reject) => {
          const element = document.createElement("script");
          element.async = false;
          element.nonce = script.nonce;
          element.src = url;
          element.onload = () => resolve();
          element.onerror = () => {
            loaded.delete(url);
            element.remove();
            reject(new Error(name));
          };
          document.head.append(element);
        });
        loaded.set(url, done);
      }
      return done;
    },
    selected() {
      const selection = getSelection();
      const at = selection?.rangeCount ? selection.getRangeAt(0).commonAncestorContainer : null;
      const words = at && document.querySelector("main, #quarto-content")?.contains(at) ? String(selection).replace(/\s+/g, " ").trim() : "";
      return [...words].slice(0, 300).join("");
    },
    recall() {
      try {
        return JSON.parse(sessionStorage.getItem(memory) || "{}");
      } catch {
        return {};
      }
    },
    remember(state) {
      try {
        sessionStorage.setItem(memory, JSON.stringify({ ...askBook.recall(), ...state }));
      } catch {
        // Private windows may have no storage: the answer then lives as long as its page.
      }
    },
  });
  window.askBook = askBook;
  window.askBookLocale = (name, locale) => {
    askBook.locales[name] = locale;
  };

  // `ask-book open` hands over the owner's token in the fragment: it is neither left in the address nor sent anywhere.
  const token = /^#ask-book-token=([\w.~-]+)$/.exec(location.hash);
  if (token) {
    askBook.remember({ token: token[1] });
    history.replaceState(null, "", location.pathname + location.search);
  }

  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`
    :host { --bg: var(--bs-body-bg, Canvas); --fg: var(--bs-body-color, CanvasText); --accent: var(--bs-link-color, LinkText);
      all: initial !important; color-scheme: inherit !important;
      font: 400 1rem/1.5 var(--bs-body-font-family, var(--bs-font-sans-serif, system-ui, sans-serif)) !important; }
    .launcher { position: fixed; z-index: 1031; inset-block-end: max(1.25rem, env(safe-area-inset-bottom));
      inset-inline-end: max(1.25rem, env(safe-area-inset-right)); inline-size: 3.25rem; block-size: 3.25rem; padding: 0;
      display: grid; place-items: center; border: 0; border-radius: 50%; cursor: pointer; font: inherit;
      background: var(--accent); color: var(--bg); box-shadow: 0 1px 2px rgb(0 0 0 / .2), 0 4px 14px rgb(0 0 0 / .18); }
    .launcher:focus-visible { outline: 2px solid var(--accent); outline-offset: 3px; }
    .launcher svg { inline-size: 1.6rem; block-size: 1.6rem; }
    .launcher span { position: absolute; inset-inline-end: calc(100% + .6rem); padding: .3rem .75rem; border-radius: .5rem;
      background: var(--fg); color: var(--bg); font-size: .875rem; white-space: nowrap; visibility: hidden; opacity: 0; }
    .launcher kbd { font: inherit; opacity: .75; margin-inline-start: .5em; }
    .launcher:is(:hover, :focus-visible) span { visibility: visible; opacity: 1; }
    .launcher[aria-busy=true] svg { opacity: .5; }
    :host([open]) .launcher { visibility: hidden; }
    @media (prefers-reduced-motion: no-preference) { .launcher span { transition: opacity .12s; } }
    @media print { :host { display: none !important; } }`);

  const mac = /Mac|iP(hone|ad|od)/.test(navigator.platform);
  const keys = (config.shortcut ?? "i").toLowerCase().split("+").map((key) => key.trim()).filter(Boolean);
  const key = keys[keys.length - 1] || "";
  const bare = keys.length === 1;

  /** @param {KeyboardEvent} event */
  const isShortcut = (event) =>
    key !== "" && event.key.toLowerCase() === key && !event.isComposing && event.shiftKey === keys.includes("shift") &&
    event.altKey === keys.includes("alt") &&
    (event.ctrlKey || event.metaKey) === (bare || keys.some((part) => /^(ctrl|cmd|mod|meta)$/.test(part)));

  const shortcutText = !key ? "" : [
    ...(bare ? ["Ctrl"] : keys.slice(0, -1).map((part) => (/^(cmd|mod|meta)$/.test(part) ? "Ctrl" : part[0].toUpperCase() + part.slice(1)))),
    key.toUpperCase(),
  ].join("+").replace("Ctrl+", mac ? "⌘" : "Ctrl+");

  class AskBookElement extends HTMLElement {
    /** @type {Promise<AskBook.Panel> | undefined} */
    #panel;

    connectedCallback() {
      if (this.shadowRoot) return;
      const shadow = this.attachShadow({ mode: "open" });
      shadow.adoptedStyleSheets = [sheet];
      shadow.innerHTML = `<button class="launcher" part="launcher" data-ask-book="launcher" type="button" aria-haspopup="dialog"
        ><svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round"
        aria-hidden="true"><path d="M12 6.5C10 4.8 7 4.3 3 4.5v13.2c4-.2 7 .3 9 2 2-1.7 5-2.2 9-2V4.5c-4-.2-7 .3-9 2Zm0 0v13.2"/></svg
        ><span></span></button>`;
      const button = /** @type {HTMLButtonElement} */ (shadow.querySelector("button"));
      const span = /** @type {HTMLSpanElement} */ (shadow.querySelector("span"));
      span.textContent = button.ariaLabel = config.texts?.title || label[lang];
      if (shortcutText) {
        const kbd = document.createElement("kbd");
        kbd.textContent = shortcutText;
        span.append(" ", kbd);
      }
      button.addEventListener("click", () => void this.show({ focus: true }));
      window.addEventListener("keydown", (event) => {
        if (!isShortcut(event) || /** @type {HTMLElement} */ (event.target).isContentEditable) return;
        event.preventDefault();
        event.stopImmediatePropagation();
        if (this.hasAttribute("open") && shadow.activeElement) this.close();
        else void this.show({ focus: true, about: askBook.selected() });
      }, true);
      document.addEventListener("selectionchange", () => askBook.selected() && void askBook.load("selection.js").catch(() => {}));
      const view = window.visualViewport;
      // A phone lays out a page with something too wide for it on a larger sheet than it shows.
      const keepInView = () => {
        const below = view && view.scale < 1.05 ? innerHeight - view.height - view.offsetTop : 0;
        button.style.translate = view && below > 1 ? `${view.offsetLeft + view.width - innerWidth}px ${-below}px` : "";
      };
      for (const target of [window, view]) for (const kind of ["load", "resize", "scroll"]) target?.addEventListener(kind, keepInView, { passive: true });
      keepInView();
      this.#wake();
    }

    /** Open by itself only when a link asks for it or the panel was open on the page before. */
    #wake() {
      const query = new URLSearchParams(location.search);
      const state = askBook.recall();
      const passage = query.get("ask-book");
      const question = query.get("ask");
      if (passage) void this.#load().then((panel) => panel.reveal(passage));
      if (question) void this.show({ question });
      else if (state.open) void this.show({});
    }

    /** @returns {Promise<AskBook.Panel>} */
    #load() {
      this.#panel ??= (async () => {
        const button = this.shadowRoot?.querySelector("button");
        button?.setAttribute("aria-busy", "true");
        try {
          // Scripts that are asked for in this order run in this order.
          await Promise.all(["locales/" + lang, "panel"].map((file) => askBook.load(file + ".js")));
          return await askBook.createPanel(this);
        } catch (error) {
          this.#panel = undefined;
          throw error;
        } finally {
          button?.removeAttribute("aria-busy");
        }
      })();
      return this.#panel;
    }

    /** @param {AskBook.Opening} how */
    async show(how) {
      (await this.#load()).open(how);
    }

    close() {
      void this.#panel?.then((panel) => panel.close());
    }
  }

  customElements.define("ask-book", AskBookElement);
  if (!document.querySelector("ask-book")) document.body.append(document.createElement("ask-book"));
})();
