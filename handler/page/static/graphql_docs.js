// The documentation of a tool's view beside the editor: types, fields and arguments to follow, and a search.
(() => {
  "use strict";
  const { el, replace, clamped, later } = stile;
  const KINDS = { OBJECT: "type", INTERFACE: "interface", UNION: "union", ENUM: "enum", INPUT_OBJECT: "input", SCALAR: "scalar" };
  const MOST_SHOWN = 300; // members of one type

  /** Return `{node, show(coordinate)}`. `onread()` is called when types were read that the editor may want, too;
   * `oninsert(kind, field)` when a root field is chosen. */
  function docs(view, { onread, oninsert, signal }) {
    const trail = []; // coordinates; the roots are an empty trail
    const body = el("div", { class: "docs-body", "data-part": "docs-body" });
    const path = el("nav", { class: "docs-trail", "aria-label": "Way in the documentation" });
    const input = el("input", {
      type: "search", placeholder: "Search this schema", "aria-label": "Search the tool's schema", autocomplete: "off",
      spellcheck: "false", "data-part": "docs-search",
      on: {
        input: () => look(input.value),
        keydown: (event) => event.key === "Escape" && input.value && (event.stopPropagation(), (input.value = ""), draw()),
      },
    });
    const node = el("section", { class: "docs", "aria-label": "Documentation", "data-part": "docs" }, input, path, body);
    let searched = 0;

    const look = later(async (words) => {
      const mine = (searched += 1);
      if (!words.trim()) return draw();
      replace(body, el("p", { class: "quiet" }, "Searching…"));
      let found = [];
      try {
        found = await view.search(words.trim());
      } catch (error) {
        if (!signal.aborted) replace(body, el("p", { class: "bad" }, error.message));
        return;
      }
      if (mine !== searched || signal.aborted) return;
      replace(path);
      replace(body, found.length
        ? el("ul", { class: "docs-found", "data-part": "docs-found" }, found.map(hit))
        : el("p", { class: "quiet" }, "Nothing found."));
    }, 300);

    function hit({ coordinate, paths }) {
      const way = paths?.[0];
      return el("li", null,
        el("button", { type: "button", class: "plain mono", "data-coordinate": coordinate, on: { click: () => show(coordinate) } }, coordinate),
        way?.length ? el("div", { class: "quiet mono way" }, way.join(" → ")) : null);
    }

    async function show(coordinate) {
      input.value = "";
      searched += 1;
      if (trail.at(-1) !== coordinate) trail.push(coordinate);
      await draw();
      body.querySelector(".is-found")?.scrollIntoView({ block: "nearest" });
    }

    async function draw() {
      const coordinate = trail.at(-1);
      drawTrail();
      if (!coordinate) return replace(body, roots());
      const [owner, member] = coordinate.replace(/\(.*$/, "").split(".");
      if (!view.types.has(owner)) {
        replace(body, el("p", { class: "quiet" }, "Loading…"));
        try {
          if (await view.read([owner])) onread();
        } catch (error) {
          if (!signal.aborted) replace(body, el("p", { class: "bad" }, error.message));
          return;
        }
        if (signal.aborted || trail.at(-1) !== coordinate) return;
      }
      const found = view.types.get(owner);
      replace(body, found ? type(found, member) : el("p", { class: "quiet" }, owner.startsWith("@") ? directive(owner.slice(1)) : view.failed.get(owner) ?? `${owner} is a scalar, or not in this view.`));
    }

    function drawTrail() {
      const steps = ["", ...trail];
      replace(path, trail.length ? steps.map((each, at) => [
        at ? el("span", { "aria-hidden": "true" }, " › ") : null,
        el("button", {
          type: "button", class: "plain mono", "aria-current": at === steps.length - 1 ? "page" : null,
          on: { click: () => (trail.splice(at), draw()) },
        }, each || "Root"),
      ]) : null);
    }

    const kindOf = (name) => ({ [view.head?.queryType?.name]: "query", [view.head?.mutationType?.name]: "mutation" })[name];

    function roots() {
      const { queryType, mutationType } = view.head ?? {};
      const found = [queryType, mutationType].map((each) => view.types.get(each?.name)).filter(Boolean);
      return [el("p", { class: "quiet" }, "The schema that this caller gets through this tool. A field inserts a query of it."), found.map((each) => type(each))];
    }

    function directive(name) {
      const found = view.head.directives?.find((each) => each.name === name);
      return found ? [el("code", null, `@${name}`), args(found.args ?? []), " ", found.description] : `@${name}`;
    }

    function type(found, wanted) {
      const members = found.fields ?? found.inputFields ?? [];
      const kind = kindOf(found.name);
      return [
        el("h2", { class: "mono" }, `${KINDS[found.kind] ?? "type"} ${found.name}`),
        description(found.description),
        found.interfaces?.length ? el("p", { class: "mono" }, "implements ", listed(found.interfaces)) : null,
        found.possibleTypes?.length ? el("p", { class: "mono" }, "is one of ", listed(found.possibleTypes.slice(0, MOST_SHOWN))) : null,
        el("dl", { class: "docs-members" }, members.slice(0, MOST_SHOWN).map((each) => member(each, each.name === wanted, kind))),
        el("dl", { class: "docs-members" }, (found.enumValues ?? []).slice(0, MOST_SHOWN).map((each) => member(each, each.name === wanted))),
        members.length > MOST_SHOWN ? el("p", { class: "quiet" }, `and ${members.length - MOST_SHOWN} more: search for them`) : null,
      ];
    }

    const member = (each, isWanted, kind) => [
      el("dt", { class: `mono${isWanted ? " is-found" : ""}`, "data-member": each.name },
        kind ? el("button", { type: "button", class: "plain mono", "data-part": "insert", title: `Insert a ${kind} of ${each.name}`, on: { click: () => oninsert(kind, each) } }, el("strong", null, each.name)) : el("strong", null, each.name),
        each.args?.length ? args(each.args) : null, each.type ? [": ", ref(each.type)] : null,
        each.defaultValue != null ? ` = ${each.defaultValue}` : null,
        each.isDeprecated ? [" ", stile.mark("deprecated", "warns", each.deprecationReason)] : null),
      el("dd", null, description(each.description)),
    ];

    const args = (given) => ["(", given.map((each, at) => [at ? ", " : "", `${each.name}: `, ref(each.type), each.defaultValue != null ? ` = ${each.defaultValue}` : ""]), ")"];

    const description = (words) => (words ? clamped(words, { class: "pre-line quiet" }) : null);

    const listed = (refs) => refs.map((each, at) => [at ? ", " : "", ref(each)]);

    /** Return a type with its lists and exclamation marks; the named type is a button. */
    function ref(type_) {
      if (type_?.kind === "NON_NULL") return [ref(type_.ofType), "!"];
      if (type_?.kind === "LIST") return ["[", ref(type_.ofType), "]"];
      return type_?.kind === "SCALAR" ? type_.name : link(type_?.name ?? "…");
    }

    const link = (name) => el("button", { type: "button", class: "plain mono type-name", on: { click: () => show(name) } }, name);

    return { node, show, draw };
  }

  stile.graphqlDocs = docs;
})();
