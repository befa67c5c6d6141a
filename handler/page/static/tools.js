// The list of tools by kind, with search, and the head of the open tool.
(() => {
  "use strict";
  const { el, state, on, replace, clear, mark, place, units, later } = stile;

  const KINDS = [
    ["graphql", "GraphQL"], ["prescribed", "Operations"], ["code", "Python"], ["tool", "Tools"],
    ["catalog", "Catalog"], ["prompt", "Prompts"], ["resource", "Resources"], ["template", "Resource templates"],
  ];
  const nav = () => document.getElementById("tools");
  let wanted = "";
  let current = null; // the list element, whose position stays
  let shared = new Set(); // warnings that most tools share

  on("endpoint", drawFrame);
  on("tools", drawList);
  on("loading", (isLoading) => nav().setAttribute("aria-busy", String(isLoading)));
  on("tool", markOpen);

  function drawFrame() {
    wanted = "";
    rows.clear();
    if (!state.endpoint) return clear(nav());
    const search = el("input", {
      type: "search", id: "search", placeholder: "Search tools  ( / )", "aria-label": "Search tools", autocomplete: "off",
      "data-part": "search", spellcheck: "false",
      on: { input: () => ((wanted = search.value.trim().toLowerCase()), drawList(), further(wanted)), keydown: leaveSearch },
    });
    current = el("div", { class: "tool-list", "data-part": "tools" });
    replace(nav(), el("div", { class: "search-bar" }, search, el("span", { class: "quiet", "data-part": "tool-count", "aria-live": "polite" })), current);
    replace(current, el("p", { class: "quiet pad" }, "Loading…"));
    stile.roving(current, () => [...current.querySelectorAll("button.tool")]);
  }

  function leaveSearch(event) {
    if (event.key === "Escape") {
      event.target.value = wanted = "";
      drawList();
    } else if (event.key === "ArrowDown" || event.key === "Enter") {
      const first = current.querySelector("button.tool");
      if (!first) return;
      event.preventDefault();
      first.focus();
      if (event.key === "Enter") first.click();
    }
  }

  const further = later(async (words) => {
    if (!words || !state.endpoint) return;
    const found = await stile.endpoint.searchCatalog(words).catch(() => []);
    if (found.length && words === wanted) drawList();
  }, 300);

  function fits(tool) {
    if (wanted && tool.foundBy === wanted) return true; // the catalog knows more words
    const about = [tool.name, tool.title, tool.about, tool.entry?.description, tool.entry?.uri].join("\n").toLowerCase();
    return wanted.split(/\s+/).every((word) => about.includes(word));
  }

  const kindOf = (tool) => (KINDS.some(([kind]) => kind === tool.kind) ? tool.kind : "tool");

  function drawList() {
    if (!current) return;
    const top = current.scrollTop;
    const focused = document.activeElement?.closest?.("[data-key]")?.dataset.key;
    const shown = state.tools.filter(fits);
    shared = sharedWarnings();
    const groups = KINDS.map(([kind, label]) => [label, shown.filter((each) => kindOf(each) === kind)]);
    const isTool = ({ kind }) => !["prompt", "resource", "template"].includes(kind);
    replace(current, denied(), shown.some(isTool) || state.denied ? null : none(), [...shared].map((each) => el("p", { class: "notice warn", "data-part": "shared-warning" }, each)), groups.filter(([, tools]) => tools.length).map(([label, tools]) => group(label, tools)));
    current.scrollTop = top;
    markOpen();
    if (focused) current.querySelector(`[data-key="${CSS.escape(focused)}"] button.tool`)?.focus({ preventScroll: true });
    const real = state.tools.filter(isTool);
    const usable = real.filter((each) => each.usable).length;
    const count = nav().querySelector('[data-part="tool-count"]');
    if (count) replace(count, `${usable === real.length ? "" : `${usable} of `}${real.length} tool${real.length === 1 ? "" : "s"}`);
  }

  function none() {
    const words = state.dev ? "There are no tools yet: an operation with `@mcpTool` in `operations/` makes one." : "This caller has no tools.";
    return el("p", { class: "quiet pad" }, stile.prose(wanted ? "No tool has these words." : words));
  }

  /** The list of a caller who does not get in. */
  function denied() {
    if (!state.denied || state.endpoints.find((each) => each.name === state.endpoint)?.served === false) return null; // see the welcome
    const { status, failure } = state.denied;
    return el("div", { class: "notice bad", "data-part": "denied" },
      el("p", null, el("strong", null, failure ? "No answer" : `HTTP ${status}`), ": ", failure ?? stile.results.advice(state.denied)),
      failure || status === 429 || status >= 500 ? el("button", { type: "button", "data-part": "again", on: { click: stile.endpoint.again } }, "Try again") : null,
      state.dev || ![401, 403].includes(status) || state.denied.refused?.code === "foreign-origin" ? null : el("button", { type: "button", on: { click: () => stile.personas.paste() } }, "Paste a credential"));
  }

  function group(label, tools) {
    const heading = stile.id("group");
    return el("section", { "aria-labelledby": heading },
      el("h2", { id: heading }, label, el("span", { class: "count" }, String(tools.length))),
      el("ul", null, tools.map(row)));
  }

  const rows = new Map(); // by key: what a row shows, and its node, which stays while that is the same

  function row(tool) {
    const { name, title, about, usable, listed, confirm, warnings, tokens, entry } = tool;
    const shown = JSON.stringify([name, title, about, usable, listed, confirm, warnings, shared.size, tokens ?? tokensOf(tool)?.textContent, entry?.annotations, stile.personas.explains()]);
    const kept = rows.get(tool.key);
    if (kept?.shown === shown) return kept.node;
    const node = newRow(tool);
    rows.set(tool.key, { shown, node });
    return node;
  }

  function newRow(tool) {
    const lacks = !tool.usable;
    return el("li", { "data-part": "tool", "data-name": tool.name, "data-key": tool.key, "data-usable": String(tool.usable), class: lacks ? "lacks" : null },
      el("button", { type: "button", class: "tool", tabindex: "-1", on: { click: () => stile.endpoint.openTool(tool.key), keydown: toWhy } },
        el("span", { class: "tool-name" }, tool.name),
        el("span", { class: "tool-marks" }, marks(tool, { isShort: true })),
        subtitle(tool),
        lacks ? el("span", { class: "visually-hidden" }, ", this caller lacks it") : null),
      lacks && stile.personas.explains() ? el("button", { type: "button", class: "why small", tabindex: "-1", "data-part": "why", "aria-label": `Why does this caller lack ${tool.name}?`, on: { click: () => stile.personas.why({ tool: tool.name }), keydown: fromWhy } }, "why?") : null);
  }

  const plain = (words) => words.toLowerCase().replace(/[\s_-]/g, "");

  function subtitle({ title, name, about, entry }) {
    const words = title && plain(title) !== plain(name) ? title : about ?? entry?.description;
    return words ? el("span", { class: "tool-sub" }, words) : null;
  }

  /** The arrow keys lead to `why?`, so that a long list has one stop of the Tab key. */
  function toWhy(event) {
    if (event.key !== "ArrowRight") return;
    event.currentTarget.parentElement.querySelector(".why")?.focus();
  }
  function fromWhy(event) {
    if (event.key === "ArrowLeft") event.currentTarget.parentElement.querySelector(".tool").focus();
  }

  const [READS, DESTROYS, WRITES, ASKS] = (stile.marks = [
    ["reads", "reads", "Reads only: changes nothing"],
    ["may destroy", "destroys", "May delete or overwrite something"],
    ["writes", "writes", "Changes something, and deletes nothing"],
    ["asks", "asks", "Asks its user first"],
  ]);

  function marks(tool, { isShort = false } = {}) {
    const hints = tool.entry?.annotations ?? {};
    const warnings = (tool.warnings ?? []).filter((each) => !isShort || !shared.has(each));
    return [
      hints.readOnlyHint === true ? mark(...READS) : null,
      hints.readOnlyHint === false ? mark(...(hints.destructiveHint === false ? WRITES : DESTROYS)) : null,
      ["required", "advisory"].includes(tool.confirm) ? mark(...ASKS) : null,
      tool.listed === false ? mark("unlisted", "", "Not in the list; a catalog finds it") : null,
      warnings.length ? mark(`${warnings.length} ⚠`, "warns", warnings.join("\n")) : null,
      isShort ? tokensOf(tool) : null,
    ];
  }

  /** Return the warnings that most tools share. The list says each of them once. */
  function sharedWarnings() {
    const counts = new Map();
    for (const each of state.tools.flatMap(({ warnings }) => warnings ?? [])) counts.set(each, (counts.get(each) ?? 0) + 1);
    return new Set([...counts].filter(([, count]) => count > 2 && count > state.tools.length / 2).map(([words]) => words));
  }

  function tokensOf(tool) {
    const count = tool.tokens ?? (tool.entry ? units.tokens(stile.json.stringify(tool.entry)) : null);
    return count === null ? null : el("span", { class: "tokens", title: "Tokens that the entry takes of a model's context, about" }, `~${units.number(count)}`);
  }

  function markOpen() {
    if (!current) return;
    const buttons = [...current.querySelectorAll("button.tool")];
    for (const button of buttons) {
      const isOpen = button.parentElement.dataset.key === state.tool?.key;
      if (isOpen) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
      button.tabIndex = isOpen ? 0 : -1;
    }
    if (buttons.length && !buttons.some((each) => each.tabIndex === 0)) buttons[0].tabIndex = 0;
  }

  // The head of the open tool ---------------------------------------------------------------------------------------------
  const KIND_WORDS = { graphql: "GraphQL tool", prescribed: "operation", code: "Python", catalog: "catalog", prompt: "prompt", resource: "resource", template: "resource template", tool: "tool" };

  stile.toolHead = (tool) =>
    el("div", { class: "tool-head" },
      el("button", { type: "button", class: "back small", on: { click: back } }, "← All tools"),
      el("h1", { "data-part": "tool-title" }, el("span", { class: "mono" }, tool.name), tool.title && tool.title !== tool.name ? el("span", { class: "tool-title" }, tool.title) : null),
      el("p", { class: "facts", "data-part": "tool-marks" },
        mark(KIND_WORDS[tool.kind] ?? tool.kind ?? "tool"), marks(tool),
        tool.entry?.uri || tool.entry?.uriTemplate ? el("span", { class: "mono" }, tool.entry.uri ?? tool.entry.uriTemplate) : null,
        tokensOf(tool) ? el("span", { class: "quiet" }, tokensOf(tool), " tokens") : null,
        place(tool.file, tool.line)),
      tool.usable ? null : lackNotice(tool),
      (tool.warnings ?? []).map((each) => el("p", { class: "notice warn" }, each)),
      typeof tool.entry?.description === "string" ? stile.clamped(tool.entry.description, { class: "description" }) : null);

  const lackNotice = (tool) =>
    el("p", { class: "notice" }, el("strong", null, stile.personas.label(state.persona)), " lacks this tool: a call gets the answer of a tool that does not exist. ",
      stile.personas.explains() ? el("button", { type: "button", class: "small", "data-part": "why", on: { click: () => stile.personas.why({ tool: tool.name }) } }, "why?") : null);

  function back() {
    const { key } = state.tool;
    state.tool = null;
    history.replaceState(null, "", location.pathname);
    stile.emit("tool", null);
    const button = current?.querySelector(`[data-key="${CSS.escape(key)}"] button.tool`);
    for (const each of current?.querySelectorAll("button.tool") ?? []) each.tabIndex = each === button ? 0 : -1;
    button?.focus();
  }

  stile.panel({
    id: "entry", title: "Definition", place: "tool", order: 60,
    render(container, { tool }) {
      const text = stile.json.stringify(tool.entry ?? null, "  ");
      replace(container,
        el("p", { class: "quiet" }, "The entry as a client reads it in the list: ", units.bytes(new TextEncoder().encode(stile.json.stringify(tool.entry ?? null)).length), " ", stile.copyButton(text)),
        el("pre", { class: "code", tabindex: "0", "aria-label": "Definition" }, text));
    },
  });
})();
