// The header: which endpoint, at which URLs, with which problems; as whom; colours. And the pane when no tool is open.
(() => {
  "use strict";
  const { el, state, on, replace, mark } = stile;
  const header = () => document.getElementById("header");

  for (const event of ["mode", "endpoint", "endpoints", "personas", "persona", "connection"]) on(event, draw);
  let theme = null;

  function draw() {
    theme ??= stile.theme();
    const focused = document.activeElement?.closest?.("#header [data-part]")?.dataset.part;
    const entry = current();
    replace(header(),
      el("div", { class: "bar" },
        el("a", { class: "brand", href: `${state.base}/`, on: { click: home } }, "Stile"),
        endpointPicker(),
        el("span", { class: "grow" }),
        state.endpoint ? stile.personas.picker() : null,
        theme),
      entry || state.endpoint ? facts(entry ?? {}) : null);
    if (focused && document.activeElement === document.body) focusOn(focused);
  }

  /** A choice draws the header anew, and a keyboard keeps its place; a button that is gone leads to the choice beside it. */
  function focusOn(part) {
    const node = header().querySelector(`[data-part="${CSS.escape(part)}"]`);
    (node?.matches("a, button, input, select") ? node : node?.querySelector("select"))?.focus();
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
      state.endpoints.filter(({ name }) => stile.endpoint.isName(name)).map((each) => el("option", { value: each.name }, stile.visible(each.name))));
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
    if (entry?.served === false) return unserved(entry);
    return el("div", { class: "welcome" },
      el("h1", { class: "mono" }, state.endpoint),
      entry?.description ? el("p", null, entry.description) : null,
      el("p", { class: "quiet" }, "Choose a tool. ", el("kbd", null, "/"), " searches, arrow keys move in the list, ", el("kbd", null, "Enter"), " opens."));
  };

  /** A folder whose path is not the name of an endpoint has no page. */
  function linked(name) {
    const shown = el("span", { class: "mono" }, stile.visible(name));
    if (!stile.endpoint.isName(name)) return shown;
    return el("a", { href: `${state.base}/${name}`, "data-name": name, on: { click: (event) => (event.preventDefault(), stile.endpoint.open(name, { push: true })) } }, shown);
  }

  const unserved = (entry) =>
    el("div", { class: "welcome", "data-part": "not-served", "data-name": entry.name },
      el("h1", { class: "mono" }, entry.name),
      el("p", { class: "notice bad" }, `It is not served until its problems are solved: ${entry.problems}. `,
        el("button", { type: "button", class: "small", on: { click: () => stile.openPanel("problems") } }, "Show")));

  const endpointList = () =>
    el("div", { class: "welcome" },
      el("h1", null, "Endpoints"),
      state.endpoints.length ? null : el("p", { class: "quiet" }, "There is no endpoint yet. The folder that `stile dev` serves has none."),
      el("ul", { class: "cards" }, state.endpoints.map((each) =>
        el("li", null,
          linked(each.name),
          each.description ? el("p", null, each.description) : null,
          el("p", { class: "facts" }, each.upstream ? el("code", null, each.upstream) : null,
            each.served === false ? mark("not served", "destroys") : null,
            each.problems ? mark(`${each.problems} problem${each.problems === 1 ? "" : "s"}`, "destroys") : null, each.warnings ? mark(`${each.warnings} warning${each.warnings === 1 ? "" : "s"}`, "warns") : null)))));

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
