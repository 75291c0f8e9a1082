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

  const ICONS = {
    close: "M6 6l12 12M18 6L6 18",
    send: "M12 19V5M6 11l6-6 6 6",
    stop: "M8 8h8v8H8z",
    fresh: "M12 5v14M5 12h14",
    back: "M19 12H5M11 6l-6 6 6 6",
    edit: "M4 20l1-4L16.5 4.5l3 3L8 19l-4 1Z",
    again: "M19 12a7 7 0 1 1-2.05-4.95L20 10M20 5v5h-5",
    copy: "M9 9h10v11H9zM5 15V4h10",
    link: "M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1",
    cite: "M9 8C6 9 5 11 5 13v3h4v-4H6M18 8c-3 1-4 3-4 5v3h4v-4h-3",
    up: "M7 20V11l4-7c1.5 0 2.3 1 2 2.5L12.5 10H18a1.5 1.5 0 0 1 1.5 1.9l-1.7 6.6A2 2 0 0 1 16 20H7ZM7 11H4v9h3",
    down: "M17 4v9l-4 7c-1.5 0-2.3-1-2-2.5L11.5 14H6a1.5 1.5 0 0 1-1.5-1.9l1.7-6.6A2 2 0 0 1 8 4h9ZM17 13h3V4h-3",
    done: "M5 13l4.5 4.5L19 7",
  };

  /** @type {AskBook.Dom["icon"]} */
  function icon(name) {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("viewBox", "0 0 24 24");
    svg.setAttribute("aria-hidden", "true");
    const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
    line.setAttribute("d", ICONS[name]);
    svg.append(line);
    return svg;
  }

  /** A button with an icon for its name. @type {AskBook.Dom["tool"]} */
  const tool = (name, label, onclick, attributes = {}) =>
    h("button", { type: "button", class: "tool " + name, "aria-label": label, title: label, onclick, ...attributes }, icon(name));

  /** Chapter and headings of a place. @type {AskBook.Dom["pathOf"]} */
  const pathOf = ({ chapter_title, heading_path }) =>
    (heading_path[0] === chapter_title ? heading_path : [chapter_title, ...heading_path]).filter(Boolean).join(" › ");

  askBook.dom = { t, known, h, icon, tool, pathOf };
})();
