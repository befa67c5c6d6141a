// The official SDK for TypeScript, 2.x, whose user agrees to everything: `ts2.mjs URL MODE MODULES`, calls on stdin.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [url, mode, modules] = process.argv.slice(2);
const { resolve } = createRequire(`${modules}/`);
const { Client, StreamableHTTPClientTransport } = await import(pathToFileURL(resolve("@modelcontextprotocol/client")));

const negotiation = {
  default: {},
  auto: { versionNegotiation: { mode: "auto" } },
  pinned: { versionNegotiation: { mode: { pin: "2026-07-28" } } },
};
const questions = [];
const client = new Client({ name: "tests", version: "1" }, { capabilities: { elicitation: {} }, ...negotiation[mode] });
client.setRequestHandler("elicitation/create", async ({ params }) => {
  questions.push(params.message);
  return { action: "accept", content: { confirm: true } };
});
await client.connect(new StreamableHTTPClientTransport(new URL(url)));
const tools = (await client.listTools()).tools.map((tool) => tool.name);
const answers = [];
for (const [name, args] of JSON.parse(readFileSync(0, "utf8"))) {
  answers.push(await client.callTool({ name, arguments: args }));
}
const revision = client.getNegotiatedProtocolVersion();
console.log(JSON.stringify({ revision, server: client.getServerVersion(), tools, answers, questions }));
await client.close();
