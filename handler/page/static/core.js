// The namespace that all scripts share: state, events, panels, and the one way to make elements.
//
// Texts of schemas, answers and claims are hostile. They become text nodes and nothing else, and characters that hide or
// turn text around are shown by their code points. So `el` is safe with any string, and no other file makes elements.
const stile = {};

(() => {
  "use strict";

  const XLINKS = /^(https?:\/\/|[/.#?]|vscode:\/\/file\/)/i;
  const HIDDEN = new RegExp(
    "[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180e\\u200b\\u200e" +
      "\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u2800\\u3164\\ufeff\\uffa0\\ufff0-\\ufffb\\ud800-\\udfff]" +
      "|[\\u{e0000}-\\u{e0fff}]|(?<![^\\u0000-\\u007f])[\\u200c\\u200d\\ufe00-\\ufe0f]",
    "gu",
  );
  const ISOLATED = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

  const state = Object.seal({
    mode: "", // "dev", "serve", "function"
    dev: false,
    base: "", // the path in front of the endpoints
    endpoint: null, // "folder/name"
    endpoints: [], // dev: the entries of /-/endpoints
    problems: [], // dev
    personas: [], // {id, label, kind, file, refused}
    persona: null, // one of `personas`
    credential: null, // {kind: "token" | "key", value}: in memory only
    tools: [], // {name, title, kind, entry, listed, usable, file, line, tokens, warnings}
    tool: null, // the open one
    denied: null, // the answer to a caller who does not get in
    instructions: "", // of the server, for models
    server: {}, // serverInfo: what the owner says of the endpoint
    root: "", // dev: the folder that relative files are in
    since: "", // dev: when the server took over what is shown
    note: "", // dev: why there are no personas
    connection: "", // dev: "open", "lost"
  });

  // Events ---------------------------------------------------------------------------------------------------------
  const listeners = new Map();

  /** Call `fn(detail)` at each event of the name. The returned function ends that; so does `signal`. */
  function on(event, fn, { signal } = {}) {
    const of = listeners.get(event) ?? new Set();
    listeners.set(event, of.add(fn));
    const off = () => of.delete(fn);
    signal?.addEventListener("abort", off, { once: true });
    return off;
  }

  /** A listener that fails does not keep the others from the event. */
  function emit(event, detail) {
    for (const fn of [...(listeners.get(event) ?? [])]) {
      try {
        fn(detail);
      } catch (error) {
        console.error(`stile: ${event}`, error);
      }
    }
  }

  // Elements -------------------------------------------------------------------------------------------------------
  const PROPERTIES = new Set(["value", "checked", "disabled", "hidden", "open", "selected", "indeterminate", "readOnly"]);

  /** Make an element. `attributes.on` has listeners by event; `false`, `null` and `undefined` leave an attribute out. */
  const el = (tag, attributes, ...children) => filled(document.createElement(tag), attributes, children);

  function filled(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes ?? {})) setOne(element, name, value);
    append(element, children);
    return element;
  }

  function setOne(element, name, value) {
    if (name === "on") {
      for (const [event, fn] of Object.entries(value)) element.addEventListener(event, fn);
    } else if (/^on|^(style|srcdoc)$/i.test(name)) {
      throw new Error(`attribute ${name} is not allowed`);
    } else if (PROPERTIES.has(name)) {
      element[name] = value;
    } else if (value === false || value === null || value === undefined) {
      element.removeAttribute(name);
    } else if (/^(xlink:)?href$|^src$|^action$|^formaction$/i.test(name) && !isLink(value) && !(element.localName === "img" && isImage(value))) {
      element.removeAttribute(name); // a link of another scheme stays text
    } else {
      element.setAttribute(name, value === true ? "" : visible(value));
    }
  }

  /** Tell if a URL may be a link: http(s), relative, or a file of the editor in dev. Browsers drop tabs and line feeds. */
  function isLink(url) {
    const text = String(url);
    if (/[\u0000-\u0020]/.test(text) || !XLINKS.test(text)) return false;
    return state.dev || !/^vscode:/i.test(text);
  }

  /** Tell if a source is a picture in base64: no other data becomes a document, and in an img, SVG runs no script. */
  const isImage = (source) => /^data:image\/(png|jpeg|gif|webp|svg\+xml);base64,[A-Za-z0-9+/=\s]*$/.test(String(source));

  function append(parent, children) {
    for (const child of children.flat(Infinity)) {
      if (child instanceof Node) parent.append(child);
      else if (child !== null && child !== undefined && child !== false) parent.append(text(child));
    }
    return parent;
  }

  const replace = (parent, ...children) => append(clear(parent), children);
  const clear = (parent) => (parent.replaceChildren(), parent);

  /** Return a node for any text: isolated if it is written from right to left, hidden characters by code point. */
  function text(value) {
    const all = String(value);
    const hides = HIDDEN.test(all);
    HIDDEN.lastIndex = 0; // matchAll begins there
    if (!hides && !ISOLATED.test(all)) return document.createTextNode(all);
    const node = document.createElement("bdi");
    let from = 0;
    for (const found of hides ? all.matchAll(HIDDEN) : []) {
      const mark = document.createElement("span");
      mark.className = "hidden-char";
      mark.textContent = codePoint(found[0]);
      node.append(all.slice(from, found.index), mark);
      from = found.index + found[0].length;
    }
    node.append(all.slice(from));
    return node;
  }

  const codePoint = (character) => `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;

  /** Return a text for attributes and options, where no element can mark what is hidden. */
  const visible = (value) => String(value).replace(HIDDEN, (found) => `⟨${codePoint(found)}⟩`);

  // Panels ---------------------------------------------------------------------------------------------------------
  const panels = [];

  /** Register a tab: `{id, title, place: "tool" | "bottom", order?, when?(tool), render(container, {tool, signal})}`.
   *
   * `render` runs when the tab is first shown, and again for another tool, endpoint or persona; `signal` is aborted
   * before that, and ends listeners. `when` is asked for each tool. */
  function panel(definition) {
    panels.push(definition);
    panels.sort((one, other) => (one.order ?? 50) - (other.order ?? 50));
  }

  // Requests to the routes of dev -----------------------------------------------------------------------------------

  /** Return the JSON of a route of dev, such as `dev("tools", {endpoint, caller})`. */
  async function dev(route, params = {}, { signal } = {}) {
    const query = new URLSearchParams(Object.entries(params).filter(([, value]) => value !== undefined && value !== null));
    const answer = await fetch(`${state.base}/-/${route}?${query}`, { signal, headers: { accept: "application/json" } });
    const body = await answer.text();
    if (!answer.ok) throw new Error(told(body) || `${answer.status} ${answer.statusText}`);
    return JSON.parse(body);
  }

  function told(body) {
    try {
      return JSON.parse(body).error ?? "";
    } catch {
      return body.slice(0, 200);
    }
  }

  /** Return a function that waits until nobody calls it for `ms`. */
  function later(fn, ms = 150) {
    let timer = 0;
    return (...args) => {
      clearTimeout(timer);
      timer = setTimeout(() => fn(...args), ms);
    };
  }

  Object.assign(stile, { state, on, emit, el, append, replace, clear, text, visible, isLink, isImage, panel, panels, dev, later });
})();
