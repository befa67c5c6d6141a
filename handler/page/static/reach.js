// Reach: search for a part of the schema, see which personas reach it through which tools by which way and by which rule
// they do not. In dev alone: elsewhere the page has no personas to compare.
(() => {
  "use strict";
  const { el, state, on, replace, place, mark, later } = stile;

  const MOST_CHARS = 200;
  let wanted = ""; // stays when the panel is drawn again

  stile.panel({
    id: "reach", title: "Reach", place: "bottom", order: 40,
    when: () => state.dev,
    render(container, { signal }) {
      if (!state.endpoint) return replace(container, el("p", { class: "quiet pad" }, "Open an endpoint first."));
      draw(container, signal);
    },
  });

  function draw(container, signal) {
    let asked = new AbortController();
    signal.addEventListener("abort", () => asked.abort());
    const results = el("div", { class: "reach-results", "data-part": "reach-results", "aria-live": "polite" });
    const search = el("input", {
      type: "search", id: "reach-search", placeholder: "Type.field, a type or a part of a name", value: wanted, class: "mono",
      autocomplete: "off", spellcheck: "false", maxlength: MOST_CHARS, "data-part": "reach-search",
      on: {
        input: () => look(search.value),
        keydown: (event) => event.key === "Escape" && search.value && (event.stopPropagation(), (search.value = ""), look("")),
      },
    });
    replace(container, el("div", { class: "pad reach", "data-part": "reach" },
      el("form", { class: "reach-bar", role: "search", on: { submit: (event) => (event.preventDefault(), show(search.value)) } },
        el("label", { for: "reach-search" }, "Who reaches"), search),
      results));
    const look = later((text) => show(text), 250);

    async function show(text) {
      wanted = text.trim();
      asked.abort();
      asked = new AbortController();
      const { signal: own } = asked;
      if (!wanted) return replace(results, hint());
      results.setAttribute("aria-busy", "true");
      try {
        const found = await stile.dev("reach", { endpoint: state.endpoint, field: wanted }, { signal: own });
        if (!own.aborted) replace(results, matches(found, choose), found.field ? details(found) : null);
      } catch (error) {
        if (!own.aborted) replace(results, el("p", { class: "bad" }, error.message));
      } finally {
        if (!own.aborted) results.removeAttribute("aria-busy");
      }
    }

    function choose(coordinate) {
      search.value = coordinate;
      show(coordinate);
      search.focus();
    }

    on("tools", (detail) => detail?.fresh && show(search.value), { signal });
    show(wanted);
    showing = (coordinate) => choose(coordinate);
  }
  let showing = null;

  const hint = () => el("p", { class: "quiet" }, "Search for a field, such as salary or Employee.salary. Every persona is shown: the tools and the way by which it reaches the field, or the rule that hides it.");

  // The list of matches -----------------------------------------------------------------------------------------------------
  function matches({ field, matches: found = [], more = 0, note }, choose) {
    const others = found.filter((each) => each.coordinate !== field);
    if (!others.length) return field ? null : el("p", { class: "quiet", "data-part": "reach-none" }, note || "Nothing in the schema has this name.");
    const list = el("ul", { class: "reach-matches", "data-part": "reach-matches" },
      others.map((each, at) => el("li", null,
        el("button", { type: "button", class: "plain mono", tabindex: at ? "-1" : "0", "data-coordinate": each.coordinate, on: { click: () => choose(each.coordinate) } },
          each.coordinate, each.type ? el("span", { class: "quiet" }, `: ${each.type}`) : null),
        " ", el("span", { class: "quiet" }, each.coordinate.includes(".") ? "" : each.kind))));
    stile.roving(list, () => [...list.querySelectorAll("button")]);
    const all = others.length + more;
    const body = [list, more ? el("p", { class: "quiet" }, `and ${stile.units.number(more)} more`) : null];
    return el("details", { open: !field }, el("summary", null, `${stile.units.number(all)} ${all === 1 ? "match" : "matches"}`), body);
  }

  // Who reaches one part --------------------------------------------------------------------------------------------------
  function details(found) {
    const { field, personas = [] } = found;
    return el("section", { "aria-label": `Who reaches ${field}`, "data-part": "reach-field", "data-field": field },
      el("h2", { class: "mono" }, field),
      el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Personas who reach ${field}` },
        el("table", { class: "grid reach-table", "data-part": "reach-table" },
          el("thead", null, el("tr", null, ["Persona", "Reaches it", "Through", "Hidden by"].map((each) => el("th", { scope: "col" }, each)))),
          el("tbody", null, personas.map(row)))));
  }

  function row(persona) {
    const isHere = persona.id === state.persona?.id;
    return el("tr", { "data-persona": persona.id, "data-reached": String(persona.reached), class: isHere ? "is-current" : null },
      el("th", { scope: "row" }, el("button", { type: "button", class: "plain", on: { click: () => stile.personas.choose(persona.id) } }, persona.label)),
      el("td", null, persona.refused ? mark("401", "destroys", persona.refused) : persona.reached ? mark("yes", "reads") : mark("no", "destroys")),
      el("td", null, persona.through.length ? el("ul", { class: "plain-list" }, persona.through.map(through)) : "–"),
      el("td", null, persona.reasons.length ? el("ul", { class: "plain-list", "data-part": "reach-reasons" }, persona.reasons.map(reason)) : "–"));
  }

  const VERDICTS = { call: "the variables decide", "may ask": "may ask for it", refused: "each call is refused", 401: "401", 403: "403" };

  function through(each) {
    const isTool = state.tools.some((tool) => tool.key === `tool:${each.tool}`);
    const way = each.path || each.document;
    return el("li", null,
      isTool
        ? el("button", { type: "button", class: "plain mono", "data-part": "reach-tool", on: { click: () => stile.endpoint.openTool(`tool:${each.tool}`) } }, each.tool)
        : el("span", { class: "mono" }, each.tool),
      VERDICTS[each.verdict] ? [" ", mark(VERDICTS[each.verdict], "", each.note || null)] : null,
      " ", place(each.file, each.line),
      way ? el("div", { class: "mono quiet way", "data-part": "reach-way", title: each.document || null }, way) : null);
  }

  const reason = (each) => el("li", null, el("span", { class: "pre-line" }, each.text), " ", place(each.file, each.line, each.column));

  /** Open the panel at a part of the schema. */
  function reach(coordinate) {
    wanted = coordinate;
    stile.openPanel("reach");
    showing?.(coordinate);
  }

  stile.reach = Object.freeze({ show: reach });
})();
