// As whom: the persona of each request, pasted credentials (in memory only), tools side by side, and `why?`.
(() => {
  "use strict";
  const { el, state, on, emit, replace, place } = stile;

  const ANONYMOUS = Object.freeze({ id: "anonymous", label: "anonymous", kind: "anonymous" });
  const AS_IT_COMES = Object.freeze({ ...ANONYMOUS, real: true }); // no routes of dev know this caller
  const pasted = []; // personas of this page; the secrets are here and nowhere else
  let secretCount = 0;

  /** Choose the personas of an endpoint: those of dev, or anonymous; and what was pasted at this endpoint, since another
   * endpoint must not get the credential. `stays`: a persona that is gone stays chosen, and nobody becomes the author. */
  function reset({ stays = false } = {}) {
    const told = state.dev ? state.endpoints.find((each) => each.name === state.endpoint)?.personas ?? [] : [];
    state.personas = [...(told.length ? told : [state.dev ? AS_IT_COMES : ANONYMOUS]), ...pasted.filter((each) => each.endpoint === state.endpoint)];
    if (state.dev && !state.endpoint) state.persona = null; // personas are those of an endpoint
    let same = state.personas.find((each) => each.id === state.persona?.id);
    if (stays && !same && state.persona) state.personas.push((same = { ...state.persona, refused: "it is not there any more" }));
    state.persona = same ?? (state.dev && !state.endpoint ? null : state.personas[0]);
    state.credential = state.persona?.secret ?? null;
    emit("personas");
  }

  function choose(id) {
    const found = state.personas.find((each) => each.id === id);
    if (!found || found === state.persona) return;
    state.persona = found;
    state.credential = found.secret ?? null;
    stile.say(`Now as ${label(found)}`);
    emit("persona", found);
  }

  /** Return the headers of a request by a persona. A secret goes into its own header, and into nothing else. */
  function headers(persona) {
    const secret = persona?.secret;
    if (secret?.kind === "token") return { authorization: `Bearer ${secret.value}` };
    if (secret?.kind === "key") return { "x-api-key": secret.value };
    return state.dev && persona && !persona.real ? { "stile-caller": persona.id } : {};
  }

  const label = (persona) => persona?.label || persona?.id || "author";

  // The picker --------------------------------------------------------------------------------------------------------------
  const WORDS = { author: "skips policies", anonymous: "no credential", claims: "claims", key: "API key", token: "pasted token", "pasted-key": "pasted API key" };

  function picker() {
    const select = el("select", { "data-part": "persona", id: "persona", "aria-label": "See as", on: { change: () => choose(select.value) } },
      state.personas.map((each) => el("option", { value: each.id, disabled: false }, stile.visible(`${label(each)}${each.refused ? " (refused)" : ""}`))));
    select.value = state.persona?.id ?? "";
    const kind = state.persona?.secret ? "pasted" : state.persona?.kind ?? "";
    return el("div", { class: `persona is-${kind}`, "data-part": "persona-mark", title: state.note || null },
      el("span", { class: "persona-kind", "aria-hidden": "true" }, "See as"), select,
      el("span", { class: "quiet persona-kind" }, WORDS[state.persona?.secret?.shown ?? state.persona?.kind] ?? ""),
      state.persona?.secret ? el("button", { type: "button", class: "small", on: { click: forget } }, "Forget") : null,
      el("button", { type: "button", class: "small", "data-part": "credential", on: { click: paste } }, "Credential…"));
  }

  async function paste() {
    const kind = el("select", { id: "credential-kind" }, el("option", { value: "token" }, "Token (Authorization: Bearer)"), el("option", { value: "key" }, "API key (X-API-Key)"));
    const field = el("input", { id: "credential-value", type: "password", autocomplete: "off", spellcheck: "false", class: "mono" });
    const problem = el("p", { class: "bad", role: "alert" });
    const value = () => field.value.trim().replace(/^Bearer\s+/i, "");
    const check = () => {
      const fits = /^[\x21-\x7e]+$/.test(value());
      replace(problem, fits ? "" : "Expected a token or key: visible ASCII characters without spaces.");
      return fits;
    };
    const closed = await stile.dialog({
      title: "Call with a credential", part: "credential-dialog",
      body: [
        el("p", null, "The credential is sent to this endpoint only. It stays in this page's memory, and is gone when the page is reloaded."),
        el("label", { for: "credential-kind" }, "Kind"), kind, el("label", { for: "credential-value" }, "Token or key"), field, problem,
      ],
      buttons: [{ label: "Cancel", value: "" }, { label: "Use it", value: "use", primary: true, check }],
    });
    const secret = value();
    field.value = "";
    if (closed === "use") keep(kind.value, secret);
  }

  function keep(kind, value) {
    secretCount += 1;
    const persona = { id: `pasted-${secretCount}`, label: `${kind === "token" ? "token" : "API key"} ${secretCount}`, kind: "pasted", endpoint: state.endpoint };
    // Not enumerable, so that nothing that prints a persona prints its secret.
    Object.defineProperty(persona, "secret", { value: Object.freeze({ kind, value, shown: kind === "token" ? "token" : "pasted-key" }) });
    pasted.push(persona);
    state.personas = [...state.personas, persona];
    emit("personas");
    choose(persona.id);
  }

  function forget() {
    pasted.splice(pasted.indexOf(state.persona), 1);
    state.persona = null;
    reset();
    emit("persona", state.persona);
  }

  // Why ---------------------------------------------------------------------------------------------------------------------
  /** Tell if `why?` has an answer: the server knows the personas of dev, and nothing of a real credential. */
  const explains = (persona = state.persona) => Boolean(state.dev && persona && !persona.secret && !persona.real);

  /** Show why the persona lacks a tool or a field: `why({tool})`, `why({field, persona})`. */
  async function why({ tool, field, persona = state.persona }) {
    const body = el("div", { "aria-busy": "true" }, "Loading…");
    const shown = stile.dialog({ title: `Why does ${label(persona)} lack ${tool ?? field}?`, body, part: "why-dialog", wide: true });
    try {
      const { reasons = [] } = await stile.dev("why", { endpoint: state.endpoint, caller: persona.id, tool, field });
      replace(body, reasons.length
        ? [reasons.some((each) => each.coordinates) ? el("p", null, `${label(persona)} needs each of these parts, and does not meet the rule behind it:`) : null, el("ol", { class: "reasons" }, reasons.map((each) => el("li", null,
            el("p", { class: "pre-line" }, each.text),
            each.rule && !String(each.text).includes(each.rule) ? el("p", null, el("code", null, each.rule)) : null,
            place(each.file, each.line, each.column))))]
        : el("p", null, "There is no reason: this caller has it."));
    } catch (error) {
      replace(body, el("p", { class: "bad" }, error.message));
    }
    body.removeAttribute("aria-busy");
    await shown;
  }

  // Side by side ------------------------------------------------------------------------------------------------------------
  stile.panel({
    id: "personas", title: "Side by side", place: "bottom", order: 30,
    render(container, { signal }) {
      if (!state.endpoint) return replace(container, el("p", { class: "quiet pad" }, "Open an endpoint first."));
      replace(container, el("p", { class: "quiet pad" }, "Loading…"));
      const draw = () => compare(container, signal).catch((error) => !signal.aborted && replace(container, el("p", { class: "bad pad" }, error.message)));
      on("tools", draw, { signal });
      draw();
    },
  });

  async function compare(container, signal) {
    const { endpoint, personas } = state;
    const columns = await Promise.all(personas.map((each) => toolsOf(each, endpoint, signal).catch((error) => ({ failed: error.message, names: new Set() }))));
    if (signal.aborted) return;
    const names = [...new Set([...columns.flatMap((each) => [...each.names]), ...state.tools.filter((each) => each.key.startsWith("tool:")).map((each) => each.name)])];
    replace(container, el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Tools of each persona" },
      el("table", { class: "grid side-by-side", "data-part": "personas-table" },
        el("thead", null, el("tr", null, el("th", { scope: "col" }, "Tool"), personas.map((each, at) => el("th", { scope: "col", class: each === state.persona ? "is-current" : null },
          el("button", { type: "button", class: "plain", on: { click: () => choose(each.id) } }, label(each)), columns[at].failed ? el("span", { class: "bad cell-note" }, columns[at].failed) : el("span", { class: "quiet cell-note" }, `${columns[at].names.size}`))))),
        el("tbody", null, names.map((name) => el("tr", null,
          el("th", { scope: "row" }, el("button", { type: "button", class: "plain mono", on: { click: () => stile.endpoint.openTool(`tool:${name}`) } }, name)),
          personas.map((each, at) => cell(name, each, columns[at]))))))));
  }

  function cell(name, persona, { names, failed }) {
    if (names.has(name)) return el("td", { class: "has" }, el("span", { "aria-hidden": "true" }, "●"), el("span", { class: "visually-hidden" }, "yes"));
    const asks = explains(persona);
    return el("td", { class: "hasnt" }, asks ? el("button", { type: "button", class: "plain", "aria-label": `Why does ${label(persona)} lack ${name}?`, on: { click: () => why({ tool: name, persona }) } }, "why?") : "–");
  }

  async function toolsOf(persona, endpoint, signal) {
    if (explains(persona)) {
      const { tools = [] } = await stile.dev("tools", { endpoint, caller: persona.id }, { signal });
      return { names: new Set(tools.filter((each) => each.usable).map((each) => each.name)), failed: persona.refused || "" };
    }
    const answer = await stile.mcp.list("tools/list", "tools", { persona, endpoint, signal });
    if (!answer.result) return { names: new Set(), failed: `HTTP ${answer.status}` };
    return { names: new Set(answer.entries.map((each) => each.name)), failed: "" };
  }

  stile.personas = Object.freeze({ reset, choose, headers, picker, paste, why, explains, label });
})();
