// From a JSON Schema to the kind of a field. Any schema gets one: what has no field of its own is JSON.
(() => {
  "use strict";
  const { json } = stile;
  const MAX_HOPS = 30; // of references that lead to references
  const LONG = 120; // characters of a value that takes several lines
  const MANY = 40; // values of an enum that are typed rather than listed

  /** Follow references within the document. Members beside `$ref` are stronger. Returns null if one leads nowhere. */
  function resolved(schema, root) {
    let found = schema;
    for (let hop = 0; json.isObject(found) && typeof found.$ref === "string"; hop += 1) {
      const { $ref, ...beside } = found;
      const target = hop < MAX_HOPS && $ref.startsWith("#") ? at(root, $ref.slice(1)) : undefined;
      if (!json.isObject(target)) return null;
      found = { ...target, ...beside };
    }
    return json.isObject(found) ? merged(found, root) : found === true || found === undefined ? {} : null;
  }

  function at(root, pointer) {
    let value = root;
    for (const part of pointer.split("/").slice(1)) {
      const name = decoded(part).replaceAll("~1", "/").replaceAll("~0", "~");
      value = value !== null && typeof value === "object" && Object.hasOwn(value, name) ? value[name] : undefined;
    }
    return value;
  }

  function decoded(part) {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  }

  /** `allOf` with one member is a reference with words beside it; with several, objects that add members. */
  function merged(schema, root) {
    if (!Array.isArray(schema.allOf)) return schema;
    const { allOf, ...beside } = schema;
    const parts = allOf.map((each) => resolved(each, root));
    if (parts.some((each) => !each || each.anyOf || each.oneOf)) return parts.length === 1 && parts[0] ? { ...parts[0], ...beside } : null;
    const all = [...parts, beside];
    const properties = Object.assign({}, ...all.map((each) => each.properties ?? {}));
    const required = [...new Set(all.flatMap((each) => each.required ?? []))];
    return { ...Object.assign({}, ...all), ...(Object.keys(properties).length ? { properties } : {}), ...(required.length ? { required } : {}) };
  }

  /** Return `{kind, schema, nullable}`; `choices` of an enum, `branches` of a union. */
  function shape(given, root) {
    const schema = resolved(given, root);
    if (!schema) return { kind: "json", schema: json.isObject(given) ? given : {}, nullable: true };
    const types = [schema.type].flat().filter((each) => typeof each === "string");
    const nullable = types.includes("null") || (Array.isArray(schema.enum) && schema.enum.includes(null));
    const made = (kind, more) => ({ kind, schema, nullable, ...more });
    if (Object.hasOwn(schema, "const")) return made("const");
    if (Array.isArray(schema.enum)) return made("enum", { choices: schema.enum.filter((each) => each !== null) });
    const branches = schema.anyOf ?? schema.oneOf;
    if (Array.isArray(branches) && branches.length) return union(schema, branches, root, nullable);
    const named = types.filter((each) => each !== "null");
    if (named.length > 1) return made("union", { branches: named.map((type) => ({ ...schema, type, default: undefined })) });
    return made(kindOf(named[0], schema));
  }

  function union(schema, branches, root, nullable) {
    const all = branches.map((each) => resolved(each, root));
    const isNull = (each) => each && (each.type === "null" || (Object.hasOwn(each, "const") && each.const === null));
    const rest = branches.filter((_, number) => !isNull(all[number]));
    const takesNull = nullable || rest.length < branches.length;
    if (rest.length === 1) {
      const { anyOf, oneOf, ...beside } = schema;
      const inner = shape(rest[0], root);
      return { ...inner, schema: { ...inner.schema, ...beside, type: inner.schema.type }, nullable: inner.nullable || takesNull };
    }
    const consts = rest.map((each) => resolved(each, root)).filter((each) => each && Object.hasOwn(each, "const"));
    if (consts.length && consts.length === rest.length) {
      const titles = new Map(consts.map((each) => [each.const, each.title ?? each.description]));
      return { kind: "enum", schema, nullable: takesNull, choices: consts.map((each) => each.const), titles };
    }
    return { kind: "union", schema, nullable: takesNull, branches: rest.map((each) => (schema.properties ? { ...schema, anyOf: undefined, oneOf: undefined, ...resolved(each, root) } : each)) };
  }

  function kindOf(type, schema) {
    if (type === "string") return "string";
    if (type === "integer" || type === "number" || type === "boolean") return type;
    if (type === "null") return "null";
    if (type === "array" || (!type && schema.items)) return "array";
    if (type === "object" || (!type && schema.properties)) {
      if (Object.keys(schema.properties ?? {}).length) return schema.maxProperties === 1 ? "one" : "object";
      if (json.isObject(schema.additionalProperties) || schema.patternProperties) return "map";
      return schema.additionalProperties === false ? "object" : "json";
    }
    return "json";
  }

  /** Tell if a value may be of a shape, as far as its kind goes: the server checks the rest. */
  function fits(value, { kind, nullable, choices, branches, schema }, root) {
    if (value === null) return nullable || kind === "null" || kind === "json";
    switch (kind) {
      case "string": return typeof value === "string";
      case "integer": return json.isNumber(value) && isWhole(value);
      case "number": return json.isNumber(value);
      case "boolean": return typeof value === "boolean";
      case "array": return Array.isArray(value);
      case "object": case "map": return json.isObject(value);
      case "one": return json.isObject(value) && Object.keys(value).length <= 1;
      case "enum": return choices.some((each) => json.same(each, value));
      case "const": return json.same(schema.const, value);
      case "union": return branches.some((each) => fits(value, shape(each, root), root));
      case "null": return false;
      default: return schema.type !== "object" || json.isObject(value);
    }
  }

  /** Return the number of the branch that a value was made for: its required names and constants tell branches apart. */
  function branchOf(value, shapes, root) {
    const isMeant = (shape) => fits(value, shape, root) && (!json.isObject(value) || namesFit(value, shape.schema, root));
    const meant = shapes.findIndex(isMeant);
    return meant >= 0 ? meant : shapes.findIndex((shape) => fits(value, shape, root));
  }

  function namesFit(value, { required, properties }, root) {
    if (Array.isArray(required) && !required.every((name) => Object.hasOwn(value, name))) return false;
    return Object.entries(properties ?? {}).every(([name, each]) => !Object.hasOwn(value, name) || fits(value[name], shape(each, root), root));
  }

  /** `decimal` is digits, of which the last is not 0, times a power of ten. */
  const isWhole = (value) => !json.decimal(String(value)).includes("e-");

  /** Say what the schema says of values, in a few words: these are the hints beside a field. */
  function hints({ kind, schema, nullable, choices, branches }, root) {
    const own = {
      string: "text", integer: "whole number", number: "number", boolean: "true or false", array: `list of ${items(schema, root)}`,
      object: "object", one: "object with exactly one member", map: "object with any names", json: schema.type === "object" ? "any object" : "any JSON", const: "one value",
      enum: choices ? `one of ${choices.length}` : "", union: branches ? `one of ${branches.length} forms` : "", null: "null",
    }[kind];
    const { minimum: least, maximum: most, exclusiveMinimum: above, exclusiveMaximum: less } = schema;
    const said = (word, value) => (value === undefined || (kind === "one" && /propert/.test(word)) ? null : `${word} ${value}`);
    return [
      schema.format ? `${own}: ${schema.format}` : own,
      said("at least", least), said("at most", most), said("above", above), said("below", less), said("a multiple of", schema.multipleOf),
      said("characters: at least", schema.minLength), said("characters: at most", schema.maxLength),
      said("items: at least", schema.minItems), said("items: at most", schema.maxItems), schema.uniqueItems ? "each item once" : null,
      schema.pattern ? `pattern ${schema.pattern}` : null, schema.contentEncoding ?? null, schema.contentMediaType ?? null,
      nullable ? "or null" : null, schema.deprecated ? "deprecated" : null, schema.readOnly ? "read only" : null,
    ].filter(Boolean).join(" · ");
  }

  function items(schema, root) {
    if (!json.isObject(schema.items)) return schema.prefixItems ? "given items" : "values";
    const inner = shape(schema.items, root);
    return { string: "texts", integer: "whole numbers", number: "numbers", boolean: "true or false", object: "objects", array: "lists", enum: "choices" }[inner.kind] ?? "values";
  }

  stile.schema = Object.freeze({ shape, fits, branchOf, hints, isWhole, LONG, MANY });
})();
