// Answers as people read them: tables, trees, texts, notes of what was cut, and what to do about refusals.
(() => {
  "use strict";
  const { el, json, units } = stile;
  const MAX_ROWS = 100; // shown at once
  const MAX_COLUMNS = 30;
  const MAX_CELL = 300; // characters of a text in a table
  const MAX_TEXT = 20000;
  const MAX_DEPTH = 8; // of a connection in an answer

  const word = (count, one, many = `${one}s`) => `${units.number(count)} ${count === 1 ? one : many}`;
  const isFlat = (value) => value === null || typeof value !== "object" || value instanceof json.Exact;

  // Values ----------------------------------------------------------------------------------------------------------------
  /** Return a node for any JSON value. */
  function shown(value, depth = 0) {
    if (isFlat(value)) return scalar(value);
    if (Array.isArray(value)) return list(value, depth);
    return object(value, depth);
  }

  function scalar(value) {
    if (value === null || value === undefined) return el("span", { class: "is-null" }, "null");
    if (typeof value === "string") return value === "" ? el("span", { class: "is-null" }, "empty text") : longText(value, MAX_TEXT);
    return el("span", { class: json.isNumber(value) ? "is-number" : null }, String(value));
  }

  function longText(value, most) {
    if (value.length <= most) return el("span", { class: "value" }, value);
    const node = el("span", { class: "value" }, value.slice(0, most));
    const more = el("button", { type: "button", class: "small", on: { click: () => (stile.replace(node, value), more.remove()) } }, `… ${word(value.length - most, "more character")}`);
    return [node, " ", more];
  }

  function list(items, depth) {
    if (!items.length) return el("span", { class: "is-null" }, "empty list");
    if (items.every(json.isObject)) return table(items, depth);
    const node = el("ol", { class: "tree" });
    more(node, items, MAX_ROWS, (each, at) => el("li", { class: "pair" }, el("span", { class: "key" }, `${at + 1}.`), el("div", { class: "value" }, shown(each, depth + 1))));
    return node;
  }

  function table(rows, depth) {
    const columns = [...new Set(rows.slice(0, 1000).flatMap((row) => Object.keys(row)))];
    const kept = columns.slice(0, MAX_COLUMNS);
    if (!kept.length) return el("span", { class: "is-null" }, word(rows.length, "empty object"));
    const body = el("tbody");
    more(body, rows, MAX_ROWS, (row) => el("tr", null, kept.map((name) => cell(row, name, depth))), kept.length);
    return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Table with ${word(rows.length, "row")}` },
      el("table", { class: "grid", "data-part": "table" },
        el("caption", { class: "visually-hidden" }, word(rows.length, "row")),
        el("thead", null, el("tr", null, kept.map((name) => el("th", { scope: "col" }, name)))), body),
      columns.length > kept.length ? el("p", { class: "quiet" }, `${word(columns.length - kept.length, "further column")}: ${columns.slice(MAX_COLUMNS).join(", ")}`) : null);
  }

  function cell(row, name, depth) {
    if (!Object.hasOwn(row, name)) return el("td");
    const value = row[name];
    if (typeof value === "string") return el("td", null, value === "" ? scalar(value) : longText(value, MAX_CELL));
    if (isFlat(value)) return el("td", { class: json.isNumber(value) ? "number" : null }, scalar(value));
    const inner = Array.isArray(value) ? value : Object.values(value);
    if (inner.length <= 8 && inner.every(isFlat)) return el("td", null, Array.isArray(value) ? (inner.length ? inner.map((each, at) => [at ? ", " : "", scalar(each)]) : scalar(null)) : shown(value, 9));
    return el("td", null, folded(value, depth + 2));
  }

  /** Add rows, and a button for those that are too many at once. */
  function more(parent, all, most, make, span = 0) {
    const add = (from) => {
      all.slice(from, from + most).forEach((each, at) => parent.append(make(each, from + at)));
      const rest = all.length - from - most;
      if (rest <= 0) return;
      const button = el("button", { type: "button", class: "small", on: { click: () => (holder.remove(), add(from + most)) } }, `Show more: ${word(rest, "row")} left`);
      const holder = span ? el("tr", null, el("td", { colspan: span }, button)) : el("li", null, button);
      parent.append(holder);
    };
    add(0);
  }

  function object(value, depth) {
    const entries = Object.entries(value);
    if (!entries.length) return el("span", { class: "is-null" }, "empty object");
    const node = el("div", { class: "tree" });
    more(node, entries, MAX_ROWS, ([name, each]) => {
      if (isFlat(each) || !Object.keys(each).length) return el("div", { class: "pair" }, el("span", { class: "key" }, name), el("div", { class: "value" }, shown(each, depth + 1)));
      return folded(each, depth, name);
    });
    return node;
  }

  /** What is folded is made when it is opened: an answer may have a million values. */
  function folded(value, depth, name) {
    const size = Array.isArray(value) ? word(value.length, "item") : connection(value) ? word(connection(value).length, "edge") : word(Object.keys(value).length, "member");
    const body = el("div");
    const node = el("details", { class: "tree" }, el("summary", null, name === undefined ? null : [el("span", { class: "key" }, name), " "], el("span", { class: "quiet" }, size)), body);
    const fill = () => body.firstChild || stile.append(body, [connected(value, depth + 1)]);
    node.addEventListener("toggle", fill);
    if (depth < 3) {
      node.open = true;
      fill();
    }
    return node;
  }

  /** A connection reads as the table of its nodes, and what stands beside them. */
  const connection = (value) => {
    const edges = json.isObject(value) && Array.isArray(value.edges) ? value.edges : [];
    const isEdge = (each) => json.isObject(each) && (each.node === null || json.isObject(each.node));
    return edges.every(isEdge) && edges.some((each) => each.node) ? edges : null;
  };

  function connected(value, depth) {
    const edges = connection(value);
    if (!edges) return shown(value, depth);
    const { edges: _, ...rest } = value;
    const taken = new Set(edges.flatMap(({ node }) => Object.keys(node ?? {})));
    const rows = edges.map(({ node, ...beside }) => ({ ...node, ...Object.fromEntries(Object.entries(beside).map(([key, each]) => [taken.has(key) ? `edge.${key}` : key, each])) }));
    return [table(rows, depth), Object.keys(rest).length ? object(rest, depth) : null];
  }

  // Content of MCP ----------------------------------------------------------------------------------------------------------
  /** Return nodes for one block of content: text that is JSON reads as a value. */
  function block(content) {
    if (!json.isObject(content)) return shown(content);
    switch (content.type) {
      case "text": return text(String(content.text ?? ""));
      case "image": return image(content);
      case "audio": return el("p", { class: "quiet" }, `Sound, ${content.mimeType ?? ""}, ${units.bytes(String(content.data ?? "").length)} of base64. The page plays none.`);
      case "resource_link": return el("p", null, "Resource ", uri(content.uri), " ", content.title ?? content.name ?? "");
      case "resource": return embedded(content.resource ?? {});
      default: return shown(content);
    }
  }

  function text(content) {
    if (/^\s*[[{]/.test(content)) {
      try {
        return data(json.parse(content));
      } catch {
        // text that only begins like JSON
      }
    }
    return el("div", { class: "code" }, longText(content, MAX_TEXT));
  }

  function image({ data: base64, mimeType }) {
    const source = `data:${mimeType};base64,${base64}`;
    return stile.isImage(source) ? el("img", { src: source, alt: "Image of the answer", class: "picture" }) : el("p", { class: "quiet" }, `Image ${mimeType}, which the page does not show`);
  }

  const uri = (address) => (/^https?:/i.test(String(address)) && stile.isLink(address) ? el("a", { href: address, rel: "noreferrer noopener", target: "_blank", class: "mono" }, address) : el("code", null, String(address)));

  const embedded = (resource) =>
    el("div", { class: "section" }, el("h2", null, uri(resource.uri), " ", resource.mimeType ?? ""), typeof resource.text === "string" ? text(resource.text) : el("p", { class: "quiet" }, `${units.bytes(String(resource.blob ?? "").length)} of base64`));

  /** A GraphQL response has three members that read better apart. */
  function data(value) {
    const isResponse = json.isObject(value) && "data" in value && Object.keys(value).every((key) => ["data", "errors", "extensions"].includes(key));
    if (!isResponse) return connected(value, 0);
    const { stile: _, ...extensions } = json.isObject(value.extensions) ? value.extensions : {};
    return [
      Array.isArray(value.errors) ? value.errors.map((each) => el("p", { class: "notice bad" }, each?.message ?? json.stringify(each), each?.path ? el("span", { class: "quiet" }, ` at ${[each.path].flat().join(".")}`) : null)) : null,
      value.data === null ? el("p", { class: "quiet" }, "No data.") : connected(value.data, 0),
      Object.keys(extensions).length ? folded(extensions, 4, "extensions") : null,
    ];
  }

  /** Return all of an MCP result: structured content if there is some, since the text repeats it. */
  function result(answer, { goOn, next }) {
    const blocks = Array.isArray(answer.content) ? answer.content : [];
    const structured = answer.structuredContent;
    const others = structured === undefined ? blocks : blocks.filter((each) => each?.type !== "text");
    const whole = structured ?? valueIn(blocks);
    const notes = whole?.extensions?.stile?.truncated;
    return [
      (Array.isArray(notes) ? notes : []).map((note) => cut(note, goOn)),
      goOn ? pagesIn(whole).map(([field, cursor]) => following(field, next(field, cursor), goOn)) : null,
      structured === undefined ? null : el("div", { class: "section" }, data(structured)),
      others.map((each) => el("div", { class: "section" }, block(each))),
      (answer.messages ?? []).map((each) => el("div", { class: "section" }, el("h2", null, String(each?.role ?? "")), block(each?.content))),
      (answer.contents ?? []).map((each) => embedded(each ?? {})),
      blocks.length || structured !== undefined || answer.messages || answer.contents ? null : Array.isArray(answer.content) ? el("p", { class: "quiet" }, "The answer is empty.") : shown(answer),
    ];
  }

  /** Return the value of the first text that is JSON with notes or pages; undefined if there is none. */
  function valueIn(blocks) {
    const found = blocks.find((each) => each?.type === "text" && /"(truncated|hasNextPage)"/.test(each.text));
    try {
      return found && json.parse(found.text);
    } catch {
      return undefined;
    }
  }

  /** Return `[field, endCursor]` of each connection with a further page that no list holds. */
  function pagesIn(value, field = "", depth = 0) {
    if (!json.isObject(value) || depth > MAX_DEPTH) return [];
    const { pageInfo } = value;
    if (pageInfo?.hasNextPage === true && typeof pageInfo.endCursor === "string") return [[field, pageInfo.endCursor]];
    return Object.entries(value).flatMap(([name, each]) => pagesIn(each, name, depth + 1));
  }

  const following = (field, args, goOn) =>
    args && el("p", null, el("button", { type: "button", class: "small", "data-part": "next-page", on: { click: () => goOn(args) } }, `Next page of ${field || "the answer"}`));

  /** A note of what was cut, with a button that fills in the arguments to go on. */
  function cut(note, goOn) {
    if (!json.isObject(note)) return null;
    const what = note.of === "characters" ? "character" : "item";
    return el("div", { class: "notice warn next", "data-part": "truncated" },
      el("p", null, el("strong", null, [note.path].flat().join(".")), ` was cut: ${word(Number(String(note.kept ?? 0)), what)} kept, ${units.number(String(note.dropped ?? 0))} dropped.`),
      note.how ? el("p", null, note.how) : null,
      json.isObject(note.next) && goOn ? el("button", { type: "button", class: "small", "data-part": "next", on: { click: () => goOn(note.next) } }, `Go on with ${Object.keys(note.next).join(", ")}`) : null);
  }

  // Refusals -----------------------------------------------------------------------------------------------------------------
  /** Say what to do about an answer that is no result. */
  function advice({ status, refused, challenge, retryAfter }) {
    const told = json.isObject(refused) ? refused.message ?? refused.error ?? "" : typeof refused === "string" && !/^\s*</.test(refused) ? refused.slice(0, 500) : "";
    const scope = /scope="([^"]*)"/.exec(challenge ?? "")?.[1];
    const remedy = {
      400: "Send one readable credential, or correct the request.",
      401: "This endpoint wants a credential, or does not accept the one that was sent. Choose another persona, or paste a token or API key.",
      403: refused?.code === "foreign-origin" ? `The server takes scripts from its public URL only. Its owner sets STILE_PUBLIC_URL to ${location.origin}${stile.state.base}, if that is the URL.` : scope ? `The credential lacks scopes: ${scope}. Get a token with them.` : "This credential may not do that. Choose another persona.",
      404: "Check the name of the endpoint.",
      421: "The server does not answer to this host. Use the address that the command printed.",
      429: "Too many requests. Wait.",
      503: `The endpoint cannot answer at the moment.${retryAfter ? ` Try again after ${retryAfter} s.` : " Try later."}`,
    }[status];
    return [told && !/[.!?]$/.test(told) ? `${told}.` : told, remedy].filter(Boolean).join(" ");
  }

  stile.results = Object.freeze({ shown, result, block, data, advice, longText });
})();
