// Fields of several values: objects, lists, maps, exactly one member, unions. Each is opened on demand, because an input
// type may hold itself.
(() => {
  "use strict";
  const { el, replace, json, fields, schema: schemas } = stile;
  const { ABSENT, kinds } = fields;
  const MAX_OPEN = 6; // depth to which required objects open themselves

  const button = (words, part, press, more) => el("button", { type: "button", class: "small", "data-part": part, ...more, on: { click: press } }, words);

  /** An object that is not there, until a person opens it or a value is written. `make` fills the group. */
  function opened({ context, words, make, fill }) {
    const group = el("div", { class: "group", role: "group", ...context.naming });
    const open = button(words, "expand", () => (show(true), context.changed(), group.querySelector("input, select, textarea, button")?.focus()));
    const shut = button("Remove", "collapse", () => (show(false), context.changed(), open.focus()), { "aria-label": `Remove ${context.name ?? ""}` });
    const node = el("div", { class: "grow" });
    let isOpen = false;
    function show(wanted) {
      isOpen = wanted;
      if (wanted) replace(group, make());
      replace(node, wanted ? group : null, wanted ? (context.required ? null : shut) : open);
    }
    show(Boolean(context.required) && (context.depth ?? 0) < MAX_OPEN);
    return { node, isOpen: () => isOpen, show, write: (value) => (show(true), fill(value)), clear: () => show(Boolean(context.required) && (context.depth ?? 0) < MAX_OPEN) };
  }

  const child = (context, more) => ({ root: context.root, changed: context.changed, depth: (context.depth ?? 0) + 1, ...more });

  kinds.object = ({ schema }, context) => {
    const required = new Set([schema.required ?? []].flat());
    let members = new Map();
    let others = null; // members that the schema does not name
    let path = [];
    const box = el("div", { class: "group-rest" });
    const part = opened({
      context, words: "Add",
      make() {
        members = new Map(Object.entries(schema.properties ?? {}).map(([name, each]) => [name, fields.make(each, child(context, { name, required: required.has(name), path: [...path, name] }))]));
        others = null;
        return [[...members.values()].map((each) => each.node), replace(box)];
      },
      fill(value) {
        for (const [name, field] of members) field.write(Object.hasOwn(value, name) ? value[name] : undefined);
        const rest = Object.entries(value).filter(([name]) => !members.has(name));
        rest.length ? showOthers(Object.fromEntries(rest)) : (replace(box), (others = null));
      },
    });
    function showOthers(value) {
      others = fields.make({}, child(context, { name: "", label: "further members", path }));
      others.write(value);
      replace(box, others.node);
    }
    function read(fail, errors) {
      if (!part.isOpen()) return ABSENT;
      const result = {};
      for (const [name, field] of members) put(result, name, field.read(errors));
      const rest = others?.read(errors) ?? ABSENT;
      if (rest !== ABSENT && !json.isObject(rest)) return fail("further members: expected a JSON object");
      if (rest !== ABSENT) for (const [name, value] of Object.entries(rest)) put(result, name, value);
      return result;
    }
    function locate(to) {
      path = to;
      for (const [name, field] of members) field.locate([...to, name]);
    }
    return { node: part.node, read, write: part.write, clear: part.clear, locate, children: () => [...members.values()] };
  };

  /** Names such as `__proto__` are names like others. */
  function put(object, name, value) {
    if (value !== ABSENT) Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
  }

  kinds.one = ({ schema }, context) => {
    const names = Object.keys(schema.properties);
    const select = el("select", { "aria-label": `Member of ${context.name ?? "the object"}`, "aria-describedby": context.aboutId, on: { change: () => (choose(select.value), context.changed()) } },
      el("option", { value: "" }, context.required ? "Choose one member…" : "not sent"), names.map((name) => el("option", { value: name }, stile.visible(name))));
    const slot = el("div", { class: "group" });
    let field = null;
    let path = [];
    function choose(name) {
      select.value = name;
      field = name ? fields.make(schema.properties[name], child(context, { name, required: true, path: [...path, name] })) : null;
      slot.hidden = !field;
      replace(slot, field?.node);
    }
    choose("");
    return {
      node: el("div", { class: "grow" }, select, slot), input: select,
      read(fail, errors) {
        if (!field) return ABSENT;
        const result = {};
        put(result, select.value, field.read(errors));
        return result;
      },
      write(value) {
        const [name] = Object.keys(value);
        choose(name !== undefined && names.includes(name) ? name : "");
        field?.write(value[name]);
      },
      clear: () => choose(""),
      locate: (to) => ((path = to), field?.locate([...to, select.value])),
      children: () => (field ? [field] : []),
    };
  };

  kinds.array = ({ schema }, context) => {
    const given = Array.isArray(schema.prefixItems) ? schema.prefixItems : [];
    const of = (at) => given[at] ?? (schema.items === false ? null : schema.items ?? {});
    const all = []; // fields in order
    let isThere = false;
    let path = [];
    const items = el("div", { class: "items", role: "list" });
    const note = el("span", { class: "quiet" });
    const add = button("Add item", "add-item", () => (insert(), context.changed(), all.at(-1).focus()));
    const shut = button("Remove", "collapse", () => (clear(), context.changed(), add.focus()), { "aria-label": `Remove the list ${context.name ?? ""}` });
    const node = el("div", { class: "grow group" }, items, el("div", { class: "row" }, add, shut, note));

    function insert(value) {
      isThere = true;
      const at = all.length;
      const field = fields.make(of(at) ?? {}, child(context, { name: context.name, label: `${context.name ?? "item"} ${at + 1}`, required: true, bare: true, path: [...path, at] }));
      all.push(field);
      if (value !== undefined) field.write(value);
      draw();
    }
    function move(field, by) {
      const at = all.indexOf(field);
      all.splice(at + by, 0, all.splice(at, 1)[0]);
      draw();
      context.changed();
      items.children[at + by]?.querySelector(`[data-part="${by < 0 ? "move-up" : "move-down"}"]`)?.focus();
    }
    function remove(field) {
      all.splice(all.indexOf(field), 1);
      draw();
      context.changed();
      add.focus();
    }
    function draw() {
      all.forEach((field, at) => field.locate([...path, at]));
      replace(items, all.map((field, at) => el("div", { class: "item", role: "listitem" }, field.node,
        el("div", { class: "item-buttons" },
          given.length ? null : button("↑", "move-up", () => move(field, -1), { "aria-label": `Move item ${at + 1} up`, disabled: at === 0 }),
          given.length ? null : button("↓", "move-down", () => move(field, 1), { "aria-label": `Move item ${at + 1} down`, disabled: at === all.length - 1 }),
          button("✕", "remove-item", () => remove(field), { "aria-label": `Remove item ${at + 1}` })))));
      items.hidden = !all.length;
      shut.hidden = !isThere || context.required;
      add.hidden = of(all.length) === null;
      replace(note, isThere || context.required ? (all.length ? "" : "An empty list is sent.") : "");
    }
    function clear() {
      isThere = false;
      all.length = 0;
      if (context.required) given.forEach(() => insert());
      draw();
    }
    clear();
    return {
      node, input: add,
      read: (fail, errors) => (isThere || (context.required && !Object.hasOwn(schema, "default")) ? all.map((field) => field.read(errors)).filter((value) => value !== ABSENT) : ABSENT),
      write(value) {
        all.length = 0;
        isThere = true;
        value.forEach((each) => insert(each));
        draw();
      },
      clear,
      locate: (to) => ((path = to), all.forEach((field, at) => field.locate([...to, at]))),
      children: () => all,
    };
  };

  kinds.map = ({ schema }, context) => {
    const rows = []; // {name: input, field}
    let isThere = Boolean(context.required);
    let path = [];
    const items = el("div", { class: "items" });
    const add = button("Add a member", "add-property", () => (insert("", undefined), context.changed(), rows.at(-1).name.focus()));
    const node = el("div", { class: "grow group", role: "group", ...context.naming }, items, add);
    const of = (name) => {
      const pattern = Object.entries(schema.patternProperties ?? {}).find(([each]) => matches(each, name));
      return pattern?.[1] ?? (json.isObject(schema.additionalProperties) ? schema.additionalProperties : Object.values(schema.patternProperties ?? {})[0] ?? {});
    };
    function insert(name, value) {
      isThere = true;
      const input = el("input", { type: "text", class: "mono", "aria-label": "Name of the member", placeholder: "name", value: name, autocomplete: "off", spellcheck: "false", on: { input: context.changed } });
      const row = { name: input, field: fields.make(of(name), child(context, { name: "value", label: "value", required: true, path: [...path, name] })) };
      if (value !== undefined) row.field.write(value);
      rows.push(row);
      draw();
    }
    function draw() {
      replace(items, rows.map((row) => el("div", { class: "item" }, el("div", { class: "field" }, row.name, row.field.node),
        el("div", { class: "item-buttons" }, button("✕", "remove-item", () => {
          rows.splice(rows.indexOf(row), 1);
          draw();
          context.changed();
          add.focus();
        }, { "aria-label": "Remove the member" })))));
    }
    function clear() {
      rows.length = 0;
      isThere = Boolean(context.required);
      draw();
    }
    return {
      node, input: add, clear, children: () => rows.map((row) => row.field),
      read(fail, errors) {
        if (!isThere || (!rows.length && !context.required)) return ABSENT;
        const result = {};
        for (const { name, field } of rows) {
          if (Object.hasOwn(result, name.value)) return fail(`the name ${JSON.stringify(name.value)} is there twice`);
          field.locate([...path, name.value]);
          put(result, name.value, field.read(errors));
        }
        return result;
      },
      write(value) {
        rows.length = 0;
        for (const [name, each] of Object.entries(value)) insert(name, each);
        isThere = true;
      },
      locate: (to) => ((path = to), rows.forEach(({ name, field }) => field.locate([...to, name.value]))),
    };
  };

  function matches(pattern, name) {
    try {
      return new RegExp(pattern, "u").test(name);
    } catch {
      return false;
    }
  }

  kinds.union = ({ branches }, context) => {
    const shapes = branches.map((each) => schemas.shape(each, context.root));
    const label = (shape, at) => stile.visible(shape.schema.title || (branches[at].$ref ?? "").split("/").at(-1) || schemas.hints({ ...shape, nullable: false }, context.root));
    const select = el("select", { "aria-label": `Form of ${context.name ?? "the value"}`, "aria-describedby": context.aboutId, on: { change: () => (choose(select.value), context.changed()) } },
      el("option", { value: "" }, context.required ? "Choose a form…" : "not sent"), shapes.map((each, at) => el("option", { value: String(at) }, label(each, at))));
    const slot = el("div", { class: "union-value grow" });
    let field = null;
    let path = [];
    function choose(at) {
      select.value = at;
      field = at === "" ? null : fields.make(branches[Number(at)], child(context, { name: context.name, label: context.name ?? "value", required: true, bare: true, path }));
      replace(slot, field?.node);
    }
    choose("");
    return {
      node: el("div", { class: "control grow" }, select, slot), input: select,
      read: (fail, errors) => (field ? field.read(errors) : ABSENT),
      write(value) {
        choose(String(schemas.branchOf(value, shapes, context.root)));
        field?.write(value);
      },
      clear: () => choose(""),
      locate: (to) => ((path = to), field?.locate(to)),
      children: () => (field ? field.children?.() ?? [] : []),
    };
  };
})();
