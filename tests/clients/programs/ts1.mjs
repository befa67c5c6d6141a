// The official SDK for TypeScript, 1.x, whose user agrees to everything: `ts1.mjs URL MODE MODULES`, calls on stdin.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [url, , modules] = process.argv.slice(2);
const { resolve } = createRequire(`${modules}/`);
const load = (name) => import(pathToFileURL(resolve(`@modelcontextprotocol/sdk/${name}.js`)));
const { Client } = await load("client/index");
const { StreamableHTTPClientTransport } = await load("client/streamableHttp");
const { ElicitRequestSchema } = await load("types");

const questions = [];
const transport = new StreamableHTTPClientTransport(new URL(url));
const client = new Client({ name: "tests", version: "1" }, { capabilities: { elicitation: {} } });
client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
  questions.push(params.message);
  return { action: "accept", content: { confirm: true } };
});
await client.connect(transport);
const tools = (await client.listTools()).tools.map((tool) => tool.name);
const answers = [];
for (const [name, args] of JSON.parse(readFileSync(0, "utf8"))) {
  answers.push(await client.callTool({ name, arguments: args }));
}
console.log(JSON.stringify({ revision: transport.protocolVersion, server: client.getServerVersion(), tools, answers, questions }));
await client.close();
