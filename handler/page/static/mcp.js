// MCP as a client speaks it, in the revision without state (2026-07-28): every request names its revision, its client
// and its capabilities, and repeats method and name in headers.
//
// Source: MCP 2026-07-28, basic/transports/streamable-http, basic/patterns/mrtr, client/elicitation.
(() => {
  "use strict";
  const { state, json } = stile;

  const REVISION = "2026-07-28";
  const PREFIX = "io.modelcontextprotocol/";
  const CLIENT = { name: "stile-page", version: "1" };
  const CAPABILITIES = { elicitation: { form: {}, url: {} }, extensions: { [`${PREFIX}tasks`]: {} } };
  const NAMED = { "tools/call": "name", "prompts/get": "name", "resources/read": "uri", "tasks/get": "taskId", "tasks/cancel": "taskId" };
  const MAX_ROUNDS = 20; // of questions to the user in one call
  const MAX_PAGES = 1000;
  const INTERNAL_ERROR = -32603;

  let lastId = 0;

  const url = (endpoint = state.endpoint) => `${location.origin}${path(endpoint)}`;
  const path = (endpoint = state.endpoint) => `${state.base}/${endpoint.split("/").map(encodeURIComponent).join("/")}/mcp`;

  /** Send one request. Returns `{id, callId, status, ms, bytes, sent, raw, answer, result | error | refused, events}`.
   *
   * `refused` is a body that is not JSON-RPC, as of a 401. Throws if nothing answers, or if `signal` is aborted. */
  async function send(method, params = {}, { persona = state.persona, endpoint, signal, mirrored } = {}) {
    const id = (lastId += 1);
    const meta = {
      [`${PREFIX}protocolVersion`]: REVISION,
      [`${PREFIX}clientInfo`]: CLIENT,
      [`${PREFIX}clientCapabilities`]: CAPABILITIES,
      ...(method === "tools/call" ? { progressToken: id, [`${PREFIX}logLevel`]: "debug" } : {}),
    };
    const body = json.stringify({ jsonrpc: "2.0", id, method, params: { ...params, _meta: { ...meta, ...params._meta } } });
    const headers = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": REVISION,
      "mcp-method": method,
      ...(NAMED[method] ? { "mcp-name": encoded(params[NAMED[method]]) } : {}),
      ...mirrored,
    };
    const start = performance.now();
    const response = await fetch(path(endpoint), {
      method: "POST", body, signal, cache: "no-store", credentials: "omit", redirect: "error",
      headers: { ...headers, ...stile.personas?.headers(persona) },
    });
    const raw = await response.text();
    return {
      id,
      callId: response.headers.get("stile-call"),
      requestId: response.headers.get("x-request-id"),
      status: response.status,
      challenge: response.headers.get("www-authenticate"),
      retryAfter: response.headers.get("retry-after"),
      ms: performance.now() - start,
      bytes: new TextEncoder().encode(raw).length,
      sent: { headers, body },
      raw,
      ...read(raw, response.headers.get("content-type") ?? "", id),
    };
  }

  /** Read a JSON answer, or an event stream with notifications before it. */
  function read(raw, type, id) {
    const found = type.startsWith("text/event-stream") ? events(raw) : [raw];
    const messages = [];
    for (const each of found) {
      try {
        messages.push(json.parseAnswer(each));
      } catch {
        return { refused: raw, events: [] };
      }
    }
    const answer = messages.findLast((each) => json.isObject(each) && ("result" in each || "error" in each));
    const notifications = messages.filter((each) => each !== answer && typeof each?.method === "string");
    if (json.isObject(answer) && answer.jsonrpc === "2.0") {
      const text = found[messages.indexOf(answer)];
      return "result" in answer
        ? { answer, text, result: answer.result, events: notifications }
        : { answer, text, error: answer.error, events: notifications };
    }
    return { refused: answer ?? messages[0] ?? raw, events: notifications };
  }

  const events = (raw) =>
    raw
      .split(/\r\n\r\n|\n\n|\r\r/)
      .map((block) => block.split(/\r\n|\n|\r/).filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trimStart()))
      .filter((lines) => lines.length)
      .map((lines) => lines.join("\n"));

  /** Call a method, and answer what it asks of its user by `ask(requests, {signal})`, which a dialog fills.
   *
   * The returned answer is the last one, of a job the one at its end; `rounds` counts the requests that were sent. */
  async function call(method, params = {}, options = {}) {
    const ask = options.ask ?? stile.questions?.ask;
    const pinned = { persona: state.persona, endpoint: state.endpoint, ...options }; // both may change while a person reads
    let extra = {};
    for (let rounds = 1; ; rounds += 1) {
      const answer = await send(method, { ...params, ...extra }, pinned);
      const asks = answer.result?.resultType === "input_required";
      if (answer.result?.resultType === "task") return ended(answer.result, rounds, pinned);
      if (!asks || !ask || rounds === MAX_ROUNDS) return { ...answer, rounds };
      const responses = await ask(answer.result.inputRequests ?? {}, options);
      extra = {
        ...(Object.keys(responses).length ? { inputResponses: responses } : {}),
        ...(answer.result.requestState === undefined ? {} : { requestState: answer.result.requestState }),
      };
    }
  }

  /** Ask about a job until its end, and give `job(task)` each status. The last answer has the result, if there is one. */
  async function ended(task, rounds, options) {
    options.job?.(task);
    await pause(task.pollIntervalMs, options.signal);
    const answer = await send("tasks/get", { taskId: task.taskId }, options).catch((failure) => ({ failure }));
    options.signal?.throwIfAborted();
    const isLost = answer.failure || answer.status >= 500 || answer.error?.code === INTERNAL_ERROR;
    const next = isLost ? { ...task, statusMessage: answer.error?.message ?? "No answer." } : answer.result;
    if (next?.status === "working") return ended(next, rounds + 1, options);
    return { ...answer, ...(next?.result ? { result: next.result } : {}), rounds: rounds + 1 };
  }

  const pause = (ms, signal) => new Promise((resolve) => {
    setTimeout(resolve, ms);
    signal?.addEventListener("abort", resolve, { once: true });
  });

  /** Return all entries of a list, page by page; `key` is "tools", "prompts", "resources", "resourceTemplates". */
  async function list(method, key, options = {}) {
    const pinned = { persona: state.persona, endpoint: state.endpoint, ...options };
    const entries = [];
    let cursor;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const answer = await send(method, cursor === undefined ? {} : { cursor }, pinned);
      if (!answer.result) return { ...answer, entries };
      entries.push(...(Array.isArray(answer.result[key]) ? answer.result[key] : []));
      cursor = answer.result.nextCursor;
      if (cursor === undefined || cursor === null) return { ...answer, entries };
    }
    return { entries };
  }

  // Arguments in headers ------------------------------------------------------------------------------------------------
  const PLAIN = /^[\t -~]*$/;

  function encoded(value) {
    const text = String(value);
    const isPlain = PLAIN.test(text) && text === text.trim() && !(text.startsWith("=?base64?") && text.endsWith("?="));
    return isPlain ? text : `=?base64?${btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(""))}?=`;
  }

  /** Return the headers that repeat arguments which the schema marks with `x-mcp-header`. */
  function mirrored(schema, args) {
    const headers = {};
    for (const [name, each] of Object.entries(schema?.properties ?? {})) {
      const value = json.isObject(args) && Object.hasOwn(args, name) ? args[name] : undefined;
      const header = each?.["x-mcp-header"];
      const fits = typeof value === "string" || typeof value === "boolean" || json.isNumber(value);
      if (typeof header === "string" && fits) headers[`mcp-param-${header.toLowerCase()}`] = encoded(value);
      if (json.isObject(each)) Object.assign(headers, mirrored(each, value));
    }
    return headers;
  }

  stile.mcp = Object.freeze({ REVISION, url, path, send, call, list, mirrored, encoded });
})();
