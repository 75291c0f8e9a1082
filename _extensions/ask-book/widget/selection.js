/** A small button at the words that a reader has selected on the page. */
(() => {
  const { config, lang } = askBook;
  const LABELS = {
    de: "Danach fragen", es: "Preguntar por esto", fr: "Interroger à ce sujet", it: "Chiedi di questo",
    ja: "これについて質問", pt: "Perguntar sobre isto", zh: "就此提问", en: "Ask about this",
  };
  const SHORTEST = 3, SETTLE_MS = 250;

  const element = /** @type {AskBook.Element} */ (document.querySelector("ask-book"));
  const shadow = element.shadowRoot;
  if (!shadow) return;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "about";
  button.hidden = true;
  button.textContent = config.texts?.about ?? LABELS[/** @type {keyof typeof LABELS} */ (lang)] ?? LABELS.en;
  // Pressing it must not take the selection away.
  button.addEventListener("pointerdown", (event) => event.preventDefault());
  button.addEventListener("click", () => {
    const words = askBook.selected();
    getSelection()?.removeAllRanges();
    button.hidden = true;
    void element.show({ focus: true, about: words });
  });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`
    .about { position: fixed; z-index: 1030; padding: .3rem .8rem; border: 0; border-radius: 1rem; cursor: pointer; font: inherit; font-size: .875rem;
      background: var(--fg); color: var(--bg); box-shadow: 0 1px 2px rgb(0 0 0 / .2), 0 4px 14px rgb(0 0 0 / .18); }
    .about:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
    .about[hidden] { display: none; }
    @media (pointer: coarse) { .about { min-block-size: 2.75rem; border-radius: 1.4rem; } }
    @media (forced-colors: active) { .about { border: 1px solid; } }`);
  shadow.adoptedStyleSheets = [...shadow.adoptedStyleSheets, sheet];
  shadow.append(button);

  function show() {
    const words = askBook.selected();
    const selection = getSelection();
    button.hidden = words.length < SHORTEST;
    if (!selection || button.hidden) return;
    const box = [...selection.getRangeAt(0).getClientRects()].findLast(({ bottom }) => bottom > 0 && bottom < innerHeight);
    button.hidden = !box;
    if (!box) return;
    const coarse = matchMedia("(pointer: coarse)").matches;
    const { offsetWidth, offsetHeight } = button;
    button.style.left = Math.max(8, Math.min(box.right - offsetWidth / 2, document.documentElement.clientWidth - offsetWidth - 8)) + "px";
    button.style.top = Math.max(8, Math.min(box.bottom + (coarse ? 36 : 8), innerHeight - offsetHeight - 8)) + "px";
  }

  let waiting = 0;
  const soon = () => {
    button.hidden = true;
    clearTimeout(waiting);
    waiting = window.setTimeout(show, SETTLE_MS);
  };
  for (const kind of ["selectionchange", "pointerup", "scroll"]) document.addEventListener(kind, soon, { passive: true });
  soon();
})();
