// The events of dev, by one stream for all windows: a browser opens six connections to a server, and a window more would
// wait. The window that has the lock holds the stream, and passes on what comes. A window that nobody sees has neither.
//
// Source: Web Locks API; the HTML standard, "Broadcasting to other browsing contexts".
(() => {
  "use strict";
  const { state, on, json } = stile;
  const KINDS = ["problems", "call", "reload"];
  const MAX_CALLS = 200;
  const RETRY_MS = 2000;
  const own = crypto.randomUUID?.() ?? String(Math.random());

  let use = null; // {opened(), lost(), heard(kind, value)} of the live view
  let channel = null;
  let turn = null; // aborted when nobody sees the window any more
  let source = null;
  let retry = 0;
  let past = { connection: "", problems: null, calls: [] }; // what a window gets that is shown later

  /** Begin with the stream once the mode is known. */
  function start(given) {
    use = given;
    on("mode", hold);
    document.addEventListener("visibilitychange", hold);
  }

  function hold() {
    if (!state.dev) return;
    if (document.visibilityState === "hidden") release();
    else if (!turn) take();
  }

  function take() {
    turn = new AbortController();
    const { signal } = turn;
    if (!navigator.locks) return connect(); // neither https nor this machine: each window has a stream
    const name = `stile ${state.base}`;
    channel = new BroadcastChannel(name);
    channel.onmessage = ({ data }) => answered(data);
    channel.postMessage({ kind: "ask", from: own });
    const held = () => signal.aborted || (connect(), new Promise((resolve) => signal.addEventListener("abort", resolve)));
    navigator.locks.request(name, { signal }, held).catch(() => {}); // given up before its turn
  }

  function release() {
    turn?.abort();
    clearTimeout(retry);
    source?.close();
    channel?.close();
    turn = source = channel = null;
  }

  // The window with the stream -----------------------------------------------------------------------------------------
  function connect() {
    source?.close();
    source = new EventSource(`${state.base}/-/events`);
    source.onopen = () => passed({ kind: "open" });
    source.onerror = () => {
      passed({ kind: "lost" });
      // After some answers a browser gives up, and the server may come back at any time.
      if (source.readyState !== EventSource.CLOSED) return;
      clearTimeout(retry);
      retry = setTimeout(connect, RETRY_MS);
    };
    for (const kind of KINDS) source.addEventListener(kind, (event) => passed({ kind, text: event.data }));
  }

  function passed(message) {
    if (message.kind === "open") past = { connection: "open", problems: null, calls: [] }; // the stream begins with them
    if (message.kind === "lost") past.connection = "lost";
    if (message.kind === "problems") past.problems = message;
    if (message.kind === "call") past.calls = [...past.calls, message].slice(-MAX_CALLS);
    channel?.postMessage(message);
    heard(message);
  }

  // All windows --------------------------------------------------------------------------------------------------------
  function answered(message) {
    if (message.kind === "ask") return source && past.connection ? channel.postMessage({ kind: "past", to: message.from, past }) : undefined;
    if (message.kind !== "past") return source ? undefined : heard(message);
    if (message.to !== own || source) return;
    heard({ kind: message.past.connection });
    for (const each of [message.past.problems, ...message.past.calls]) if (each) heard(each);
  }

  function heard({ kind, text }) {
    try {
      if (kind === "open") use.opened();
      else if (kind === "lost") use.lost();
      else use.heard(kind, json.parseAnswer(text));
    } catch (error) {
      console.error("stile: live", error);
    }
  }

  stile.stream = Object.freeze({ start });
})();
