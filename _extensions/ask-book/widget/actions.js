/** What a reader may do with an answer: copy it, cite the book, send the question on, open the report, say what it is worth. */
(() => {
  const { client, config, links } = askBook;
  const { t, h, icons, icon, tool, pathOf } = askBook.dom;
  const COPIED_MS = 2000, REPORT_MS = 1500, REPORT_TIMES = 60, OPINIONS = 200, REASON = 300;

  Object.assign(icons, {
    edit: "M4 20l1-4L16.5 4.5l3 3L8 19l-4 1Z",
    again: "M19 12a7 7 0 1 1-2.05-4.95L20 10M20 5v5h-5",
    copy: "M9 9h10v11H9zM5 15V4h10",
    link: "M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1",
    cite: "M9 8C6 9 5 11 5 13v3h4v-4H6M18 8c-3 1-4 3-4 5v3h4v-4h-3",
    up: "M7 20V11l4-7c1.5 0 2.3 1 2 2.5L12.5 10H18a1.5 1.5 0 0 1 1.5 1.9l-1.7 6.6A2 2 0 0 1 16 20H7ZM7 11H4v9h3",
    down: "M17 4v9l-4 7c-1.5 0-2.3-1-2-2.5L11.5 14H6a1.5 1.5 0 0 1-1.5-1.9l1.7-6.6A2 2 0 0 1 8 4h9ZM17 13h3V4h-3",
    done: "M5 13l4.5 4.5L19 7",
  });

  /** @param {string} question @param {AskBook.Answer} answer */
  function markdown(question, answer) {
    const text = answer.answer.replace(/\[(\d+)\]\(#ask-book-\d+\)/g, "[$1]");
    const notes = answer.citations.map((note) =>
      `[${note.n}] “${note.quote.replace(/\s+/g, " ")}” — ${config.book.title}, ${pathOf(note)}. <${links.passage(note)}>`);
    return [`**${question}**`, text, notes.join("\n")].filter(Boolean).join("\n\n") + "\n";
  }

  /** @param {string} text */
  const tex = (text) => text.replace(/\\/g, "\u0000").replace(/[#$%&_{}]/g, "\\$&").replace(/~/g, "\\textasciitilde{}").replace(/\^/g, "\\textasciicircum{}").replace(/\u0000/g, "\\textbackslash{}");

  /** The book as a BibTeX entry, with the passages that the answer rests on. @param {AskBook.Answer} answer */
  function bibtex({ citations }) {
    const { title, authors = [] } = config.book;
    const dates = ["dcterms.date", "citation_publication_date", "date"].map((name) => document.querySelector(`meta[name="${name}"]`)?.getAttribute("content") ?? "");
    const year = /\d{4}/.exec(dates.join(" "))?.[0];
    const word = (/** @type {string | undefined} */ text) => (text ?? "").normalize("NFKD").toLowerCase().match(/[a-z0-9]+/g) ?? [];
    const key = [word(authors[0]).at(-1), year, word(title)[0]].filter(Boolean).join("") || "book";
    const fields = {
      title: `{${tex(title)}}`, author: authors.map((name) => `{${tex(name)}}`).join(" and "), year, url: askBook.root.replace(/[{}\\]/g, encodeURIComponent),
      urldate: new Date().toISOString().slice(0, 10), note: tex([...new Set(citations.map(pathOf))].join("; ")),
    };
    const lines = Object.entries(fields).filter(([, value]) => value).map(([name, value]) => `  ${name} = {${value}},\n`);
    return `@book{${key},\n${lines.join("")}}\n`;
  }

  /** @type {AskBook.Namespace["drawActions"]} */
  function drawActions(turn, { say, save, again, edit }) {
    const answer = /** @type {AskBook.Answer} */ (turn.answer);

    /** @param {AskBook.Icon} name @param {string} label @param {() => string} text */
    const copying = (name, label, text) => tool(name, label, async (/** @type {MouseEvent} */ { currentTarget }) => {
      const button = /** @type {HTMLButtonElement} */ (currentTarget);
      await copy(text(), button);
      button.replaceChildren(icon("done"));
      say(t("copied"));
      setTimeout(() => button.replaceChildren(icon(name)), COPIED_MS);
    });

    /** @param {string} text @param {HTMLElement} near */
    async function copy(text, near) {
      try {
        await navigator.clipboard.writeText(text);
      } catch {
        const area = h("textarea", { class: "unseen", "aria-hidden": "true" });
        area.value = text;
        near.after(area);
        area.select();
        document.execCommand("copy");
        area.remove();
        near.focus();
      }
    }

    const answered = answer.status === "answered" && answer.citations.length > 0;
    const row = h("div", { class: "tools", role: "group", "aria-label": t("tools") },
      answered && copying("copy", t("copy"), () => markdown(turn.question, answer)),
      answered && copying("cite", t("cite"), () => bibtex(answer)),
      copying("link", t("share"), () => links.question(turn.question)),
      tool("edit", t("edit"), edit),
      tool("again", t("again"), again),
      ...drawReport(),
      h("span", { class: "gap" }));
    const reason = drawOpinion(row);
    return [row, reason];

    function drawReport() {
      const { report } = answer;
      const base = turn.base ?? "";
      /** @param {unknown} path @param {string} words */
      const link = (path, words) => {
        const url = URL.canParse(String(path).replace(/^\/+/, ""), base) ? new URL(String(path).replace(/^\/+/, ""), base).href : "";
        return path && url.startsWith(base + "reports/") ? h("a", { class: "report", href: url, target: "_blank", rel: "noopener" }, words) : null;
      };
      if (!report || !base) return [];
      const pdf = h("span", { class: "pdf" });
      /** @param {number} left */
      const look = async (left) => {
        turn.pdf = await client.report(base, report.id).catch(() => "failed");
        if (turn.pdf === "pending" && left) setTimeout(() => row.isConnected && void look(left - 1), REPORT_MS);
        show();
      };
      const show = () => {
        const ready = turn.pdf === "ready" ? link(report.pdf, "PDF") : null;
        pdf.replaceChildren(ready ?? (turn.pdf === "failed" ? "" : t("pdf_pending")));
        if (ready) save();
      };
      show();
      if (turn.pdf !== "ready") void look(REPORT_TIMES);
      return [h("span", { class: "reports" }, link(report.html, t("report")), pdf)];
    }

    /** Two thumbs, and room for a reason once one is pressed. @param {HTMLElement} row */
    function drawOpinion(row) {
      const input = h("input", { type: "text", maxlength: REASON, placeholder: t("why"), "aria-label": t("why"), autocomplete: "off" });
      const form = h("form", { class: "reason", hidden: true, onsubmit: (/** @type {Event} */ event) => {
        event.preventDefault();
        void tell(turn.opinion ?? "up", input.value.trim());
        form.hidden = true;
        say(t("thanks"));
        thumbs[turn.opinion === "down" ? 1 : 0].focus();
      } }, input, h("button", { type: "submit", class: "button" }, t("tell")), h("p", { class: "hint" }, t(turn.base ? "kept_author" : "kept_here")));
      const thumbs = /** @type {const} */ (["up", "down"]).map((value) => tool(value, t(value), () => {
        const taken = turn.opinion === value;
        if (!taken) void tell(value, "");
        form.hidden = taken ? !form.hidden : false;
        if (!form.hidden) input.focus();
        press();
      }));
      const press = () => thumbs.forEach((thumb, i) => thumb.setAttribute("aria-pressed", String(turn.opinion === ["up", "down"][i])));
      press();
      row.append(...thumbs);
      return form;
    }

    /** @param {"up" | "down"} value @param {string} reason */
    async function tell(value, reason) {
      turn.opinion = value;
      save();
      try {
        if (!turn.base || !answer.id) throw new Error("nobody there");
        await client.feedback(turn.base, { answer_id: answer.id, value, ...(reason && { reason }) });
      } catch {
        keep({ question: turn.question, value, reason, time: new Date().toISOString() });
      }
    }
  }

  /** Without a sidecar an opinion stays in this browser. @param {{ question: string, value: string, reason: string, time: string }} opinion */
  function keep(opinion) {
    const name = "ask-book-feedback:" + config.book.id;
    try {
      /** @type {{ question: string }[]} */
      const kept = JSON.parse(localStorage.getItem(name) ?? "[]");
      localStorage.setItem(name, JSON.stringify([...kept.filter(({ question }) => question !== opinion.question), opinion].slice(-OPINIONS)));
    } catch {
      // Private windows may have no storage.
    }
  }

  askBook.drawActions = drawActions;
})();
