// The pane when no tool is open: the endpoints, or what there is to know of one: how to connect, who gets in, what a
// model reads, the state of the API, warnings and the last calls. Callers, the API and warnings are known in dev alone.
(() => {
  "use strict";
  const { el, state, on, replace, mark, units } = stile;
  const MOST_WARNINGS = 5;
  const MOST_CALLS = 5;
  const apis = new Map(); // endpoint -> what is known of the server of its API

  const current = () => state.endpoints.find((each) => each.name === state.endpoint);
  const count = (number, noun, nouns = `${noun}s`) => `${units.number(number)} ${number === 1 ? noun : nouns}`;

  stile.toolWelcome = (signal) => {
    if (!state.mode) return null;
    if (!state.endpoint) return state.dev ? endpointList(signal) : endpointField();
    const entry = current();
    if (entry?.served === false) return unserved(entry, signal);
    return el("div", { class: "welcome" },
      drawn(introduction, ["tools", "theme"], signal),
      entry?.description ? stile.clamped(entry.description, { class: "description" }) : null,
      el("p", { class: "quiet keys" }, el("kbd", null, "/"), " searches, arrow keys move in the list, ", el("kbd", null, "Enter"), " opens a tool."),
      drawn(warnings, ["problems", "endpoints"], signal),
      el("div", { class: "tiles" },
        drawn(connect, ["persona", "personas"], signal),
        el("div", null,
          entry ? drawn(() => callers(current() ?? entry), ["persona", "personas", "endpoints"], signal) : null,
          drawn(reading, ["tools"], signal),
          entry?.upstream ? api(entry, signal) : null)),
      drawn(calls, ["live"], signal));
  };

  /** What the owner says of the endpoint, with an icon for the colours of the page. */
  function introduction() {
    const { title, description, version, websiteUrl, icons = [] } = state.server;
    const theme = document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    const icon = icons.find((each) => each.theme === theme) ?? icons.find((each) => !each.theme) ?? icons[0];
    return el("div", { "data-part": "introduction" },
      el("h1", { class: title ? "row" : "mono row" }, icon ? el("img", { src: icon.src, alt: "", width: 40, height: 40 }) : null, title ?? state.endpoint),
      el("p", { class: "quiet" }, title ? el("span", { class: "mono" }, state.endpoint, " ") : null, version ? `Version ${version}` : null),
      description ? el("p", null, description) : null,
      websiteUrl ? el("p", null, el("a", { href: websiteUrl, rel: "noopener noreferrer" }, websiteUrl)) : null);
  }

  /** Return a part that is drawn anew at each of the events. */
  function drawn(make, events, signal) {
    const node = el("div");
    const draw = () => replace(node, make());
    for (const event of events) on(event, stile.later(() => !signal.aborted && draw(), 50), { signal });
    draw();
    return node;
  }

  const part = (title, name, ...children) => el("div", { class: "section", "data-part": name }, el("h2", null, title), children);

  const connect = () => part(`Connect as ${stile.personas.label(state.persona)}`, "clients", stile.connect.clients());

  const callers = ({ callers: sentence }) =>
    part("Callers", "callers", el("p", null, sentence),
      el("p", { class: "row", role: "group", "aria-label": "See as" }, state.personas.map((each) => el("button", {
        type: "button", class: "small toggle", "aria-pressed": String(each === state.persona),
        on: { click: () => (stile.personas.choose(each.id), document.getElementById("persona").focus()) }, // this button is drawn anew
      }, stile.personas.label(each), each.refused ? " (refused)" : ""))));

  /** The sum of what the list gives a client, and the marks in the list. */
  function reading() {
    const listed = state.tools.filter((each) => each.usable && each.listed !== false && each.entry && each.key.startsWith("tool:"));
    const ofTools = listed.length ? units.tokens(stile.json.stringify(listed.map(({ entry }) => entry))) : 0;
    const ofInstructions = units.tokens(state.instructions);
    return part("A model reads", "tokens",
      el("p", null, el("strong", null, `~${units.number(ofTools + ofInstructions)} tokens`), ` of ${count(listed.length, "tool")}`, ofInstructions ? ` and instructions (~${units.number(ofInstructions)})` : "", ", as this caller."),
      el("p", { class: "facts" }, stile.marks.map(([words, kind, meaning]) => el("span", null, mark(words, kind), " ", el("span", { class: "quiet" }, meaning)))));
  }

  function api(entry, signal) {
    const stateOf = (found) => (found?.reached ? el("span", { class: "good" }, "takes connections") : el("span", { class: found?.said ? "bad" : "quiet" }, found?.said || (found ? "not asked" : "…")));
    const node = el("p", { "data-part": "api-state", role: "status" }, stateOf(apis.get(entry.name)));
    stile.dev("api", { endpoint: entry.name }, { signal }).then((found) => (apis.set(entry.name, found), replace(node, stateOf(found))), () => {});
    return part("API", "api-part", el("p", null, el("code", { "data-part": "api" }, entry.upstream)), node,
      (entry.unset ?? []).map((each) => el("p", { class: "notice warn" }, each)));
  }

  function warnings() {
    const found = state.dev ? stile.live.problems() : [];
    if (!found.length) return null;
    return part("Problems and warnings", "warnings", el("ul", { class: "list-lines" }, found.slice(0, MOST_WARNINGS).map(stile.live.problem)),
      found.length > MOST_WARNINGS ? el("button", { type: "button", class: "small more", on: { click: () => stile.openPanel("problems") } }, `All ${units.number(found.length)}`) : null);
  }

  function calls() {
    const found = stile.live.calls({ lists: false }).filter((each) => !state.endpoint || each.endpoint === state.endpoint).slice(0, MOST_CALLS);
    return part("Last calls", "calls", found.length ? el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Last calls" }, stile.live.table(found)) : el("p", { class: "quiet" }, `None yet: those of ${state.dev ? "all clients" : "this page"} appear here.`));
  }

  /** A folder whose path is not the name of an endpoint has no page. */
  function linked(name) {
    const shown = el("span", { class: "mono" }, stile.visible(name));
    if (!stile.endpoint.isName(name)) return shown;
    return el("a", { href: `${state.base}/${name}`, "data-name": name, on: { click: (event) => (event.preventDefault(), stile.endpoint.open(name, { push: true })) } }, shown);
  }

  const unserved = (entry, signal) =>
    el("div", { class: "welcome", "data-part": "not-served", "data-name": entry.name },
      el("h1", { class: "mono" }, entry.name),
      el("p", { class: "notice bad" }, `It is not served until its problems are solved: ${entry.problems}.`),
      drawn(warnings, ["problems", "endpoints"], signal));

  const endpointList = (signal) =>
    el("div", { class: "welcome" },
      el("h1", null, "Endpoints"),
      state.endpoints.length ? null : el("p", { class: "quiet" }, "There is no endpoint yet. The folder that `stile dev` serves has none."),
      el("ul", { class: "cards" }, state.endpoints.map((each) =>
        el("li", null,
          linked(each.name),
          each.description ? stile.clamped(each.description, { class: "pre-line" }) : null,
          each.callers ? el("p", { class: "quiet" }, each.callers) : null,
          each.upstream ? el("code", null, each.upstream) : null,
          el("p", { class: "facts" }, each.served === false ? mark("not served", "destroys") : [mark("served", "reads"), mark(count(each.tools, "tool"))],
            each.problems ? mark(count(each.problems, "problem"), "destroys") : null, each.warnings ? mark(count(each.warnings, "warning"), "warns") : null,
            each.unset?.length ? mark(count(each.unset.length, "secret is not set", "secrets are not set"), "warns", each.unset.join("\n")) : null)))),
      drawn(calls, ["live"], signal));

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
