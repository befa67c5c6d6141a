// One script of a program and its packages, for a browser: `bundle.mjs PROGRAM MODULES FILE`.

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [program, modules, file] = process.argv.slice(2);
const { resolve } = createRequire(`${modules}/`);
const { rolldown } = await import(pathToFileURL(resolve("rolldown")));
const bundle = await rolldown({ input: program, platform: "browser", resolve: { modules: [modules] }, logLevel: "silent" });
await bundle.write({ file, format: "iife", codeSplitting: false });
