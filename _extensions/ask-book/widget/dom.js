/** Words and elements: what comes from outside becomes text nodes, never markup. */
(() => {
  const { config, locales, lang } = askBook;
  const texts = { ...locales.en?.ui, ...locales[lang]?.ui, ...config.texts };
  const number = new Intl.NumberFormat(lang);

  /** A text of the panel. @type {AskBook.Dom["t"]} */
  const t = (key, values = {}) =>
    (texts[key] ?? key).replace(/\{(\w+)\}/g, (whole, name) => {
      const value = values[name];
      return value === undefined ? whole : typeof value === "number" ? number.format(value) : value;
    });

  /** The text of a key that may not exist. @type {AskBook.Dom["known"]} */
  const known = (key) => (Object.hasOwn(texts, key) ? texts[key] : "");

  /**
   * An element: `part` also sets data-ask-book, `on…` adds a listener.
   * @type {AskBook.Dom["h"]}
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

  /** @type {AskBook.Dom["icons"]} */
  const icons = {
    close: "M6 6l12 12M18 6L6 18",
    send: "M12 19V5M6 11l6-6 6 6",
    stop: "M8 8h8v8H8z",
    fresh: "M12 5v14M5 12h14",
    back: "M19 12H5M11 6l-6 6 6 6",
  };

  /** @type {AskBook.Dom["icon"]} */
  function icon(name) {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("viewBox", "0 0 24 24");
    svg.setAttribute("aria-hidden", "true");
    const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
    line.setAttribute("d", icons[name] ?? "");
    svg.append(line);
    return svg;
  }

  /** A button with an icon for its name. @type {AskBook.Dom["tool"]} */
  const tool = (name, label, onclick, attributes = {}) =>
    h("button", { type: "button", class: "tool " + name, "aria-label": label, title: label, onclick, ...attributes }, icon(name));

  /** Chapter and headings of a place. @type {AskBook.Dom["pathOf"]} */
  const pathOf = ({ chapter_title, heading_path }) =>
    (heading_path[0] === chapter_title ? heading_path : [chapter_title, ...heading_path]).filter(Boolean).join(" › ");

  askBook.dom = { t, known, h, icons, icon, tool, pathOf };
})();
