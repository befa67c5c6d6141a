// The layout: header, tool pane with its tabs, bottom bar with its tabs; and the start.
(() => {
  "use strict";
  const { el, state, on, emit, replace, tabs, panels } = stile;
  const at = (name) => document.getElementById(name);

  let lastTool = null;
  let toolTab = "call"; // stays when another tool is opened
  let shown = new AbortController(); // of the tool pane
  let below = new AbortController(); // of the bottom bar
  let bottomTabs = null;
  let bottomTab = null; // chosen by the person
  document.getElementById("bottom").classList.add("folded"); // the tool has the room

  // The tool pane ---------------------------------------------------------------------------------------------------
  function drawTool() {
    const typed = typing();
    shown.abort();
    shown = new AbortController();
    const { signal } = shown;
    const tool = state.tool;
    document.body.classList.toggle("has-tool", Boolean(tool));
    document.body.classList.toggle("has-endpoint", Boolean(state.endpoint));
    if (!tool) {
      lastTool = null;
      return replace(at("tool"), stile.toolWelcome?.(signal));
    }
    const fitting = panels.filter((each) => each.place === "tool" && (each.when?.(tool) ?? true));
    let tab = new AbortController();
    const made = tabs({
      label: `Views of ${tool.name}`,
      part: "tool-tabs",
      selected: fitting.some((each) => each.id === toolTab) ? toolTab : undefined,
      onselect: (id) => (toolTab = id),
      tabs: fitting.map((each) => ({
        id: each.id,
        title: each.title,
        render(container) {
          tab.abort();
          tab = new AbortController();
          drawn(each, container, { tool, signal: AbortSignal.any([signal, tab.signal]) });
        },
      })),
    });
    replace(at("tool"), stile.toolHead?.(tool), made.node);
    showToolTab = (id) => made.select(id);
    const isOther = tool !== lastTool;
    const isSame = tool.key === lastTool?.key; // a saved file gives the tool another object
    lastTool = tool;
    if (document.activeElement !== document.body) return;
    if (isSame && typed && typeOn(typed)) return;
    if (isOther) at("tool").focus(); // a narrow screen hides the list
  }

  /** Return where a person types: the selector of the field, and the selection in it. */
  function typing() {
    const field = document.activeElement?.closest?.("#tool :is(input, select, textarea)");
    const path = field?.closest("[data-path]")?.dataset.path;
    const isJson = field?.dataset.part === "json";
    if (!isJson && path === undefined) return null;
    const selector = isJson ? '[data-part="json"]' : `[data-path="${CSS.escape(path)}"] :is(input, select, textarea)`;
    return { selector, from: field.selectionStart, to: field.selectionEnd };
  }

  function typeOn({ selector, from, to }) {
    const field = at("tool").querySelector(selector);
    field?.focus();
    if (typeof from === "number" && typeof field?.selectionStart === "number") field.setSelectionRange(from, to);
    return document.activeElement === field;
  }

  /** The form below keeps what is typed. */
  function drawHead() {
    at("tool").querySelector(".tool-head")?.replaceWith(stile.toolHead(state.tool));
  }
  let showToolTab = () => {};

  /** One panel that fails leaves the others. */
  function drawn(each, container, context) {
    try {
      each.render(container, context);
    } catch (error) {
      console.error(`stile: panel ${each.id}`, error);
      replace(container, el("p", { class: "bad" }, `This part failed: ${error.message}`));
    }
  }

  // The bottom bar ----------------------------------------------------------------------------------------------------
  function drawBottom() {
    below.abort();
    below = new AbortController();
    const { signal } = below;
    const fitting = panels.filter((each) => each.place === "bottom" && (each.when?.(state.tool) ?? true));
    let tab = new AbortController();
    bottomTabs = tabs({
      label: "Problems, calls, personas and reach",
      part: "bottom-tabs",
      selected: bottomTab,
      onselect: (id) => ((bottomTab = id), fold(false)), // a tab that is chosen is shown
      tabs: fitting.map((each) => ({
        id: each.id,
        title: each.title,
        badge: el("span", { class: "badge", "data-badge": each.id, hidden: true }),
        render(container) {
          tab.abort();
          tab = new AbortController();
          if (isFolded()) return; // it may ask for much that nobody sees
          drawn(each, container, { tool: state.tool, signal: AbortSignal.any([signal, tab.signal]) });
        },
      })),
    });
    const folder = el("button", {
      type: "button", class: "fold small", "aria-expanded": "true", "data-part": "fold",
      on: { click: () => fold(!isFolded()) },
    });
    replace(at("bottom"), bottomTabs.node);
    bottomTabs.node.firstChild.after(folder);
    fold(isFolded());
    emit("bottom");
  }

  const isFolded = () => at("bottom").classList.contains("folded");

  function fold(folded) {
    const opens = isFolded() && !folded;
    at("bottom").classList.toggle("folded", folded);
    if (opens) bottomTabs?.select(bottomTabs.current(), { quiet: true });
    const button = at("bottom").querySelector(".fold");
    if (!button) return;
    button.setAttribute("aria-expanded", String(!folded));
    replace(button, folded ? "Show" : "Hide");
  }

  /** Show a panel by its id, in the tool pane or the bottom bar. */
  function openPanel(id) {
    const wanted = panels.find((each) => each.id === id);
    if (wanted?.place === "bottom") {
      fold(false);
      bottomTabs?.select(id);
      bottomTabs?.button(id)?.focus();
    } else if (wanted) showToolTab(id);
  }

  function badge(id, words, kind = "") {
    const node = at("bottom").querySelector(`[data-badge="${CSS.escape(id)}"]`);
    if (!node) return;
    node.className = `badge ${kind}`;
    node.hidden = !words;
    replace(node, words || "");
  }

  // Light and dark: the only thing that the page remembers, and it is nobody's secret ---------------------------------
  function theme() {
    const order = ["auto", "light", "dark"];
    let now = remembered();
    const button = el("button", { type: "button", class: "small", "data-part": "theme", on: { click: next } });
    function next() {
      now = order[(order.indexOf(now) + 1) % order.length];
      try {
        localStorage.setItem("stile-theme", now);
      } catch {
        // a browser without storage forgets
      }
      draw();
    }
    function draw() {
      if (now === "auto") delete document.documentElement.dataset.theme;
      else document.documentElement.dataset.theme = now;
      replace(button, { auto: "Auto", light: "Light", dark: "Dark" }[now]);
      button.setAttribute("aria-label", `Colours: ${now}`);
      button.title = "Colours: as the system has them, light, dark";
      emit("theme", now);
    }
    draw();
    return button;
  }

  function remembered() {
    try {
      const kept = localStorage.getItem("stile-theme");
      return ["light", "dark"].includes(kept) ? kept : "auto";
    } catch {
      return "auto";
    }
  }

  // Keys ------------------------------------------------------------------------------------------------------------------
  document.addEventListener("keydown", (event) => {
    const types = event.target.closest?.("input, textarea, select, [contenteditable], dialog");
    if (event.key === "/" && !types && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      document.querySelector('[data-part="search"]')?.focus();
    }
  });

  // The start ---------------------------------------------------------------------------------------------------------------
  on("tool", drawTool);
  on("head", drawHead);
  on("endpoint", drawBottom);
  on("persona", drawBottom);
  Object.assign(stile, { openPanel, badge, theme });

  document.addEventListener("DOMContentLoaded", () => {
    drawTool();
    drawBottom();
    emit("start");
  });
})();
