// The header: which endpoint, at which URLs, with which problems; as whom; colours. And the pane when no tool is open.
(() => {
  "use strict";
  const { el, state, on, replace, mark } = stile;
  const header = () => document.getElementById("header");

  for (const event of ["mode", "endpoint", "endpoints", "personas", "persona", "connection"]) on(event, draw);
  let theme = null;

  function draw() {
    theme ??= stile.theme();
    const entry = current();
    replace(header(),
      el("div", { class: "bar" },
        el("a", { class: "brand", href: `${state.base}/`, on: { click: home } }, "Stile"),
        endpointPicker(),
        el("span", { class: "grow" }),
        state.endpoint ? stile.personas.picker() : null,
        theme),
      entry || state.endpoint ? facts(entry ?? {}) : null);
  }

  const current = () => state.endpoints.find((each) => each.name === state.endpoint);

  function home(event) {
    event.preventDefault();
    stile.endpoint.open(null, { push: true });
  }

  function endpointPicker() {
    if (!state.dev) return state.endpoint ? el("span", { class: "mono endpoint-name", "data-part": "endpoint" }, state.endpoint) : null;
    if (!state.endpoints.length) return null;
    const select = el("select", { "aria-label": "Endpoint", "data-part": "endpoint", class: "mono", on: { change: () => stile.endpoint.open(select.value || null, { push: true }) } },
      state.endpoint && current() ? null : el("option", { value: "" }, "Endpoints"),
      state.endpoints.map((each) => el("option", { value: each.name }, stile.visible(each.name))));
    select.value = state.endpoint ?? "";
    return select;
  }

  function facts(entry) {
    const url = entry.mcpUrl || stile.mcp.url();
    return el("div", { class: "facts-bar" },
      el("span", { class: "fact" }, el("span", { class: "fact-name" }, "MCP"), el("code", { "data-part": "mcp-url" }, url), stile.copyButton(url, "Copy", { "aria-label": "Copy the MCP URL" })),
      entry.upstream ? el("span", { class: "fact" }, el("span", { class: "fact-name" }, "API"), el("code", { "data-part": "api" }, entry.upstream)) : null,
      counted(entry.problems, "problem", "bad"), counted(entry.warnings, "warning", "warn"),
      state.dev ? el("span", { class: `fact connection ${state.connection ?? ""}`, "data-part": "connection", role: "status" }, { lost: "Connection lost, trying again…", open: "Live" }[state.connection] ?? "") : null);
  }

  function counted(count, word, kind) {
    if (typeof count !== "number") return null;
    return el("button", { type: "button", class: `fact plain ${count ? kind : ""}`, "data-part": `${word}-count`, on: { click: () => stile.openPanel("problems") } }, `${count} ${word}${count === 1 ? "" : "s"}`);
  }

  // No tool is open -------------------------------------------------------------------------------------------------------
  stile.toolWelcome = () => {
    if (!state.mode && !state.dev && !state.endpoint && !theme) return null;
    if (!state.endpoint) return state.dev ? endpointList() : endpointField();
    const entry = current();
    return el("div", { class: "welcome" },
      el("h1", { class: "mono" }, state.endpoint),
      entry?.description ? el("p", null, entry.description) : null,
      el("p", { class: "quiet" }, "Choose a tool. ", el("kbd", null, "/"), " searches, arrow keys move in the list, ", el("kbd", null, "Enter"), " opens."));
  };

  const endpointList = () =>
    el("div", { class: "welcome" },
      el("h1", null, "Endpoints"),
      state.endpoints.length ? null : el("p", { class: "quiet" }, "There is no endpoint yet. The folder that `stile dev` serves has none, or none that compiles: see the problems below."),
      failing().map(([name, count]) => el("p", { class: "notice bad", "data-part": "not-served", "data-name": name }, el("strong", { class: "mono" }, name), ` is not served: ${count} problem${count === 1 ? "" : "s"}. `,
        el("button", { type: "button", class: "small", on: { click: () => stile.openPanel("problems") } }, "Show"))),
      el("ul", { class: "cards" }, state.endpoints.map((each) =>
        el("li", null,
          el("a", { href: `${state.base}/${each.name}`, "data-name": each.name, on: { click: (event) => (event.preventDefault(), stile.endpoint.open(each.name, { push: true })) } }, el("span", { class: "mono" }, each.name)),
          each.description ? el("p", null, each.description) : null,
          el("p", { class: "facts" }, each.upstream ? el("code", null, each.upstream) : null,
            each.problems ? mark(`${each.problems} problem${each.problems === 1 ? "" : "s"}`, "destroys") : null, each.warnings ? mark(`${each.warnings} warning${each.warnings === 1 ? "" : "s"}`, "warns") : null)))));

  /** Endpoints that never compiled are in the problems only. */
  function failing() {
    const counts = new Map();
    for (const { endpoint, severity } of state.problems) {
      const isServed = state.endpoints.some((each) => each.name === endpoint);
      if (endpoint && severity !== "warning" && !isServed) counts.set(endpoint, (counts.get(endpoint) ?? 0) + 1);
    }
    return [...counts];
  }

  /** A public function lists no endpoints, so a person names one. */
  function endpointField() {
    const input = el("input", { id: "endpoint-name", type: "text", placeholder: "folder/name", autocomplete: "off", spellcheck: "false", "data-part": "endpoint", "aria-describedby": "endpoint-error", class: "mono" });
    const problem = el("p", { id: "endpoint-error", class: "bad", role: "alert" });
    return el("form", { class: "welcome", on: { submit: (event) => {
      event.preventDefault();
      const name = input.value.trim().replace(/^\/+|\/+$/g, "");
      if (stile.endpoint.isName(name)) stile.endpoint.open(name, { push: true });
      else replace(problem, "Expected the name of an endpoint: folder/name");
    } } },
      el("h1", null, "Open an endpoint"),
      el("p", null, "Endpoints are not listed here. Their names are those of their MCP URLs: ", el("code", null, "/folder/name/mcp"), "."),
      el("label", { for: "endpoint-name" }, "Name of the endpoint"),
      el("div", { class: "row" }, input, el("button", { type: "submit", class: "primary" }, "Open")), problem);
  }

  on("mode", () => stile.emit("tool", state.tool));
  for (const event of ["endpoints", "problems"]) on(event, () => !state.endpoint && stile.emit("tool", null));
})();
