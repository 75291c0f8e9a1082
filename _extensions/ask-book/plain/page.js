// Tabs of the plain rendition, and a list of chapters that starts closed on a phone.
// Without this script every tab is open.
"use strict";
(() => {
  document.documentElement.classList.add("with-script");

  /** @param {Element} link */
  function open(link) {
    const pane = document.getElementById(link.getAttribute("aria-controls") ?? "");
    const set = link.closest(".panel-tabset");
    if (!pane || !set) return;
    for (const other of set.querySelectorAll(":scope > .nav-tabs .nav-link")) {
      other.classList.toggle("active", other === link);
      other.setAttribute("aria-selected", String(other === link));
    }
    for (const other of set.querySelectorAll(":scope > .tab-content > .tab-pane")) {
      other.classList.toggle("active", other === pane);
    }
  }

  /** Opens the tabs around what the address points to. */
  function reveal() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let pane = target?.closest(".tab-pane"); pane; pane = pane.parentElement?.closest(".tab-pane")) {
      const link = document.getElementById(pane.getAttribute("aria-labelledby") ?? "");
      if (link) open(link);
    }
    target?.scrollIntoView();
  }

  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest(".nav-link") : null;
    if (!link) return;
    event.preventDefault();
    open(link);
  });
  addEventListener("hashchange", reveal);
  if (location.hash) reveal();
  if (matchMedia("(max-width: 55rem)").matches) document.querySelector("#book details")?.removeAttribute("open");
})();
