// What is loaded: the endpoints, the persona, the tools of the endpoint, and their entries as a client gets them.
(() => {
  "use strict";
  const { state, on, emit, mcp, json } = stile;
  const NAME = /^[A-Za-z0-9][\w.-]*\/[A-Za-z0-9][\w.-]*$/;

  const NO_METHOD = -32601;

  let loading = new AbortController();
  let authored = null; // the entries that the author gets, for tools that the persona lacks

  // Where the page is -------------------------------------------------------------------------------------------------
  function readAddress() {
    const path = location.pathname;
    const parts = path.split("/").filter(Boolean);
    const isRoot = path.endsWith("/") || parts.length < 2;
    state.base = isRoot ? path.replace(/\/+$/, "") : ["", ...parts.slice(0, -2)].join("/");
    const name = isRoot ? null : parts.slice(-2).map(safelyDecoded).join("/");
    return name && NAME.test(name) ? name : null;
  }

  function safelyDecoded(part) {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  }

  async function start() {
    state.endpoint = readAddress();
    state.mode = document.documentElement.dataset.mode || "";
    state.dev = state.mode === "dev" || state.mode === "";
    if (state.dev) await refreshEndpoints().catch(() => (state.dev = false));
    document.body.classList.toggle("dev", state.dev);
    if (state.dev && !state.endpoint && state.endpoints.length === 1 && state.endpoints[0].served !== false) {
      state.endpoint = state.endpoints[0].name;
      history.replaceState(null, "", `${state.base}/${state.endpoint}`);
    }
    emit("mode");
    await open(state.endpoint);
  }

  async function refreshEndpoints() {
    const found = await stile.dev("endpoints");
    state.mode ||= "dev";
    state.endpoints = found.endpoints ?? [];
    state.problems = found.problems ?? [];
    state.root = found.root ?? "";
    state.since = found.since ?? "";
    state.note = found.note ?? "";
    emit("endpoints");
    return found;
  }

  /** Show an endpoint; `null` is the list of them. */
  async function open(name, { push = false } = {}) {
    if (push) history.pushState(null, "", name ? `${state.base}/${name}` : `${state.base}/`);
    const isOther = name !== state.endpoint;
    Object.assign(state, { endpoint: name, tool: null, ...(isOther ? { tools: [], server: {} } : {}) });
    document.title = name ? `${name} · Stile` : "Stile";
    stile.personas.reset();
    emit("endpoint", name);
    emit("tool", null);
    if (name) await again();
  }

  /** Load the tools, and open the one that the address names. */
  const again = () => load({ wanted: safelyDecoded(location.hash.replace(/^#tool=/, "")) });

  // Tools ---------------------------------------------------------------------------------------------------------------
  /** Load what the persona gets. The open tool stays open, and `fresh` says that its schema may differ. */
  async function load({ wanted, fresh = false, anew = false } = {}) {
    loading.abort();
    loading = new AbortController();
    const { signal } = loading;
    const { endpoint, persona } = state;
    authored = null;
    emit("loading", true);
    try {
      const asked = mcp.list("tools/list", "tools", { signal });
      asked.then((first) => !signal.aborted && !state.tools.length && first.result && early(joined(first.entries, [])), () => {});
      const others = promptsAndResources(signal).catch(() => []);
      const known = state.dev ? await knownOf(endpoint, persona, signal) : [];
      if (known.length && !state.tools.length && !isReal(persona) && !signal.aborted) early(joined([], known));
      const listed = await asked;
      const found = listed.result || listed.error ? await others : [];
      if (signal.aborted) return;
      state.tools = [...joined(listed.entries, known), ...found];
      state.denied = listed.result || listed.error?.code === NO_METHOD ? null : listed; // an endpoint without tools
    } catch (error) {
      if (signal.aborted) return;
      if (fresh) return emit("loading", false); // the last list stays until the connection is back
      state.denied = { failure: error.message };
      state.tools = [];
    }
    emit("loading", false);
    const before = state.tool;
    const key = before?.key ?? wanted;
    const tool = state.tools.find((each) => each.key === key) ?? state.tools.find((each) => each.name === key) ?? null;
    const stays = !anew && before && tool && sameForm(before, tool);
    // The open form stays as it is, with focus and marks, if nothing that it shows changed.
    if (stays) state.tools[state.tools.indexOf(tool)] = Object.assign(before, tool);
    else state.tool = tool;
    emit("tools", { fresh });
    emit(stays ? "head" : "tool", state.tool);
  }

  /** Return what dev knows of the tools. If it knows none, the list says why: the endpoint or the persona is not there. */
  const knownOf = (endpoint, persona, signal) => stile.dev("tools", { endpoint, caller: devCaller(persona) }, { signal }).then(({ tools }) => tools ?? [], () => []);

  /** Show the names before all definitions are there, or what clients get before what dev knows beyond. */
  function early(tools) {
    state.tools = tools;
    emit("tools", {});
  }

  const sameForm = (one, other) => one.usable === other.usable && one.kind === other.kind && json.same([one.entry ?? null, one.schema ?? null], [other.entry ?? null, other.schema ?? null]);

  /** The routes of dev know nothing of real credentials: they tell the tools of the author, and the list which of them. */
  const isReal = (persona) => Boolean(persona?.secret || persona?.real);
  const devCaller = (persona) => (isReal(persona) ? undefined : persona?.id);

  function joined(entries, known) {
    const byName = new Map(entries.map((entry) => [entry.name, entry]));
    const all = known.map((each) => {
      const entry = byName.get(each.name) ?? null;
      byName.delete(each.name);
      return { ...each, key: `tool:${each.name}`, entry, title: entry?.title ?? each.title, usable: isReal(state.persona) ? Boolean(entry) : each.usable };
    });
    for (const [name, entry] of byName) all.push({ name, key: `tool:${name}`, entry, title: entry.title, usable: true, listed: true, kind: guessed(entry, byName) });
    return all;
  }

  /** A client is not told of which kind a tool is, and its arguments tell well enough. */
  function guessed(entry, byName) {
    const { query, variables } = entry.inputSchema?.properties ?? {};
    if (byName.has(`${entry.name}-call`) || /^(.+)-call(-mutation)?$/.test(entry.name)) return isCatalog(entry, byName) ? "catalog" : "tool";
    return query?.type === "string" && variables?.type === "object" ? "graphql" : "tool";
  }

  const isCatalog = (entry, byName) => byName.has(`${entry.name.replace(/-call(-mutation)?$/, "")}-call`);

  async function promptsAndResources(signal) {
    const told = await mcp.send("server/discover", {}, { signal });
    state.server = told.result?._meta?.["io.modelcontextprotocol/serverInfo"] ?? {};
    document.title = `${state.server.title ?? state.endpoint} · Stile`;
    const capabilities = told.result?.capabilities ?? {};
    const found = [];
    state.instructions = typeof told.result?.instructions === "string" ? told.result.instructions : "";
    if (capabilities.prompts) {
      const { entries } = await mcp.list("prompts/list", "prompts", { signal });
      found.push(...entries.map((entry) => ({ ...thing(entry, "prompt", entry.name), schema: promptSchema(entry, Boolean(capabilities.completions)) })));
    }
    if (capabilities.resources) {
      const { entries } = await mcp.list("resources/list", "resources", { signal });
      found.push(...entries.map((entry) => ({ ...thing(entry, "resource", entry.uri), schema: { type: "object", properties: {} } })));
      const { entries: templates } = await mcp.list("resources/templates/list", "resourceTemplates", { signal });
      found.push(...templates.map((entry) => ({ ...thing(entry, "template", entry.uriTemplate), schema: templateSchema(entry) })));
    }
    return found;
  }

  const thing = (entry, kind, id) => ({ kind, key: `${kind}:${id}`, name: String(entry.name ?? id), title: entry.title, entry, usable: true, listed: true });

  const promptSchema = (entry, completes) => ({
    type: "object",
    properties: Object.fromEntries((entry.arguments ?? []).map((each) => [each.name, { type: "string", title: each.title, description: each.description, prompt: completes ? entry.name : null }])),
    required: (entry.arguments ?? []).filter((each) => each.required).map((each) => each.name),
  });

  function templateSchema(entry) {
    const names = [...String(entry.uriTemplate).matchAll(/\{[+#./;?&]?([\w.,*]+)\}/g)].flatMap((found) => found[1].split(",")).map((name) => name.replace("*", ""));
    return { type: "object", properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])), required: names };
  }

  /** Return the tool's entry as a client gets it. A list by catalog leaves tools out, and tells them by name. */
  async function entryOf(tool, { signal } = {}) {
    if (tool.entry) return tool.entry;
    if (tool.usable) {
      const catalog = state.tools.find((each) => each.entry && state.tools.some((other) => other.name === `${each.name}-call`));
      const answer = catalog && (await mcp.send("tools/call", { name: catalog.name, arguments: { names: [tool.name] } }, { signal }));
      const found = answer?.result?.structuredContent?.tools?.find?.((each) => each.name === tool.name);
      if (found) return Object.assign(tool, { entry: found, title: found.title, kind: state.dev ? tool.kind : guessed(found, new Map()) }).entry;
    }
    const author = state.personas.find((each) => each.kind === "author");
    if (!author) return null;
    authored ??= mcp.list("tools/list", "tools", { persona: author });
    const entry = (await authored).entries.find((each) => each.name === tool.name);
    return entry ? (tool.entry = entry) : null;
  }

  /** Return tools that a catalog finds for words, and that the list does not have. */
  async function searchCatalog(words, { signal } = {}) {
    const catalog = state.tools.find((each) => each.kind === "catalog" && !/-call(-mutation)?$/.test(each.name));
    if (!catalog || state.dev) return [];
    const answer = await mcp.send("tools/call", { name: catalog.name, arguments: { query: words, type: "tools" } }, { signal });
    const lines = answer.result?.structuredContent?.tools ?? [];
    if (!state.tools.includes(catalog)) return []; // another list is shown since then
    const byName = new Map(state.tools.map((each) => [each.name, each]));
    const added = lines.filter((each) => typeof each?.name === "string" && !byName.has(each.name))
      .map(({ name, about }) => ({ name, about, key: `tool:${name}`, kind: "tool", entry: null, usable: true, listed: false }));
    state.tools = [...state.tools, ...added];
    for (const each of state.tools) each.foundBy = lines.some(({ name }) => name === each.name) ? words : each.foundBy;
    return lines;
  }

  async function openTool(key) {
    const tool = state.tools.find((each) => each.key === key) ?? state.tools.find((each) => each.name === key);
    if (!tool) return;
    // From the list, so that the browser's own way back leads to it; a narrow screen shows the one or the other.
    history[state.tool ? "replaceState" : "pushState"](null, "", `${location.pathname}#tool=${encodeURIComponent(tool.key)}`);
    state.tool = tool;
    emit("tool", tool);
    if (!tool.entry && (await entryOf(tool).catch(() => null)) && state.tool === tool) emit("tool", tool);
  }

  window.addEventListener("popstate", () => open(readAddress()));
  on("start", start);
  on("persona", () => state.endpoint && load({ anew: true }));
  stile.endpoint = Object.freeze({ open, load, again, refreshEndpoints, entryOf, searchCatalog, openTool, isName: (name) => NAME.test(name), json });
})();
