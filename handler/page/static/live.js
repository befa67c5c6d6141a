// What happens in dev: problems and reloads as files are saved, and the last calls, as the server sends them.
(() => {
  "use strict";
  const { el, state, on, emit, replace, place, units, json } = stile;
  const MAX_CALLS = 200;
  const MAX_SHOWN = 800; // characters of the arguments of a call

  const calls = []; // newest first
  const cleared = new Set(); // ids of calls that a new stream begins with again
  const own = new Map(); // id -> a call of this page: its arguments are known here alone
  let filter = "";
  let lists = false; // also lists, which each page and client asks for in number

  // The stream ----------------------------------------------------------------------------------------------------------------
  stile.stream.start({
    opened() {
      const wasLost = state.connection === "lost";
      calls.length = 0; // the stream begins with the last calls
      told("open");
      if (wasLost) reload();
    },
    lost: () => told("lost"),
    heard: (kind, value) => ({ call: added, problems, reload })[kind](value),
  });

  function told(connection) {
    if (state.connection === connection) return;
    if (connection === "lost" || state.connection === "lost") stile.say(connection === "lost" ? "Connection lost" : "Connected again");
    state.connection = connection;
    emit("connection", connection);
  }

  function added(call) {
    if (cleared.has(call.id)) return;
    const at = calls.findIndex((each) => each.id === call.id);
    if (at >= 0) calls.splice(at, 1);
    calls.unshift(call);
    calls.length = Math.min(calls.length, MAX_CALLS);
    emit("live", call);
  }

  /** Keep a call of this page. Outside of dev no server sends events of calls, so this is all that is known of them. */
  on("call", (outcome) => {
    const { answer, endpoint, tool, persona, args, at } = outcome;
    const id = answer?.callId ?? answer?.requestId ?? stile.id("call");
    const { words, kind } = stile.calls.summary(outcome);
    own.set(id, { endpoint, tool, args });
    if (own.size > MAX_CALLS) own.delete(own.keys().next().value);
    if (state.dev) emit("live");
    else added({ id, at, endpoint, tool: tool.name, caller: stile.personas.label(persona), outcome: kind === "good" ? "ok" : words.trim(), status: answer?.status, ms: answer?.ms, bytes: answer?.bytes });
  });

  function problems(found) {
    if ((found.since ?? "") !== state.since) reload(); // after a save that the page did not hear of, as nobody saw it
    state.problems = Array.isArray(found) ? found : found.problems ?? [];
    emit("problems");
  }

  /** A saved file: the list is read again, and forms keep what still fits. */
  const reload = stile.later(async () => {
    await stile.endpoint.refreshEndpoints().catch(() => {});
    const isThere = state.endpoints.some((each) => each.name === state.endpoint);
    emit("problems");
    stile.personas.reset({ stays: isThere });
    if (state.endpoint) await stile.endpoint.load({ fresh: isThere }); // of one that is gone, the answer says so
    stile.say("Reloaded after a save");
  }, 100);

  // Problems --------------------------------------------------------------------------------------------------------------------
  const isWarning = (each) => each.severity === "warning";
  const mine = () => state.problems.filter((each) => !state.endpoint || !each.endpoint || each.endpoint === state.endpoint)
    .toSorted((one, other) => isWarning(one) - isWarning(other));

  stile.panel({
    id: "problems", title: "Problems", place: "bottom", order: 10, when: () => state.dev,
    render(container, { signal }) {
      const draw = () => {
        const found = mine();
        replace(container, found.length ? el("ul", { class: "list-lines" }, found.map(problem)) : el("p", { class: "quiet pad" }, "No problems."));
      };
      for (const event of ["problems", "endpoints"]) on(event, draw, { signal });
      draw();
    },
  });

  const problem = (each) =>
    el("li", { "data-part": "problem", "data-severity": each.severity },
      stile.mark(isWarning(each) ? "warning" : "problem", isWarning(each) ? "warns" : "destroys"),
      el("p", null, each.message), each.code ? el("code", { class: "quiet" }, each.code) : null,
      place(each.place?.file, each.place?.line, each.place?.column), each.endpoint && !state.endpoint ? el("span", { class: "quiet" }, each.endpoint) : null);

  function badges() {
    const found = mine();
    const bad = found.filter((each) => !isWarning(each)).length;
    stile.badge("problems", found.length ? String(bad || found.length) : "", bad ? "bad" : "warn");
    const count = calls.filter((each) => !isList(each)).length;
    stile.badge("live", count ? String(count) : "");
  }
  for (const event of ["problems", "endpoints", "bottom", "live"]) on(event, badges);

  // Calls -------------------------------------------------------------------------------------------------------------------------
  stile.panel({
    id: "live", title: "Calls", place: "bottom", order: 20,
    render(container, { signal }) {
      const box = el("input", { type: "checkbox", checked: lists, on: { change: () => ((lists = box.checked), draw()) } });
      const list = el("div");
      const input = el("input", { type: "search", placeholder: "Filter: tool, caller, outcome…", "aria-label": "Filter the calls", "data-part": "live-filter", value: filter, on: { input: () => ((filter = input.value), draw()) } });
      const none = el("p", { class: "quiet pad" }, state.dev ? "No calls yet. Those of all clients appear here, also of an agent that runs elsewhere." : "No calls yet. Those of this page appear here.");
      replace(container, el("div", { class: "toolbar" }, input, state.dev ? el("label", { class: "row" }, box, "Lists too") : null, el("button", { type: "button", class: "small", on: { click: clear } }, "Clear")), list);
      const draw = () => {
        const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
        const found = calls.filter((each) => (lists || !isList(each)) && words.every((word) => searched(each).includes(word)));
        replace(list, calls.length ? table(found) : none);
      };
      on("live", stile.later(draw, 50), { signal });
      draw();
    },
  });

  function clear() {
    for (const each of calls.splice(0)) cleared.add(each.id);
    emit("live");
  }

  const searched = (each) => [each.tool, each.method, each.caller, each.outcome, each.reason, each.status, each.endpoint].join(" ").toLowerCase();
  const isList = (each) => /^(server\/discover|initialize|ping|completion\/complete|tasks\/get|.*\/list)$|^notifications\//.test(each.method ?? "") && each.outcome === "ok";
  const isFine = (each) => ["ok", "declined"].includes(each.outcome);

  const table = (found) =>
    el("table", { class: "grid calls" },
      el("thead", null, el("tr", null, ["Time", "Tool", "Caller", "Outcome", "Status", "ms", "Size", "Arguments"].map((each) => el("th", { scope: "col" }, each)))),
      el("tbody", null, found.map(row)));

  const row = (each) =>
    el("tr", { "data-part": "live-call", "data-name": each.tool },
      el("td", { class: "quiet" }, clock(each.at)),
      el("td", { class: "mono" }, el("button", { type: "button", class: "plain", on: { click: () => details(each) } }, each.tool || each.method || "request"), state.endpoint ? null : el("span", { class: "quiet" }, ` ${each.endpoint ?? ""}`)),
      el("td", null, each.caller || "author"),
      el("td", { class: `wrap ${isFine(each) ? "good" : "bad"}` }, [each.outcome, each.reason].filter(Boolean).join(": ")),
      el("td", null, String(each.status ?? "")), el("td", { class: "number" }, String(Math.round(each.ms ?? 0))), el("td", { class: "number" }, each.bytes ? units.bytes(each.bytes) : ""),
      el("td", { class: "wrap" }, again(own.get(each.id))));

  /** The arguments of a call of this page, and a button that calls again, as the caller that is chosen by then. */
  function again(call) {
    if (!call) return null;
    const words = json.stringify(call.args);
    return [
      call.endpoint === state.endpoint ? el("button", { type: "button", class: "small", "data-part": "call-again", "aria-label": `Call ${call.tool.name} again`, on: { click: () => stile.calls.again(call) } }, "Again") : null,
      " ", el("code", { title: words.slice(0, MAX_SHOWN) }, words.length > MAX_SHOWN / 10 ? `${words.slice(0, MAX_SHOWN / 10)}…` : words),
    ];
  }

  function clock(at) {
    const time = new Date(typeof at === "number" && at < 1e12 ? at * 1000 : at);
    return Number.isNaN(time.getTime()) ? String(at ?? "") : time.toLocaleTimeString("en-GB");
  }

  const details = (each) =>
    stile.dialog({ title: `${each.tool || each.method || "Request"}, ${clock(each.at)}`, wide: true, part: "call-dialog", body: [own.has(each.id) ? stile.calls.part("Arguments", json.stringify(own.get(each.id).args, "  ")) : null, state.dev ? [words(each), requests(each), logged(each)] : el("p", null, each.outcome)] });

  const words = (each) => (each.told ?? []).map((said) => el("p", { class: "notice warn pre-line" }, said));
  const logged = (each) => stile.calls.part("Log line", json.stringify(each.log ?? null, "  "));

  // Views of one call in the tool pane -----------------------------------------------------------------------------------------------
  function requests(each) {
    const sent = each.sent ?? [];
    if (!sent.length) return el("p", { class: "quiet" }, "Nothing was sent to the API.");
    return [
      sent.map((request, at) => el("section", { class: "section", "aria-label": `Request ${at + 1}` },
        el("p", { class: "outcome" }, el("strong", { class: "mono" }, request.method, " ", request.url), el("span", { class: "quiet" }, request.status ? `HTTP ${request.status}` : "no answer"), el("span", { class: "quiet" }, `${Math.round(request.ms ?? 0)} ms`)),
        request.said && !(request.status >= 200 && request.status < 300) ? el("p", { class: "notice pre-line" }, [request.said].flat().join("\n")) : null,
        request.document ? stile.calls.part("Document", request.document) : null,
        request.variables === null || request.variables === undefined ? null : stile.calls.part("Variables", typeof request.variables === "string" ? request.variables : json.stringify(request.variables, "  ")),
        Object.keys(request.headers ?? {}).length ? el("details", null, el("summary", null, "Headers"), el("pre", { class: "code", tabindex: "0" }, Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`).join("\n"))) : null,
        request.answer ? el("details", null, el("summary", null, "Answer of the API"), el("pre", { class: "code", tabindex: "0" }, stile.calls.pretty(typeof request.answer === "string" ? request.answer : json.stringify(request.answer)))) : null)),
      each.sentLeftOut ? el("p", { class: "quiet" }, `${each.sentLeftOut} further requests are not kept.`) : null,
    ];
  }

  /** The event of a call may come after its answer. */
  function follow(container, id, signal, draw) {
    const find = () => calls.find((each) => each.id === id);
    const show = () => {
      const found = find();
      if (found) replace(container, draw(found));
      return Boolean(found);
    };
    if (!id) return replace(container, el("p", { class: "quiet" }, "The answer names no call."));
    if (show()) return;
    replace(container, el("p", { class: "quiet" }, state.connection === "lost" ? "The connection is lost: the call is not known here." : "Waiting for the server's word of the call…"));
    const off = on("live", () => show() && off(), { signal });
  }

  const sent = (container, id, signal) => follow(container, id, signal, (each) => [words(each), requests(each)]);
  const log = (container, id, signal) => follow(container, id, signal, (each) => [words(each), logged(each)]);

  /** The cause of a failed call, with the address that was asked. */
  const cause = (container, id, signal) => follow(container, id, signal, (each) =>
    each.told?.length ? words(each) : (each.sent ?? []).slice(-1).map(({ method, url, status }) => el("p", { class: "quiet" }, `Asked: ${method} ${url}: ${status ? `HTTP ${status}` : "no answer"}`)));

  stile.live = Object.freeze({
    sent, log, cause, problem, table, problems: mine, calls: ({ lists: all = true } = {}) => calls.filter((each) => all || !isList(each)),
  });
})();
