// A first valid query of a root field: its required arguments as variables, and a few of the fields behind it.
(() => {
  "use strict";
  const MOST_FIELDS = 5;
  const MOST_DEPTH = 3;
  const INNER = ["nodes", "edges", "node", "items", "results"]; // of connections and pages
  const VALUES = { Int: 1, Float: 1, Boolean: true, ID: "1" };

  const bare = (ref) => (ref?.ofType ? bare(ref.ofType) : ref);
  const isLeaf = (ref) => ["SCALAR", "ENUM"].includes(bare(ref).kind);
  const isRequired = (each) => each.type.kind === "NON_NULL" && each.defaultValue == null;
  const takesNothing = (field) => !field.isDeprecated && !(field.args ?? []).some(isRequired);
  const written = (ref) => (ref.kind === "NON_NULL" ? `${written(ref.ofType)}!` : ref.kind === "LIST" ? `[${written(ref.ofType)}]` : ref.name);

  /** Return `{document, variables}` as texts. `kind` is query or mutation. */
  async function sample(view, kind, field) {
    const args = (field.args ?? []).filter(isRequired);
    const values = await Promise.all(args.map(async ({ name, type }) => [name, await value(view, type, 0)]));
    const listed = (make) => (args.length ? `(${args.map(make).join(", ")})` : "");
    const head = `${kind} ${field.name[0].toUpperCase()}${field.name.slice(1)}${listed(({ name, type }) => `$${name}: ${written(type)}`)}`;
    const selection = await selected(view, field.type, 1);
    return {
      document: `${head} {\n  ${field.name}${listed(({ name }) => `${name}: $${name}`)}${selection}\n}\n`,
      variables: args.length ? JSON.stringify(Object.fromEntries(values), null, 2) : "",
    };
  }

  /** Return the field that an empty editor opens with; undefined if no query can be read. */
  function firstField(view) {
    const fields = view.types.get(view.head.queryType?.name)?.fields.filter((each) => !each.name.startsWith("__")) ?? [];
    return fields.find(takesNothing) ?? fields[0];
  }

  async function selected(view, type, depth) {
    if (isLeaf(type)) return "";
    const space = "  ".repeat(depth);
    const fields = (await typeOf(view, type))?.fields?.filter(takesNothing) ?? [];
    const chosen = fields.filter((each) => isLeaf(each.type)).slice(0, MOST_FIELDS);
    const objects = depth < MOST_DEPTH ? fields.filter((each) => !isLeaf(each.type)) : [];
    const inner = objects.find(({ name }) => INNER.includes(name)) ?? (chosen.length ? null : objects[0]);
    const lines = chosen.map(({ name }) => name);
    if (inner) lines.push(`${inner.name}${await selected(view, inner.type, depth + 1)}`);
    return ` {\n${(lines.length ? lines : ["__typename"]).map((line) => `${space}  ${line}\n`).join("")}${space}}`;
  }

  async function value(view, type, depth) {
    if (type.kind === "NON_NULL") return value(view, type.ofType, depth);
    if (type.kind === "LIST") return depth ? [] : [await value(view, type.ofType, depth)];
    const found = type.kind === "SCALAR" ? null : await typeOf(view, type);
    if (found?.enumValues?.length) return found.enumValues[0].name;
    if (!found?.inputFields) return VALUES[type.name] ?? "";
    const required = found.inputFields.filter(isRequired);
    const chosen = required.length ? required : found.inputFields.slice(0, depth < MOST_DEPTH ? 1 : 0); // @oneOf wants one
    return Object.fromEntries(await Promise.all(chosen.map(async (each) => [each.name, await value(view, each.type, depth + 1)])));
  }

  /** Return a type of the view, which a large schema reads only now. */
  async function typeOf(view, type) {
    const { name } = bare(type);
    if (!view.types.has(name)) await view.read([name]);
    return view.types.get(name);
  }

  stile.graphqlSamples = Object.freeze({ sample, firstField });
})();
