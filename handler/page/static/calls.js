// A call of the open tool: the form, the request, its answer in tabs, and the questions to the user.
(() => {
  "use strict";
  const { el, state, on, emit, replace, json, units, mcp, runs } = stile;
  const kept = new Map(); // by endpoint and tool: the form's state and the last outcome, in memory only
  const MAX_RAW = 200_000; // characters of a raw text that a browser lays out at once
  const METHODS = { prompt: "prompts/get", resource: "resources/read", template: "resources/read" };

  const keyOf = (tool) => `${state.endpoint} ${tool.key}`;
  const schemaOf = (tool) => tool.schema ?? tool.entry?.inputSchema;

  stile.panel({
    id: "call", title: "Call", place: "tool", order: 10,
    render(container, { tool, signal }) {
      if (!tool.entry && !tool.schema) return replace(container, el("p", { class: "quiet" }, tool.usable ? "Loading the tool…" : "Nobody here gets the definition of this tool."));
      draw(container, tool, signal);
    },
  });

  function draw(container, tool, signal) {
    const memory = kept.get(keyOf(tool)) ?? {};
    kept.set(keyOf(tool), memory);
    const form = stile.forms.make(schemaOf(tool), { kept: memory.again ? { value: memory.again } : memory.form, changed: stile.later(() => (memory.form = form.state()), 100) });
    const area = el("div", { "data-part": "result", class: "result", hidden: true });
    const send = el("button", { type: "button", class: "primary", "data-part": "send", on: { click: run } }, { prompt: "Get", resource: "Read", template: "Read" }[tool.kind] ?? "Call");
    const cancel = el("button", { type: "button", "data-part": "cancel", hidden: true, on: { click: () => runs.find("call", tool)?.cancel() } }, "Cancel");
    const actions = el("div", { class: "actions" }, send, cancel, el("span", { class: "quiet" }, "as ", el("strong", null, stile.personas.label(state.persona))), el("span", { class: "grow" }), METHODS[tool.kind] ? null : stile.connect?.copies(tool, form));
    replace(container, form.node, actions, area);
    form.node.addEventListener("keydown", (event) => {
      const isLine = event.target.matches?.("input:not([type=checkbox], [type=radio])");
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey || isLine)) {
        event.preventDefault();
        run();
      }
    });
    signal.addEventListener("abort", () => (memory.form = form.state()));
    const going = runs.find("call", tool);
    const isAgain = Boolean(memory.again);
    delete memory.again;
    if (going) follow(going);
    else if (memory.outcome) show(memory.outcome);
    if (isAgain) goOn({});

    function run() {
      if (runs.find("call", tool)) return;
      const { value, errors } = form.read();
      if (errors) return;
      memory.form = form.state();
      const work = (signal, job) => mcp.call(METHODS[tool.kind] ?? "tools/call", paramsOf(tool, value), { signal, job, mirrored: mcp.mirrored(schemaOf(tool), value) });
      const started = runs.start("call", tool, { args: value, work });
      started.done.then((outcome) => ((memory.outcome = outcome), emit("call", outcome)));
      follow(started);
      stile.say("Waiting for the answer");
      cancel.focus({ preventScroll: true });
    }

    /** Wait for a call that this drawing of the tool began, or an earlier one. */
    async function follow(started) {
      busy(true, started.outcome);
      on("job", (outcome) => outcome === started.outcome && busy(true, outcome), { signal });
      const outcome = await started.done;
      if (signal.aborted) return;
      const isHere = [document.body, send, cancel].includes(document.activeElement); // and not in a search meanwhile
      busy(false);
      if (isHere) send.focus({ preventScroll: true });
      show(outcome, isHere);
    }

    function busy(isBusy, { task, endpoint, persona } = {}) {
      send.disabled = isBusy;
      cancel.hidden = !isBusy;
      cancel.textContent = task ? "Stop waiting" : "Cancel";
      container.setAttribute("aria-busy", String(isBusy));
      const words = task ? `${task.statusMessage ?? "The job goes on."} Asked every ${task.pollIntervalMs / 1000} s.` : "Waiting for the answer…";
      if (!isBusy || area.firstChild?.textContent === words) return; // the button keeps the focus
      area.hidden = false;
      replace(area, el("p", { class: "busy", "data-part": "busy" }, el("span", { class: "spinner", "aria-hidden": "true" }), words));
      if (!task) return;
      const stop = () => mcp.send("tasks/cancel", { taskId: task.taskId }, { endpoint, persona }).then(({ error }) => stile.say(error?.message ?? "Sent"));
      const starter = state.tools.find(({ name }) => task.taskId.endsWith(`.${name}`)); // of a call through the catalog, too
      area.append(starter?.cancels === false ? el("p", { class: "quiet" }, "The API has no cancellation of this job.") : el("button", { type: "button", "data-part": "cancel-job", on: { click: stop } }, "Cancel the job"));
    }

    function show(outcome, mayFocus = false) {
      area.hidden = false;
      const isNew = outcome !== memory.said;
      memory.said = outcome;
      const said = summary(outcome);
      const goOnFrom = (next) => goOn({ ...outcome.args, ...next });
      replace(area, el("div", { class: "outcome", "data-part": "outcome" }, said.node), outcome.answer ? tabsOf(outcome, memory, goOnFrom, signal) : null);
      if (!isNew) return;
      stile.say(said.words);
      area.firstChild.scrollIntoView({ block: "nearest" });
      const message = outcome.answer?.result?.isError ? textOf(outcome.answer.result) : outcome.answer?.error?.message ?? "";
      if (message) form.flagServer(String(message), { mayFocus });
    }

    /** Fill in arguments, and call a tool that changes nothing. A person sends what may change something. */
    function goOn(next) {
      form.write({ ...form.draft(), ...next });
      send.focus();
      if (METHODS[tool.kind] || tool.entry?.annotations?.readOnlyHint === true) run();
      else stile.say("The arguments are filled in");
    }
  }

  /** Open the tool of an earlier call with its arguments, and call it again. */
  function again({ tool, args }) {
    const isGraphQL = tool.kind === "graphql";
    if (isGraphQL) stile.graphql.recall(tool, args);
    else kept.set(keyOf(tool), { ...kept.get(keyOf(tool)), again: args });
    stile.endpoint.openTool(tool.key);
    stile.openPanel(isGraphQL ? "graphql" : "call");
  }

  function paramsOf(tool, value) {
    if (tool.kind === "resource") return { uri: tool.entry.uri };
    if (tool.kind === "template") return { uri: expanded(String(tool.entry.uriTemplate), value) };
    return { name: tool.name, arguments: value };
  }

  /** Source: RFC 6570, level 1, and reserved expansion. */
  const expanded = (template, values) =>
    template.replace(/\{([+#]?)[./;?&]?([\w.]+)\*?\}/g, (_, raw, name) => (raw ? encodeURI : encodeURIComponent)(String(values[name] ?? "")));

  const textOf = (result) => (Array.isArray(result?.content) ? result.content.filter((each) => each?.type === "text").map((each) => String(each.text)).join("\n") : "");

  // The outcome in a line ---------------------------------------------------------------------------------------------------
  function summary({ answer, failure, persona }) {
    const [words, kind, more] = verdict(answer, failure);
    const facts = answer ? [`${Math.round(answer.ms)} ms`, units.bytes(answer.bytes), answer.rounds > 1 ? `${answer.rounds} requests` : "", `HTTP ${answer.status}`] : [];
    const code = answer?.result?._meta?.["stile/code"] ?? answer?.error?.data?.code ?? answer?.refused?.code;
    const node = [
      el("strong", { class: kind }, words), facts.filter(Boolean).map((each) => el("span", { class: "quiet" }, each)),
      typeof code === "string" ? el("code", { title: "The stable code of the error" }, code) : null,
      el("span", { class: "quiet" }, `as ${stile.personas.label(persona)}`),
      more ? el("p", { class: "notice bad" }, more) : null,
    ];
    return { node, kind, words: `${words}. ${more ?? ""}` };
  }

  function verdict(answer, failure) {
    if (failure) return ["Not answered", "bad", failure];
    if (answer.result?.taskId) return [`The job is ${answer.result.status}`, "bad", answer.result.statusMessage];
    if (answer.result?.isError) return ["The tool reports an error", "bad", null];
    if (answer.result?.resultType === "input_required") return ["The server asks for more", "warn", "The call was not answered to its end."];
    if (answer.result) return ["Done", "good", null];
    if (answer.error) return [`JSON-RPC error ${answer.error.code ?? ""}`, "bad", [answer.error.message, answer.status === 401 || answer.status === 403 ? stile.results.advice(answer) : ""].filter(Boolean).join(" ")];
    return [`HTTP ${answer.status}`, "bad", stile.results.advice(answer)];
  }

  // Tabs of an answer ---------------------------------------------------------------------------------------------------------
  function tabsOf(outcome, memory, goOn, signal) {
    const { answer } = outcome;
    const cause = el("div", { class: "section", "data-part": "cause" });
    const isFailed = state.dev && !(answer.result && !answer.result.isError);
    if (isFailed) stile.live.cause(cause, answer.callId, signal);
    const made = [
      { id: "result", title: "Result", render: (container) => replace(container, people(outcome, goOn), isFailed ? cause : null) },
      { id: "model", title: "As the model reads it", render: (container) => replace(container, model(answer), isFailed ? cause : null) },
    ];
    if (state.dev) {
      made.push(
        { id: "sent", title: "Sent to the API", render: (container) => stile.live.sent(container, answer.callId, signal) },
        { id: "log", title: "Log line", render: (container) => stile.live.log(container, answer.callId, signal) },
      );
    }
    made.push({ id: "wire", title: "JSON-RPC", render: (container) => replace(container, wire(answer)) });
    return stile.tabs({ label: "Views of the answer", part: "result-tabs", selected: memory.tab, onselect: (id) => (memory.tab = id), tabs: made }).node;
  }

  function people({ answer, args, tool }, goOn) {
    const notes = answer.events.map((each) => el("p", { class: "quiet" }, noted(each)));
    if (answer.result) return [notes, stile.results.result(answer.result, { goOn, next: (field, cursor) => nextPage(schemaOf(tool), args, field, cursor) })];
    if (answer.error) return [notes, el("p", null, String(answer.error.message)), answer.error.data === undefined ? null : stile.results.shown(answer.error.data)];
    return [notes, stile.results.shown(answer.refused)];
  }

  /** Return the arguments for the page after a cursor: in the only argument for cursors, or in that with the name of the
   * connection; null if there is none. */
  function nextPage(schema, args, field, cursor) {
    const { variables } = schema?.properties ?? {};
    if (variables?.properties) {
      const inner = nextPage(variables, args.variables, field, cursor);
      return inner && { variables: { ...args.variables, ...inner } };
    }
    const names = Object.keys(schema?.properties ?? {}).filter((name) => /after|cursor/i.test(name) && !/before/i.test(name));
    const name = names.length === 1 ? names[0] : names.find((each) => each.toLowerCase().startsWith(field.toLowerCase()));
    return name === undefined ? null : { [name]: cursor };
  }

  const noted = ({ method, params = {} }) =>
    method === "notifications/progress" ? `Progress ${params.progress}${params.total === undefined ? "" : ` of ${params.total}`} ${params.message ?? ""}` : `${params.level ?? method}: ${typeof params.data === "string" ? params.data : json.stringify(params.data ?? params)}`;

  /** The text and the structured content, as they stand in the answer: hosts show a model the one or the other. */
  function model(answer) {
    const { result, error, refused } = answer;
    if (!result) return [el("p", { class: "quiet" }, "Most hosts show a model the message of an error."), part("Message", String(error?.message ?? json.stringify(refused ?? "")))];
    const content = Array.isArray(result.content) ? result.content : [];
    const blocks = content.map((each, at) => part(content.length > 1 ? `Content ${at + 1}: ${each?.type}` : `Content: ${each?.type}`, each?.type === "text" ? String(each.text) : json.stringify(each, "  ")));
    const structured = result.structuredContent === undefined ? null : part("structuredContent", json.stringify(result.structuredContent));
    const rest = !content.length && !structured ? part("Result", json.stringify(result, "  ")) : null;
    return [result.isError ? el("p", { class: "quiet" }, "Marked as an error (isError).") : null, blocks, structured, rest];
  }

  function part(title, text) {
    return el("div", { class: "section" },
      el("h2", null, title, el("span", { class: "quiet" }, ` · ~${units.number(units.tokens(text))} tokens · ${units.bytes(new TextEncoder().encode(text).length)} `), stile.copyButton(text)),
      el("pre", { class: "code", tabindex: "0", "aria-label": title, "data-part": "raw" }, stile.results.longText(text, MAX_RAW)));
  }

  const wire = (answer) => [part("Request", pretty(answer.sent.body)), part("Answer", pretty(answer.text ?? answer.raw))];

  function pretty(text) {
    try {
      return json.stringify(json.parse(text), "  ");
    } catch {
      return text;
    }
  }

  on("endpoint", () => kept.size > 200 && kept.clear());
  stile.calls = Object.freeze({ again, part, pretty, summary, tabsOf });
})();
