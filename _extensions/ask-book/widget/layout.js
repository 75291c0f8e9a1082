/** The shape of the panel: a drawer beside the text, or a sheet from below; its size, and where the focus may go. */
(() => {
  const NARROW = matchMedia("(max-width: 991.98px)");
  const ARROWS = { ArrowLeft: 32, ArrowUp: 32, ArrowRight: -32, ArrowDown: -32 };

  /** @type {AskBook.Namespace["createLayout"]} */
  function createLayout(panel, grip, head, close) {
    const isSheet = () => NARROW.matches;
    const sizeNow = () => (isSheet() ? panel.offsetHeight : panel.offsetWidth);
    const isRtl = () => getComputedStyle(panel).direction === "rtl";

    /** @param {number} size of the drawer or the sheet, in pixels */
    function resize(size) {
      const sheet = isSheet();
      const most = sheet ? innerHeight * 0.97 : Math.min(innerWidth * 0.6, 720);
      const value = Math.round(Math.max(sheet ? 160 : 320, Math.min(most, size)));
      panel.style.setProperty(sheet ? "--sheet" : "--drawer", value + "px");
      if (!sheet) askBook.remember({ width: value });
      fit();
    }

    /** Keeps the sheet above the keyboard and inside the screen, and the text beside the drawer: the page makes room only if it must. */
    function fit() {
      const view = window.visualViewport;
      if (view && view.scale < 1.05 && isSheet()) {
        panel.style.setProperty("--below", "0px");
        const hidden = panel.offsetTop + panel.offsetHeight - view.offsetTop - view.height;
        panel.style.setProperty("--below", Math.max(0, Math.round(hidden)) + "px");
        panel.style.setProperty("--view", Math.round(view.width) + "px");
      }
      const content = document.getElementById("quarto-content") ?? document.body;
      content.style.paddingInlineEnd = "";
      panel.style.removeProperty("--room");
      grip.ariaValueNow = String(sizeNow());
      grip.ariaOrientation = isSheet() ? "horizontal" : "vertical";
      if (panel.hidden || isSheet()) return;
      const covered = () => {
        const [text, drawer] = [document.querySelector("main") ?? content, panel].map((element) => element.getBoundingClientRect());
        return isRtl() ? Math.min(drawer.right + 8 - text.left, text.right + 8 - drawer.left) : Math.min(text.right + 8 - drawer.left, drawer.right + 8 - text.left);
      };
      if (covered() <= 0) return;
      content.style.paddingInlineEnd = panel.offsetWidth + "px";
      const still = covered();
      if (still <= 0) return;
      panel.style.setProperty("--room", panel.offsetWidth - still + "px");
      content.style.paddingInlineEnd = panel.offsetWidth + "px";
    }

    /** Dragging: the edge of the drawer; of the sheet all of its head. @param {PointerEvent} down */
    function drag(down) {
      const handle = /** @type {HTMLElement} */ (down.currentTarget);
      if (down.button || (handle === head && (!isSheet() || /** @type {Element} */ (down.target).closest("button")))) return;
      const size = sizeNow();
      let moved = false;
      /** @param {PointerEvent} move */
      const wanted = (move) => size + (isSheet() ? down.clientY - move.clientY : (isRtl() ? -1 : 1) * (down.clientX - move.clientX));
      handle.setPointerCapture(down.pointerId);
      handle.onpointermove = (move) => {
        moved ||= Math.abs(wanted(move) - size) > 4;
        if (moved) resize(wanted(move));
      };
      handle.onpointerup = handle.onpointercancel = (up) => {
        handle.onpointermove = handle.onpointerup = handle.onpointercancel = null;
        if (!isSheet() || !moved) return;
        if (wanted(up) < innerHeight * 0.2) close();
        else if (wanted(up) > innerHeight * 0.8) resize(innerHeight);
      };
    }
    for (const handle of [grip, head]) handle.addEventListener("pointerdown", drag);
    grip.addEventListener("keydown", ({ key }) => {
      if (Object.hasOwn(ARROWS, key)) resize(sizeNow() + ARROWS[/** @type {keyof typeof ARROWS} */ (key)] * (isRtl() && /Left|Right/.test(key) ? -1 : 1));
    });

    /** The sheet covers the page: the focus goes round inside it. */
    panel.addEventListener("keydown", (event) => {
      if (event.key !== "Tab" || !isSheet()) return;
      const stops = [.../** @type {NodeListOf<HTMLElement>} */ (panel.querySelectorAll("button, a[href], textarea, input, [tabindex='0']"))].filter((stop) => stop.checkVisibility());
      const [leave, enter] = event.shiftKey ? [stops[0], stops.at(-1)] : [stops.at(-1), stops[0]];
      if (/** @type {ShadowRoot} */ (panel.getRootNode()).activeElement !== leave) return;
      event.preventDefault();
      enter?.focus();
    });

    window.addEventListener("resize", fit);
    for (const kind of ["resize", "scroll"]) window.visualViewport?.addEventListener(kind, fit);
    return { fit, resize, isSheet };
  }

  askBook.createLayout = createLayout;
})();
