// What a program of these reads and prints: the tools, their parameters as the framework shows them to its model, the
// answers.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

export const [url, mode, modules] = process.argv.slice(2);
export const calls = JSON.parse(readFileSync(0, "utf8"));

const { resolve } = createRequire(`${modules}/`);

/** A package, in its form for `import`. */
export const load = async (name) => import(pathToFileURL(resolve(name)));

/** Call each tool in its turn, and print. A tool that the framework does not have answers null. */
export async function tell(tools, use, schemaOf, more = {}) {
  const byName = Object.fromEntries(tools.map((tool) => [tool.name, tool]));
  const answers = [];
  for (const [name, args] of calls) answers.push(name in byName ? await use(byName[name], args) : null);
  const schemas = Object.fromEntries(await Promise.all(tools.map(async (tool) => [tool.name, await schemaOf(tool)])));
  console.log(JSON.stringify({ tools: Object.keys(byName), schemas, answers, ...more }));
}

/** An answer, by its content blocks of any maker. */
export function told(blocks, { failed = false, structured = null } = {}) {
  const texts = blocks.filter((block) => typeof block.text === "string").map((block) => block.text);
  const images = blocks.filter((block) => String(block.type).startsWith("image"));
  return {
    text: texts.length ? texts.join("\n") : null,
    images: images.map((block) => block.data ?? block.image_url?.url ?? block.image),
    structured,
    failed,
  };
}

/** What a model gives that has to fill every property: null where nobody said anything. */
export function asAStrictModel(schema, value, root = schema) {
  if (schema.$ref) return asAStrictModel(at(root, schema.$ref), value, root);
  for (const branch of schema.anyOf ?? []) value = asAStrictModel(branch, value, root);
  if (Array.isArray(value)) return schema.items ? value.map((item) => asAStrictModel(schema.items, item, root)) : value;
  if (value === null || typeof value !== "object") return value;
  const properties = schema.properties ?? {};
  const filled = Object.entries(value).map(([key, item]) => [key, asAStrictModel(properties[key] ?? {}, item, root)]);
  const empty = Object.keys(properties).map((key) => [key, null]);
  return Object.fromEntries([...empty, ...filled]);
}

const at = (root, reference) => reference.slice(2).split("/").reduce((found, key) => found[key], root);
