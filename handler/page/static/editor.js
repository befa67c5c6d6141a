// The GraphQL editor in its frame. It has no origin, no storage and no network: the page gives it a schema and texts by
// messages, and gets texts and wishes back. Styles of CodeMirror are style sheets of a shadow root, which need no
// exception in the policy.
(() => {
  "use strict";
  const parts = globalThis.editorParts;
  const { EditorState, EditorView, keymap } = parts;

  const MOST_CHARS = 200_000;
  const PLACE_OF_PAGE = location.origin; // that of the URL; the frame's own origin is opaque

  let port = null;
  let schema; // undefined: not known
  let whole = false; // the schema has all types of the view
  const views = {};

  // Characters that hide or turn text around are shown by their code points, as the page shows them.
  const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]|[\u{e0000}-\u{e0fff}]/gu;
  const visible = (text) =>
    String(text).replace(HIDDEN, (each) => `⟨U+${each.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);

  /** Show the description of a completion as text. */
  function described(item) {
    const node = document.createElement("div");
    node.textContent = visible([item.documentation, item.isDeprecated ? `Deprecated: ${item.deprecationReason ?? ""}` : ""].filter(Boolean).join("\n\n"));
    return node.textContent ? node : null;
  }

  // Looks: the colours are variables of editor.css, which shadow roots inherit ------------------------------------------
  const look = EditorView.theme({
    "&": { height: "100%", color: "var(--text)", backgroundColor: "var(--back)", fontSize: "13px" },
    "&.cm-focused": { outline: "2px solid var(--focus)", outlineOffset: "-2px" },
    ".cm-scroller": { fontFamily: "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace", overflow: "auto" },
    ".cm-content": { caretColor: "var(--text)", minHeight: "100%" },
    ".cm-cursor": { borderLeftColor: "var(--text)" },
    ".cm-gutters": { backgroundColor: "var(--raised)", color: "var(--dim)", borderRight: "1px solid var(--line)" },
    ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "transparent" },
    "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
      backgroundColor: "var(--chosen)",
    },
    ".cm-matchingBracket": { backgroundColor: "var(--chosen)", outline: "1px solid var(--line)" },
    ".cm-tooltip": {
      backgroundColor: "var(--raised)", color: "var(--text)", border: "1px solid var(--line)", maxWidth: "min(560px, 90vw)",
    },
    ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--chosen)", color: "var(--text)" },
    ".cm-completionDetail": { color: "var(--dim)", fontStyle: "normal" },
    ".cm-completionInfo, .docs": { padding: "4px 8px", whiteSpace: "pre-wrap", maxHeight: "180px", overflow: "auto" },
    ".cm-diagnostic-error": { borderLeftColor: "var(--bad)" },
  });
  const { tags } = parts;
  const colours = parts.HighlightStyle.define([
    { tag: [tags.keyword, tags.definitionKeyword, tags.controlKeyword, tags.operatorKeyword], color: "var(--keyword)" },
    { tag: [tags.propertyName, tags.attributeName, tags.atom, tags.typeName], color: "var(--name)" },
    { tag: tags.variableName, color: "var(--variable)" },
    { tag: tags.string, color: "var(--string)" },
    { tag: [tags.number, tags.bool, tags.null], color: "var(--number)" },
    { tag: tags.comment, color: "var(--dim)" },
  ]);

  // Problems and documentation by the schema ------------------------------------------------------------------------------
  const problems = parts.linter((view) => {
    const text = view.state.doc.toString();
    if (!schema || !text.trim()) return [];
    // A type that is still on its way would be told as a mistake.
    if (missingTypes(text).length) return [];
    try {
      return parts.getDiagnostics(text, schema).map((each) => {
        const from = parts.posToOffset(view.state.doc, each.range.start);
        const after = each.source === "GraphQL: Validation" ? 1 : 0; // its ends are one too far
        const to = Math.max(from + 1, parts.posToOffset(view.state.doc, each.range.end) - after);
        const end = Math.min(to, view.state.doc.length);
        return { from: Math.min(from, end), to: end, severity: each.severity === 1 ? "error" : "warning", message: visible(each.message) };
      });
    } catch {
      return []; // half of a document
    }
  }, { delay: 400 });

  const hover = parts.hoverTooltip((view, pos) => {
    if (!schema) return null;
    const at = parts.offsetToPos(view.state.doc, pos);
    let words = "";
    try {
      words = String(parts.getHoverInformation(schema, view.state.doc.toString(), at) ?? "");
    } catch {
      return null;
    }
    if (!words) return null;
    return {
      pos,
      create() {
        const dom = document.createElement("div");
        dom.className = "docs";
        dom.textContent = visible(words.trim());
        return { dom };
      },
    };
  });

  /** Return the types that the document touches, and of which only the name is known. */
  function missingTypes(text) {
    if (!schema || whole) return [];
    const found = new Set();
    const info = new parts.TypeInfo(schema);
    const note = (type) => {
      const named = type && parts.getNamedType(type);
      if (named?.extensions?.unread) found.add(named.name);
    };
    let tree;
    try {
      tree = parts.parse(text, { noLocation: true });
    } catch {
      return [...found, ...typesAtBraces(text)];
    }
    parts.visit(tree, parts.visitWithTypeInfo(info, {
      enter() {
        note(info.getType());
        note(info.getInputType());
        note(info.getParentType());
      },
    }));
    return [...found].slice(0, 20);
  }

  /** For half of a document: the types of the fields in it, by name alone. */
  function typesAtBraces(text) {
    const names = new Set(text.match(/[A-Za-z_]\w*/g) ?? []);
    const found = new Set();
    for (const type of Object.values(schema.getTypeMap())) {
      if (type.extensions?.unread && names.has(type.name)) found.add(type.name);
      if (type.extensions?.unread || !type.getFields || type.name.startsWith("__")) continue;
      for (const [name, field] of Object.entries(type.getFields())) {
        if (!names.has(name)) continue;
        for (const each of [field.type, ...(field.args ?? []).map((arg) => arg.type)]) {
          const named = parts.getNamedType(each);
          if (named.extensions?.unread) found.add(named.name);
        }
      }
    }
    return [...found].slice(0, 20);
  }

  /** Put the words about a completion below or above the list: the frame has no room beside it. */
  function positionInfo(_view, list, _option, info, space) {
    const below = space.bottom - list.bottom > info.bottom - info.top + 4;
    return { style: `${below ? "top" : "bottom"}: 100%; left: 0; max-width: ${Math.max(240, list.right - list.left)}px` };
  }

  // The two editors -------------------------------------------------------------------------------------------------------
  const run = { key: "Mod-Enter", preventDefault: true, run: () => (tell("run"), true) };

  function editor(name, label, extensions) {
    const host = document.createElement("div");
    host.className = "host";
    host.dataset.part = name;
    document.getElementById("editors").append(host);
    const root = host.attachShadow({ mode: "open" });
    views[name] = new EditorView({
      parent: root,
      root,
      state: EditorState.create({
        extensions: [
          keymap.of([run]),
          EditorView.contentAttributes.of({ "aria-label": label, "data-part": `${name}-text`, spellcheck: "false", tabindex: "0" }),
          EditorState.changeFilter.of((change) => change.newDoc.length <= MOST_CHARS),
          parts.highlightSpecialChars(), parts.lineNumbers(), parts.history(), parts.drawSelection(), parts.indentOnInput(), parts.bracketMatching(),
          parts.closeBrackets(), parts.autocompletion({ positionInfo }), EditorView.lineWrapping,
          keymap.of([
            ...parts.closeBracketsKeymap, ...parts.defaultKeymap, ...parts.historyKeymap, ...parts.completionKeymap,
            ...parts.lintKeymap,
          ]),
          look, parts.syntaxHighlighting(colours), ...extensions,
          EditorView.updateListener.of((update) => update.docChanged && changed()),
        ],
      }),
    });
  }

  editor("document", "GraphQL document. Tab leaves the editor, Control and Enter runs the document.", [
    parts.graphqlLanguageSupport(), parts.completion, parts.jump, problems, hover,
    ...parts.stateExtensions(undefined, {
      onShowInDocs: (field, type, parent) => tell("docs", { field, type, parent }),
      onCompletionInfoRender: described,
    }),
  ]);
  const heading = document.createElement("h2");
  heading.textContent = "Variables (JSON)";
  document.getElementById("editors").append(heading);
  editor("variables", "Variables, as a JSON object", [
    parts.json(),
    parts.linter((view) => (view.state.doc.toString().trim() ? parts.jsonParseLinter()(view) : []), { delay: 400 }),
  ]);

  // Messages --------------------------------------------------------------------------------------------------------------
  let timer = 0;
  function changed() {
    clearTimeout(timer);
    timer = setTimeout(() => {
      tell("changed");
      askForTypes();
    }, 120);
  }

  function askForTypes() {
    const names = missingTypes(views.document.state.doc.toString());
    if (names.length) tell("types", { names });
  }

  const texts = () => ({
    document: views.document.state.doc.toString(),
    variables: views.variables.state.doc.toString(),
  });

  const tell = (kind, more = {}) => port?.postMessage({ kind, ...texts(), operations: operations(), ...more });

  /** Return the names of the document's operations; an empty list for half of a document. */
  function operations() {
    try {
      const { definitions } = parts.parse(texts().document, { noLocation: true });
      return definitions.filter((each) => each.kind === "OperationDefinition").map((each) => each.name?.value ?? "");
    } catch {
      return [];
    }
  }

  function setText(name, text) {
    const view = views[name];
    if (typeof text !== "string" || text === view.state.doc.toString()) return;
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text.slice(0, MOST_CHARS) } });
  }

  const received = {
    texts(message) {
      setText("document", message.document);
      setText("variables", message.variables);
    },
    schema(message) {
      try {
        schema = parts.buildClientSchema({ __schema: message.schema }, { assumeValid: true });
        for (const name of message.unread) {
          const type = schema.getType(name);
          if (type) type.extensions = { ...type.extensions, unread: true };
        }
        whole = message.unread.length === 0;
      } catch {
        schema = undefined; // the page shows what the introspection said
      }
      parts.updateSchema(views.document, schema);
      views.document.dispatch({}); // problems are looked for again
      tell("schema", { built: Boolean(schema), types: schema ? Object.keys(schema.getTypeMap()).length : 0 });
      askForTypes();
    },
    theme(message) {
      if (["light", "dark"].includes(message.theme)) document.documentElement.dataset.theme = message.theme;
    },
    format() {
      const text = texts().document;
      if (text.includes("#")) return tell("unformatted", { reason: "comments would be lost" });
      try {
        setText("document", parts.print(parts.parse(text, { noLocation: true })));
      } catch {
        tell("unformatted", { reason: "the document is not valid yet" });
      }
    },
    focus() {
      views.document.focus();
    },
  };

  addEventListener("message", (event) => {
    if (event.source !== parent || event.origin !== PLACE_OF_PAGE || port) return;
    if (event.data?.stile !== "editor-port" || event.ports.length !== 1) return;
    port = event.ports[0];
    port.onmessage = ({ data }) => Object.hasOwn(received, data?.kind) && received[data.kind](data);
  });
  if (parent !== window) parent.postMessage({ stile: "editor-ready" }, PLACE_OF_PAGE);
})();
