// The form of a tool, and the same arguments as JSON. Both show one value: the view that is open is the one that counts.
(() => {
  "use strict";
  const { el, replace, json, fields } = stile;

  /** Return `{node, read(), write(value), flagServer(text), state(), focus}` for the arguments of a schema.
   *
   * `read` returns `{value}` or `{errors}`. `kept` is what `state()` returned for an earlier form of the same tool. */
  function make(given, { kept, changed = () => {} } = {}) {
    const schema = ofArguments(json.isObject(given) ? given : {});
    const isPlain = stile.schema.shape(schema, schema).kind === "object";
    const root = fields.make(schema, { root: schema, required: true, label: "Arguments", top: true, changed: touched });
    const node = el("div", { class: "form-box", "data-part": "form" });
    const errors = el("p", { class: "field-error", role: "alert", "data-part": "form-error" });
    const text = el("textarea", { class: "mono json", "aria-label": "Arguments as JSON", spellcheck: "false", autocomplete: "off", "data-part": "json", "aria-describedby": "json-error", on: { input: checked, keydown: indent } });
    const problem = el("p", { class: "field-error", id: "json-error", "data-part": "json-error", role: "status" });
    let view = "form";

    const buttons = ["form", "json"].map((each) => el("button", { type: "button", "data-part": "view", "data-tab": each, "aria-pressed": "false", on: { click: () => show(each) } }, { form: "Form", json: "JSON" }[each]));
    const body = el("div", { class: "form" });
    replace(node, el("div", { class: "form-head" }, el("span", { class: "segments", role: "group", "aria-label": "View of the arguments" }, buttons)), body, errors);
    const none = isPlain && !Object.keys(schema.properties ?? {}).length;

    function show(wanted, { from = view } = {}) {
      if (wanted === "json" && from === "form") text.value = json.stringify(readForm().value, "  ");
      if (wanted === "form" && from === "json" && !fromText()) return;
      view = wanted;
      for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.tab === view));
      replace(errors);
      if (view === "json") replace(body, text, problem), checked();
      else replace(body, none ? el("p", { class: "quiet" }, "No arguments.") : root.node);
    }

    /** Put the text into the form. Text that is not JSON stays in view, with its mistake. */
    function fromText() {
      const { value, error } = readText();
      if (error) return text.focus(), false;
      root.write(value);
      return true;
    }

    function readText() {
      try {
        const value = text.value.trim() ? json.parse(text.value) : {};
        if (!json.isObject(value)) return { error: "line 1, column 1: expected a JSON object with the arguments" };
        return { value };
      } catch (error) {
        return { error: error.message, at: error.at };
      }
    }

    function checked() {
      const { error } = readText();
      replace(problem, error);
      text.setAttribute("aria-invalid", String(Boolean(error)));
      touched();
    }

    function readForm() {
      const found = [];
      const value = root.read(found);
      return { value: value === fields.ABSENT ? {} : value, errors: found };
    }

    function touched() {
      replace(errors);
      changed();
    }

    /** Return `{value}`, or `{errors}` and show them where they belong. */
    function read() {
      if (view === "json") {
        const { value, error, at } = readText();
        if (!error) return { value };
        replace(problem, error);
        text.focus();
        if (at !== undefined) text.setSelectionRange(at, at);
        return { errors: [{ path: [], words: error }] };
      }
      const { value, errors: found } = readForm();
      if (!found.length) return { value };
      for (const { path, words } of found) root.find(path).flag(words);
      root.find(found[0].path).focus();
      replace(errors, found.length === 1 ? "One argument needs a value that fits." : `${found.length} arguments need values that fit.`);
      return { errors: found };
    }

    /** Return the value as it stands, for copies: mistakes are left out. */
    const draft = () => (view === "json" ? readText().value ?? {} : readForm().value);

    function write(value) {
      root.write(value);
      if (view === "json") text.value = json.stringify(value, "  ");
      changed();
    }

    /** Show the server's sentences about arguments at their fields: `/a/0/b: expected …; /c: …`. */
    function flagServer(message, { mayFocus = true } = {}) {
      let count = 0;
      const told = message.replace(/^Invalid arguments for tool [^:]*: /, "");
      for (const part of told.split(/; (?=\/|: )/)) {
        const found = /^((?:\/(?:[^:\s]|:(?! ))*)+): (.*)$/s.exec(part);
        if (!found) continue;
        const path = found[1].split("/").slice(1).map((each) => each.replaceAll("~1", "/").replaceAll("~0", "~"));
        const field = root.find(path);
        field.flag(field.path().length === path.length ? found[2] : `${found[1]}: ${found[2]}`);
        if (!count && mayFocus) field.focus();
        count += 1;
      }
      return count;
    }

    /** What a later form of the tool takes over, if its schema changed in between. */
    const state = () => ({ view, text: text.value, value: view === "json" ? readText().value : readForm().value });

    if (kept?.value && Object.keys(kept.value).length) root.write(fitting(kept.value, schema));
    if (kept?.view === "json") {
      text.value = kept.text;
      show("json", { from: "json" });
    } else show("form", { from: "form" });
    const gone = Object.keys(kept?.value ?? {}).filter((name) => kept.view !== "json" && !Object.hasOwn(fitting(kept.value, schema), name));
    if (gone.length) replace(errors, `No longer an argument of this tool: ${gone.join(", ")}`);

    return { node, read, write, draft, flagServer, state, show, view: () => view };
  }

  /** Arguments are an object, also where a schema has no names; only one that says so takes any. */
  function ofArguments(schema) {
    const isOpen = schema.additionalProperties !== undefined || schema.patternProperties || schema.$ref || schema.anyOf || schema.oneOf || schema.allOf;
    const hasNames = Object.keys(schema.properties ?? {}).length > 0;
    return { default: {}, type: "object", ...schema, ...(isOpen || hasNames ? {} : { additionalProperties: false }) };
  }

  /** Leave out what the tool no longer takes. */
  function fitting(value, schema) {
    if (schema.additionalProperties !== undefined && schema.additionalProperties !== false) return value;
    return Object.fromEntries(Object.entries(value).filter(([name]) => Object.hasOwn(schema.properties ?? {}, name)));
  }

  /** Tab stays the key that leaves the field, so that a keyboard is not caught; Ctrl-Enter sends. */
  function indent(event) {
    if (event.key !== "Enter" || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const area = event.currentTarget;
    const line = area.value.slice(0, area.selectionStart).split("\n").at(-1);
    const space = /^\s*/.exec(line)[0] + (/[[{]\s*$/.test(line) ? "  " : "");
    event.preventDefault();
    area.setRangeText(`\n${space}`, area.selectionStart, area.selectionEnd, "end");
    area.dispatchEvent(new Event("input"));
  }

  stile.forms = Object.freeze({ make });
})();
