// Fields of one value each, and the frame that every field has: name, hints, null, errors.
//
// A field is `{node, read(errors), write(value), locate(path), find(path), focus(), flag(words)}`. `read` returns ABSENT
// for what is not sent. What a field cannot show, such as a text where a number belongs, stays as JSON in its place.
(() => {
  "use strict";
  const { el, replace, json, schema: schemas } = stile;
  const ABSENT = Symbol("absent");
  const kinds = {}; // by kind: (shape, context) -> {node, read(fail), write(value), clear(), children?(), input?}
  const EXAMPLES = {
    date: "2026-01-31", "date-time": "2026-01-31T09:30:00Z", time: "09:30:00Z", email: "ada@example.com", uuid: "123e4567-e89b-12d3-a456-426614174000",
    uri: "https://example.com/", duration: "PT1H30M", ipv4: "192.0.2.1", ipv6: "2001:db8::1", hostname: "example.com", byte: "SGVsbG8=",
  };
  const GROUPS = new Set(["object", "one", "array", "map", "union"]);
  const LONG_NAMES = /^(query|document|body|text|message|content|html|markdown|sql|script|prompt|description|comment|notes?)$/i;

  /** Make a field. `context` has `root`, `name`, `required`, `changed()`, `depth`, and `bare` for items of lists. */
  function make(given, context) {
    const shape = schemas.shape(given, context.root);
    const { schema } = shape;
    const errorId = stile.id("error");
    const aboutId = stile.id("about");
    const nameId = stile.id("name");
    const error = el("p", { class: "field-error", id: errorId, "data-part": "field-error", hidden: true });
    const note = el("p", { class: "field-note", hidden: true });
    const slot = el("div", { class: "control" });
    const about = context.top ? "" : [schema.description, defaulted(schema)].filter(Boolean).join("\n");
    const isBare = context.top || (context.bare && shape.kind !== "object"); // without a head that could name it
    const naming = isBare ? { "aria-label": context.label } : { "aria-labelledby": nameId };
    const inner = { ...context, shape, nameId, naming, aboutId: about.length < 600 ? `${aboutId} ${errorId}` : errorId, changed };
    let control = null;
    let isNull = false;
    let odd = false; // the value does not fit, and stands as JSON
    let path = [];

    const nullButton = shape.nullable && shape.kind !== "null" && shape.kind !== "json"
      ? el("button", { type: "button", class: "small toggle", "aria-pressed": "false", "aria-label": isBare ? `null: ${context.label}` : null, on: { click: () => (setNull(!isNull), changed()) } }, "null") : null;
    const body = isBare && nullButton ? el("div", { class: "nullable" }, slot, nullButton) : slot;
    const head = el("div", { class: "label-line" },
      el("span", { class: "field-name", id: nameId }, context.label ?? context.name),
      context.required ? el("span", { class: "required" }, "required") : null,
      schema.title && schema.title !== context.name ? el("span", null, schema.title) : null,
      el("span", { class: "field-type" }, schemas.hints(shape, context.root)), isBare ? null : nullButton);
    const node = el("div", { class: "field", "data-part": "field", "data-kind": shape.kind },
      isBare ? null : head,
      stile.clamped(about, { class: "field-about", id: aboutId, hidden: !about }, { most: 600 }),
      GROUPS.has(shape.kind) ? [note, error, body] : [body, note, error]); // a group may be longer than the screen
    use(shape.kind);

    function use(kind) {
      odd = kind !== shape.kind;
      control = kinds[kind](shape, inner);
      replace(slot, control.node);
      control.locate?.(path);
    }

    function setNull(value) {
      isNull = value;
      nullButton?.setAttribute("aria-pressed", String(value));
      slot.hidden = value;
    }

    function changed() {
      flag("");
      if (odd && schemas.fits(readQuietly(), shape, context.root)) note.hidden = true;
      context.changed();
    }

    function readQuietly() {
      return control.read(() => ABSENT);
    }

    /** Errors that a value cannot have are `errors`; what the server would refuse is a note, and is sent. */
    function read(errors) {
      if (isNull) return null;
      const value = control.read((words, where = path) => {
        errors.push({ path: where, words });
        return ABSENT;
      }, errors);
      if (value === ABSENT && context.required && !errors.some((each) => startsWith(each.path, path))) {
        if (Object.hasOwn(schema, "default")) return schema.default;
        errors.push({ path, words: "required" });
      }
      advise(value);
      return value;
    }

    function advise(value) {
      const words = value === ABSENT || odd ? "" : advice(value, schema);
      if (odd) return;
      note.hidden = !words;
      replace(note, words);
    }

    function write(value) {
      flag("");
      note.hidden = true;
      if (odd) use(shape.kind);
      setNull(value === null && Boolean(nullButton));
      if (value === undefined || isNull) return control.clear();
      if (schemas.fits(value, shape, context.root)) return control.write(value);
      use("json");
      control.write(value);
      note.hidden = false;
      replace(note, "This value does not fit the schema. It is sent as it is.");
    }

    function locate(to) {
      path = to;
      node.dataset.path = pointer(to);
      control.locate?.(to);
    }

    /** Return the field of a path, or the nearest one above it. */
    function find(wanted) {
      if (wanted.length > path.length) {
        const found = (control.children?.() ?? []).find((each) => String(each.path().at(-1)) === String(wanted[path.length]));
        if (found) return found.find(wanted);
      }
      return self;
    }

    function flag(words) {
      error.hidden = !words;
      replace(error, words);
      control?.input?.setAttribute("aria-invalid", String(Boolean(words)));
    }

    const self = {
      node, read, write, locate, find, flag,
      path: () => path,
      focus: () => (control.input ?? node.querySelector("input, select, textarea, button"))?.focus(),
    };
    locate(context.path ?? []);
    return self;
  }

  const startsWith = (path, start) => start.every((part, at) => path[at] === part);
  const pointer = (path) => path.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");

  const defaulted = (schema) => (Object.hasOwn(schema, "default") && schema.default !== undefined && schema.default !== null ? `Default: ${short(schema.default)}` : "");

  function short(value) {
    const text = typeof value === "string" ? value || '""' : json.stringify(value);
    return text.length > 200 ? `${text.slice(0, 199)}…` : text;
  }

  /** Return what the server will say of a value, as far as it is plain. */
  function advice(value, schema) {
    if (json.isNumber(value)) {
      const number = Number(value.toString());
      if (number < schema.minimum) return `Expected ${schema.minimum} at least.`;
      if (number > schema.maximum) return `Expected ${schema.maximum} at most.`;
      if (number <= schema.exclusiveMinimum) return `Expected more than ${schema.exclusiveMinimum}.`;
      if (number >= schema.exclusiveMaximum) return `Expected less than ${schema.exclusiveMaximum}.`;
    }
    if (typeof value === "string") {
      const length = [...value].length;
      if (length < schema.minLength) return `Expected ${schema.minLength} characters at least.`;
      if (length > schema.maxLength) return `Expected ${schema.maxLength} characters at most, found ${length}.`;
    }
    if (Array.isArray(value)) {
      if (value.length < schema.minItems) return `Expected ${schema.minItems} items at least.`;
      if (value.length > schema.maxItems) return `Expected ${schema.maxItems} items at most.`;
    }
    return "";
  }

  // Kinds with one value ------------------------------------------------------------------------------------------------------
  const named = (context, more) => ({ ...context.naming, "aria-describedby": context.aboutId, autocomplete: "off", spellcheck: "false", ...more });

  /** The value as a person would write it, shown in an empty field: it is not sent. */
  function hinted(schema) {
    if (Object.hasOwn(schema, "default") && schema.default !== null && schema.default !== undefined) return short(schema.default);
    const example = Array.isArray(schema.examples) && schema.examples.length ? schema.examples[0] : EXAMPLES[schema.format];
    return example === undefined ? "" : `e.g. ${short(example)}`;
  }

  kinds.string = ({ schema }, context) => {
    const sentEmpty = el("button", { type: "button", class: "small toggle", "aria-pressed": "false", title: "Send an empty text", "aria-label": "Send an empty text", on: { click: () => (press(!isPressed()), context.changed()) } }, "empty text");
    const options = list(schema.examples) ?? (schema.prompt ? el("datalist", { id: stile.id("list") }) : null);
    const wrap = el("div", { class: "control" });
    const isPressed = () => sentEmpty.getAttribute("aria-pressed") === "true";
    const press = (on) => sentEmpty.setAttribute("aria-pressed", String(on));
    const control = { node: wrap, read: () => input().value || (isPressed() ? "" : ABSENT), write, clear: () => write("", false), input: null };
    const input = () => control.input;
    const many = schema.maxLength > schemas.LONG || schema.contentMediaType || LONG_NAMES.test(context.name ?? "") || isLong(schema.default);
    draw(many ? "textarea" : "input", "");

    function draw(tag, value) {
      control.input = el(tag, named(context, {
        placeholder: hinted(schema) || null, list: tag === "input" ? options?.id : null, type: tag === "input" ? "text" : null, rows: tag === "textarea" ? 4 : null, value,
        on: { input: () => (input().value && press(false), (sentEmpty.hidden = Boolean(input().value)), context.changed(), offer()), focus: offer, paste: grow },
      }));
      sentEmpty.hidden = Boolean(value);
      replace(wrap, control.input, sentEmpty, options);
    }
    /** Offer the values of a prompt's argument that begin with the text so far. */
    function offer() {
      if (schema.prompt && input().tagName === "INPUT") offered(schema.prompt, context.name, input().value).then((values) => replace(options, values), () => {});
    }
    /** A field of one line would drop the ends of lines. */
    function grow(event) {
      const pasted = event.clipboardData?.getData("text") ?? "";
      if (input().tagName === "TEXTAREA" || !isLong(pasted)) return;
      event.preventDefault();
      const { value, selectionStart, selectionEnd } = input();
      draw("textarea", value.slice(0, selectionStart) + pasted + value.slice(selectionEnd));
      input().focus();
      context.changed();
    }
    function write(value, isGiven = true) {
      if (isLong(value) && input().tagName === "INPUT") draw("textarea", value);
      input().value = value;
      sentEmpty.hidden = Boolean(value);
      press(isGiven && value === "");
    }
    return control;
  };

  async function offered(name, argument, value) {
    const { result } = await stile.mcp.send("completion/complete", { ref: { type: "ref/prompt", name }, argument: { name: argument, value } });
    const values = result?.completion?.values;
    return Array.isArray(values) ? values.map((each) => el("option", { value: String(each) })) : [];
  }

  const isLong = (value) => typeof value === "string" && (value.length > schemas.LONG || /[\n\r]/.test(value));

  function list(examples) {
    const texts = Array.isArray(examples) ? examples.filter((each) => typeof each === "string" || json.isNumber(each)).map(String) : [];
    return texts.length ? el("datalist", { id: stile.id("list") }, texts.map((each) => el("option", { value: each }))) : null;
  }

  kinds.number = kinds.integer = ({ schema, kind }, context) => {
    const options = list(schema.examples);
    const input = el("input", named(context, { type: "text", inputmode: kind === "integer" ? "numeric" : "decimal", placeholder: hinted(schema) || null, list: options?.id, on: { input: context.changed } }));
    const read = (fail) => {
      const digits = input.value.trim().replace(/^\+/, "");
      if (!digits) return ABSENT;
      if (!/^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(digits)) return fail(`expected a ${kind === "integer" ? "whole number" : "number, as 1.5"}`);
      const value = json.number(digits);
      return kind === "integer" && !schemas.isWhole(value) ? fail("expected a whole number") : value;
    };
    return { node: [input, options], input, read, write: (value) => (input.value = String(value)), clear: () => (input.value = "") };
  };

  const unsent = (context, schema) => (context.required ? "Choose…" : `not sent${Object.hasOwn(schema, "default") && schema.default !== null ? ` (default ${short(schema.default)})` : ""}`);

  kinds.boolean = ({ schema }, context) => {
    const group = stile.id("choice");
    const values = [["true", true], ["false", false], ...(context.required ? [] : [[unsent(context, schema), ABSENT]])];
    const radios = values.map(([, value]) => el("input", { type: "radio", name: group, checked: value === ABSENT, on: { change: context.changed } }));
    const node = el("div", { class: "choices", role: "radiogroup", ...context.naming, "aria-describedby": context.aboutId },
      values.map(([words], at) => el("label", null, radios[at], words)));
    const write = (wanted) => radios.forEach((radio, at) => (radio.checked = values[at][1] === wanted));
    return { node, input: radios[0], read: () => values[radios.findIndex((each) => each.checked)]?.[1] ?? ABSENT, write, clear: () => write(ABSENT) };
  };

  kinds.enum = ({ schema, choices, titles }, context) => {
    const words = (value) => (typeof value === "string" ? value : json.stringify(value));
    if (choices.length > schemas.MANY) return typed(choices, words, schema, context);
    const shown = (value) => stile.visible(titles?.get(value) ? `${words(value)} – ${titles.get(value)}` : words(value) || '""');
    const input = el("select", named(context, { on: { change: context.changed } }), el("option", { value: "" }, unsent(context, schema)), choices.map((each, at) => el("option", { value: String(at) }, shown(each))));
    return {
      node: input, input, read: () => (input.value === "" ? ABSENT : choices[Number(input.value)]),
      write: (value) => (input.value = String(choices.findIndex((each) => json.same(each, value)))), clear: () => (input.value = ""),
    };
  };

  /** Too many values for a list: a person types the beginning of one. */
  function typed(choices, words, schema, context) {
    const options = el("datalist", { id: stile.id("list") }, choices.map((each) => el("option", { value: words(each) })));
    const input = el("input", named(context, { type: "text", list: options.id, placeholder: hinted(schema) || `one of ${choices.length}`, on: { input: context.changed } }));
    const read = (fail) => {
      if (!input.value) return ABSENT;
      const found = choices.find((each) => words(each) === input.value);
      return found === undefined ? fail(`expected one of the ${choices.length} values, as ${choices.slice(0, 3).map(words).join(", ")}`) : found;
    };
    return { node: [input, options], input, read, write: (value) => (input.value = words(value)), clear: () => (input.value = "") };
  }

  kinds.const = ({ schema }, context) => fixed(schema.const, context);
  kinds.null = (shape, context) => fixed(null, context);

  function fixed(value, context) {
    const box = el("input", { type: "checkbox", checked: context.required, disabled: context.required, on: { change: context.changed } });
    const node = el("label", { class: "row" }, box, el("code", null, short(value)));
    return { node, input: box, read: () => (box.checked ? value : ABSENT), write: () => (box.checked = true), clear: () => (box.checked = Boolean(context.required)) };
  }

  kinds.json = (shape, context) => {
    const input = el("textarea", named(context, { class: "mono", rows: 3, placeholder: "JSON", on: { input: context.changed } }));
    const read = (fail) => {
      if (!input.value.trim()) return ABSENT;
      try {
        return json.parse(input.value);
      } catch (error) {
        return fail(error.message);
      }
    };
    return { node: input, input, read, write: (value) => (input.value = json.stringify(value, "  ")), clear: () => (input.value = "") };
  };

  stile.fields = Object.freeze({ make, kinds, ABSENT, pointer, short });
})();
