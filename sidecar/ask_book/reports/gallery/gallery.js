// @ts-check
/** The list of reports: fetched with the owner's token, searched on the server, deleted after a question. */
(() => {
  "use strict";
  /** @typedef {{ id: string, title: string, date: string, created: string, status: string, excerpt: string, quotes: number,
   *   fate: "stands" | "moved" | "gone" | null, html: string, md: string, pdf: string | null }} Row */
  const WAIT_MS = 150;
  const memory = "ask-book-token";

  /** @template {HTMLElement} T @param {string} id @param {new () => T} kind @returns {T} */
  const part = (id, kind) => {
    const found = document.getElementById(id);
    if (!(found instanceof kind)) throw new TypeError(id);
    return found;
  };
  const search = part("search", HTMLInputElement);
  const list = part("list", HTMLOListElement);
  const count = part("count", HTMLParagraphElement);
  const trouble = part("trouble", HTMLParagraphElement);
  const sure = part("sure", HTMLDialogElement);
  /** @type {Record<string, string>} */
  const said = JSON.parse(part("said", HTMLScriptElement).textContent ?? "{}");

  const given = /^#ask-book-token=([\w.~-]+)$/.exec(location.hash);
  if (given) {
    sessionStorage.setItem(memory, given[1]);
    history.replaceState(null, "", location.pathname + location.search);
  }
  const token = sessionStorage.getItem(memory);
  let latest = 0;

  /** @param {string} path @param {string} [method] */
  const ask = (path, method = "GET") =>
    fetch(path, { method, headers: { Accept: "application/json", Authorization: `Bearer ${token}` } });

  /** @param {string} text */
  const tell = (text) => {
    trouble.textContent = text;
    trouble.hidden = !text;
  };

  async function load() {
    const mine = ++latest;
    try {
      const response = await ask(`reports?q=${encodeURIComponent(search.value)}`);
      if (mine !== latest) return;
      if (response.status === 401) return tell(said.token);
      if (!response.ok) return tell(said.failed);
      const { reports, total } = await response.json();
      if (mine !== latest) return;
      tell("");
      list.replaceChildren(...reports.map(row));
      count.textContent = !total ? said.none : reports.length
        ? said.count.replace("{n}", reports.length).replace("{total}", total) : said.nothing;
    } catch {
      if (mine === latest) tell(said.failed);
    }
  }

  /** @param {string} tag @param {Record<string, string>} attributes @param {...(Node | string)} children */
  function element(tag, attributes, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }

  /** @param {Row} report */
  function row(report) {
    const title = `title-${report.id}`;
    const facts = element("p", { class: "facts" }, element("time", { datetime: report.created }, report.date));
    if (report.status === "not_found") facts.append(` · ${said.not_found}`);
    if (report.fate) facts.append(" · ", element("span", { class: `remark ${report.fate}` }, said[report.fate]));
    const remove = element("button", { type: "button", class: "danger", "aria-describedby": title }, said.delete);
    const doors = element("p", { class: "doors" });
    for (const [name, href] of /** @type {[string, string | null][]} */ ([["HTML", report.html], ["Markdown", report.md], ["PDF", report.pdf]])) {
      if (href) doors.append(element("a", { href, "aria-describedby": title }, name));
    }
    doors.append(remove);
    const item = element("li", {},
      element("h2", { id: title }, element("a", { href: report.html }, report.title)), facts, element("p", {}, report.excerpt), doors);
    remove.addEventListener("click", () => void forget(report, item));
    return item;
  }

  /** @param {Row} report @param {HTMLElement} item */
  async function forget(report, item) {
    part("sure-which", HTMLParagraphElement).textContent = report.title;
    sure.returnValue = "no";
    sure.showModal();
    await new Promise((resolve) => sure.addEventListener("close", resolve, { once: true }));
    if (sure.returnValue !== "yes") return;
    const response = await ask(`reports/${report.id}`, "DELETE").catch(() => null);
    if (!response || (!response.ok && response.status !== 404)) return tell(said.failed);
    const neighbour = item.nextElementSibling ?? item.previousElementSibling;
    item.remove();
    const next = neighbour?.querySelector("a") ?? search;
    next.focus();
    await load();
    count.textContent = `${said.deleted} ${count.textContent}`;
    const place = neighbour && document.getElementById(neighbour.querySelector("h2")?.id ?? "");
    (place?.querySelector("a") ?? search).focus();
  }

  let timer = 0;
  search.addEventListener("input", () => {
    clearTimeout(timer);
    timer = window.setTimeout(load, WAIT_MS);
  });
  if (token) void load();
  else tell(said.token);
})();
