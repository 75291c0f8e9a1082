/**
 * TeX as the page itself would show it: what MathJax or KaTeX make of it, or a formula that the page has already, all as
 * MathML, copied element by element. Where the page knows no formulas, the TeX stays.
 */
(() => {
  const MATHML = "http://www.w3.org/1998/Math/MathML";
  const ELEMENTS = new Set(("math mrow mi mn mo ms mtext mspace mfrac msqrt mroot mstyle mpadded mphantom msub msup msubsup munder mover munderover " +
    "mmultiscripts mprescripts none mtable mtr mtd").split(" "));
  const ATTRIBUTES = new Set(("display displaystyle scriptlevel mathvariant form fence separator stretchy symmetric largeop movablelimits lspace rspace " +
    "minsize maxsize accent accentunder linethickness columnalign rowalign columnspacing rowspacing width height depth voffset").split(" "));

  /** @param {Element} from @returns {Element | null} */
  function copy(from) {
    if (from.localName === "semantics" || from.localName === "annotation") {
      return from.localName === "semantics" && from.firstElementChild ? copy(from.firstElementChild) : null;
    }
    if (!ELEMENTS.has(from.localName)) return null;
    const to = document.createElementNS(MATHML, from.localName);
    for (const { name, value } of from.attributes) if (ATTRIBUTES.has(name)) to.setAttribute(name, value);
    if (!from.children.length) to.textContent = from.textContent;
    for (const child of from.children) {
      const part = copy(child);
      if (part) to.append(part);
    }
    return to;
  }

  /** @param {string} text */
  const bare = (text) => text.replace(/\s+/g, "");

  /** @param {string} tex @param {boolean} display @returns {Element | null | undefined} */
  function find(tex, display) {
    const notes = document.querySelectorAll("math annotation[encoding='application/x-tex']");
    const same = [...notes].find((note) => bare(note.textContent ?? "") === bare(tex))?.closest("math");
    if (same) return same;
    const { MathJax, katex } = window;
    const made = MathJax?.tex2mml?.(tex, { display }) ?? katex?.renderToString(tex, { output: "mathml", displayMode: display });
    // An inert document: nothing in it loads or runs.
    return made && new DOMParser().parseFromString(String(made), "text/html").querySelector("math");
  }

  /** @type {AskBook.Namespace["typeset"]} */
  function typeset(place, tex, display) {
    const found = find(tex, display);
    const formula = found && !found.querySelector("merror") ? copy(found) : null;
    if (!formula) return;
    formula.setAttribute("display", display ? "block" : "inline");
    place.replaceChildren(formula);
    place.classList.add("set");
  }

  askBook.typeset = typeset;
})();
