// The editor of a GraphQL tool: a frame with the vendored editor, the documentation beside it, and runs by the real call
// of the tool, so that a refusal is read here as a model reads it. The frame is made when the tab is opened.
(() => {
  "use strict";
  const { el, state, on, emit, replace, runs } = stile;

  const PATH = "/editor.html";
  const MOST_WHYS = 5;
  const kept = new Map(); // endpoint and tool -> {document, variables, outcome}: in memory, for this page

  stile.panel({
    id: "graphql", title: "Editor", place: "tool", order: 20,
    when: (tool) => tool.kind === "graphql" && tool.usable,
    render: (container, context) => new Workbench(container, context).start(),
  });

  class Workbench {
    constructor(container, { tool, signal }) {
      const key = `${state.endpoint} ${tool.key}`;
      if (!kept.has(key)) kept.set(key, { document: "", variables: "" });
      Object.assign(this, { container, tool, signal, texts: kept.get(key), port: null, operations: [] });
      this.view = new stile.ToolView(tool, { signal });
      this.docs = stile.graphqlDocs(this.view, { onread: () => this.sendSchema(), oninsert: (kind, field) => this.insert(kind, field), signal });
      signal.addEventListener("abort", () => this.port?.close());
    }

    start() {
      this.status = el("span", { class: "quiet", role: "status", "data-part": "schema-status" }, "Loading the schema…");
      this.operation = el("select", { "aria-label": "Operation to run", "data-part": "operation", hidden: true });
      this.send = el("button", { type: "button", class: "primary", "data-part": "run", title: "Ctrl+Enter in the editor", on: { click: () => this.run() } }, "Run");
      this.cancel = el("button", { type: "button", "data-part": "cancel-run", hidden: true, on: { click: () => runs.find("graphql", this.tool)?.cancel() } }, "Cancel");
      this.result = el("div", { class: "graphql-result", "data-part": "graphql-result" });
      this.frame = el("iframe", {
        title: `GraphQL editor of ${this.tool.name}`, sandbox: "allow-scripts", referrerpolicy: "no-referrer",
        src: `${state.base}${PATH}`, "data-part": "editor-frame",
      });
      replace(this.container, el("div", { class: "graphql", "data-part": "graphql" },
        el("div", { class: "graphql-bar" }, this.send, this.cancel, this.operation,
          el("button", { type: "button", "data-part": "format", on: { click: () => this.tell("format") } }, "Format"),
          this.status),
        el("div", { class: "graphql-panes" }, this.frame, this.docs.node),
        this.result));
      const going = runs.find("graphql", this.tool);
      const { isAgain } = this.texts;
      this.texts.isAgain = false;
      if (going) this.follow(going);
      else if (isAgain) this.run();
      else if (this.texts.outcome) this.show(this.texts.outcome, { isNew: false });
      window.addEventListener("message", (event) => this.greet(event), { signal: this.signal });
      on("theme", () => this.sendTheme(), { signal: this.signal });
      matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.sendTheme(), { signal: this.signal });
      this.load();
    }

    // Messages: the frame has an opaque origin, and after its first message a port of its own --------------------------------
    greet(event) {
      if (event.source !== this.frame.contentWindow || event.origin !== "null" || this.port) return;
      if (event.data?.stile !== "editor-ready") return;
      const { port1, port2 } = new MessageChannel();
      this.port = port1;
      port1.onmessage = ({ data }) => this.hear(data);
      this.frame.contentWindow.postMessage({ stile: "editor-port" }, "*", [port2]); // an opaque origin has no name
      this.sendTheme();
      this.tell("texts", { document: this.texts.document, variables: this.texts.variables });
      this.sendSchema();
      this.frame.dataset.ready = "true";
    }

    hear(message) {
      if (this.signal.aborted || typeof message?.document !== "string" || typeof message.variables !== "string") return;
      Object.assign(this.texts, { document: message.document, variables: message.variables });
      this.drawOperations(Array.isArray(message.operations) ? message.operations.map(String) : []);
      switch (message.kind) {
        case "run":
          return this.run();
        case "types":
          return this.readTypes(Array.isArray(message.names) ? message.names.map(String) : []);
        case "schema":
          return (this.frame.dataset.types = String(Number(message.types) || 0));
        case "docs":
          return this.showDocs(message);
        case "unformatted":
          return replace(this.status, `Not formatted: ${String(message.reason).slice(0, 100)}.`);
      }
    }

    tell(kind, more = {}) {
      this.port?.postMessage({ kind, ...more });
    }

    sendTheme() {
      const chosen = document.documentElement.dataset.theme;
      const dark = matchMedia("(prefers-color-scheme: dark)").matches;
      this.tell("theme", { theme: ["light", "dark"].includes(chosen) ? chosen : dark ? "dark" : "light" });
    }

    sendSchema() {
      if (this.view.head && this.port) this.tell("schema", this.view.introspection());
    }

    showDocs({ field, type, parent }) {
      const name = parent && field ? `${parent}.${field}` : type ?? parent;
      if (typeof name === "string") this.docs.show(name.replace(/[[\]!]/g, ""));
    }

    // The schema ------------------------------------------------------------------------------------------------------------
    async load() {
      try {
        await this.view.load();
      } catch (error) {
        if (!this.signal.aborted) replace(this.status, `No schema: ${error.message}`);
        return;
      }
      if (this.signal.aborted) return;
      this.told();
      this.sendSchema();
      this.docs.draw();
      const first = stile.graphqlSamples.firstField(this.view);
      if (first && !this.texts.document.trim()) this.insert("query", first, { isFirst: true });
    }

    /** Put a first valid query of a root field into the editor, where its undo brings back what was there. */
    async insert(kind, field, { isFirst = false } = {}) {
      const made = await stile.graphqlSamples.sample(this.view, kind, field).catch(() => null);
      if (!made || this.signal.aborted || (isFirst && this.texts.document.trim())) return;
      Object.assign(this.texts, made);
      this.tell("texts", made);
      if (!isFirst) this.tell("focus");
    }

    told() {
      const count = stile.units.number([...this.view.types.keys()].filter((name) => !/^(__.*|Boolean|Float|ID|Int|String)$/.test(name)).length);
      const types = `${count} ${count === "1" ? "type" : "types"}`;
      replace(this.status, this.view.whole ? types : `Large schema: ${types} read, more as you type`);
    }

    async readTypes(names) {
      try {
        if (!(await this.view.read(names)) || this.signal.aborted) return;
      } catch (error) {
        if (!this.signal.aborted) replace(this.status, error.message);
        return;
      }
      this.told();
      this.sendSchema();
    }

    // Runs ------------------------------------------------------------------------------------------------------------------
    drawOperations(names) {
      if (names.join() === this.operations.join()) return;
      this.operations = names;
      const before = this.operation.value;
      replace(this.operation, names.map((name) => el("option", { value: name }, name || "(without a name)")));
      if (names.includes(before)) this.operation.value = before;
      this.operation.hidden = names.length < 2;
    }

    /** Return the arguments of the call, or the problem of the variables as a text. */
    arguments() {
      const { document: query, variables: typed } = this.texts;
      const chosen = this.operations.length > 1 ? { operationName: this.operation.value } : {};
      if (!typed.trim()) return { query, ...chosen };
      let variables;
      try {
        variables = (stile.json ?? JSON).parse(typed);
      } catch (error) {
        return `The variables are not valid JSON: ${error.message}`;
      }
      const isObject = typeof variables === "object" && variables !== null && !Array.isArray(variables);
      return isObject ? { query, ...chosen, variables } : "The variables are not a JSON object.";
    }

    run() {
      if (runs.find("graphql", this.tool) || !this.texts.document.trim()) return;
      const given = this.arguments();
      if (typeof given === "string") return replace(this.result, el("p", { class: "bad pad", role: "alert" }, given));
      const { texts, tool } = this;
      const work = (signal) => stile.mcp.call("tools/call", { name: tool.name, arguments: given }, { signal });
      const started = runs.start("graphql", tool, { args: given, work });
      started.done.then((outcome) => {
        texts.outcome = outcome;
        emit("call", outcome);
      });
      this.follow(started);
    }

    /** Wait for a run that this drawing of the tool began, or an earlier one. */
    async follow(started) {
      this.busy(true);
      const outcome = await started.done;
      if (this.signal.aborted) return;
      this.busy(false);
      this.show(outcome);
    }

    busy(isBusy) {
      this.send.disabled = isBusy;
      this.cancel.hidden = !isBusy;
      if (isBusy) replace(this.result, el("p", { class: "quiet pad" }, "Running…"));
    }

    show(outcome, { isNew = true } = {}) {
      const { answer } = outcome;
      const said = stile.calls.summary(outcome);
      const refused = answer ? refusalOf(answer) : "";
      const whys = el("div", { class: "whys", "data-part": "whys" });
      const chosen = { tab: refused ? "model" : "result" }; // a refusal first as a model reads it
      replace(this.result,
        el("div", { class: "outcome", "data-part": "graphql-outcome", "data-refused": String(Boolean(refused)) }, said.node), whys,
        answer ? stile.calls.tabsOf(outcome, chosen, null, this.signal) : null);
      if (refused) this.offerWhys(refused, whys);
      if (!isNew) return;
      stile.say(refused ? `Refused: ${refused.slice(0, 200)}` : said.words);
      this.result.scrollIntoView({ block: "nearest" });
    }

    /** Offer `why?` for each part that the refusal says not to exist, and that a rule or pattern hides from the caller. */
    async offerWhys(refused, container) {
      if (!state.dev || state.persona?.secret) return;
      for (const field of coordinatesIn(refused).slice(0, MOST_WHYS)) {
        const told = await stile.dev("reach", { endpoint: state.endpoint, field }, { signal: this.signal }).catch(() => null);
        if (this.signal.aborted) return;
        if (told?.field !== field) continue; // the author's schema does not have it
        container.append(el("button", { type: "button", class: "small", "data-part": "why-field", "data-field": field, on: { click: () => stile.personas.why({ field }) } }, `${field}: why?`));
      }
    }
  }

  const textsOf = (result) => (Array.isArray(result?.content) ? result.content.filter((each) => each?.type === "text").map((each) => String(each.text)) : []);

  /** Return the sentences of a refusal; `""` if the tool answered. */
  function refusalOf(answer) {
    if (answer.error) return String(answer.error.message ?? "error");
    if (!answer.result) return `HTTP ${answer.status}`;
    return answer.result.isError ? textsOf(answer.result).join("\n") || "refused" : "";
  }

  // The sentences of graphql-core, as a refusal quotes them, and the coordinates that they name.
  const SENTENCES = [
    [/Cannot query field ['"]([\w]+)['"] on type ['"](\w+)['"]/g, (found) => `${found[2]}.${found[1]}`],
    [/Unknown argument ['"](\w+)['"] on field ['"](\w+\.\w+)['"]/g, (found) => `${found[2]}(${found[1]}:)`],
    [/Field ['"](\w+)['"] is not defined by type ['"](\w+)['"]/g, (found) => `${found[2]}.${found[1]}`],
    [/Value ['"](\w+)['"] does not exist in ['"](\w+)['"] enum/g, (found) => `${found[2]}.${found[1]}`],
    [/Unknown type ['"](\w+)['"]/g, (found) => found[1]],
    [/Unknown directive ['"]@(\w+)['"]/g, (found) => `@${found[1]}`],
  ];

  const coordinatesIn = (refused) => [...new Set(SENTENCES.flatMap(([form, coordinate]) => [...refused.matchAll(form)].map(coordinate)))];

  /** Put the arguments of an earlier call into the editor, which sends what changes nothing. */
  function recall(tool, { query, variables }) {
    const isAgain = tool.entry?.annotations?.readOnlyHint === true;
    kept.set(`${state.endpoint} ${tool.key}`, { document: query ?? "", variables: variables ? stile.json.stringify(variables, "  ") : "", isAgain });
  }

  stile.graphql = Object.freeze({ coordinatesIn, recall });
})();
