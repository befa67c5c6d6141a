// Clients in JavaScript, each by its own objects or commands: `packages.mjs URL MODE MODULES`, calls on stdin, where MODE
// names one. Each gives the names of the tools, a function that calls one and returns what a model would read, and an end.

import { execFile } from "node:child_process";
import { promisify } from "node:util";

import { calls, load, mode, modules, url } from "./telling.mjs";

const words = ({ content }) => content.map((block) => block.text ?? "").join("\n");

/** Run a command-line client, and return what it prints: its JSON, even if it ends with an error. */
async function printed(program, ...args) {
  const run = promisify(execFile)(process.execPath, [`${modules}/${program}`, ...args], { env: process.env });
  const { stdout, stderr } = await run.catch((error) => error);
  try {
    return JSON.parse(stdout);
  } catch {
    return { content: [{ text: stdout + stderr }] };
  }
}

const CLIENTS = {
  async genkit() {
    const { genkit } = await load("genkit");
    const { createMcpClient } = await load("@genkit-ai/mcp");
    const client = createMcpClient({ name: "stile", mcpServer: { url } });
    await client.ready();
    const found = await client.getActiveTools(genkit({}));
    const tools = Object.fromEntries(found.map((tool) => [tool.__action.name.replace(/^kitchen\.\w+\//, ""), tool]));
    const call = async (name, args) => {
      const said = await tools[name](args);
      return said?.content ? words(said) : typeof said === "string" ? said : JSON.stringify(said);
    };
    return { names: Object.keys(tools), call, end: () => client.disable() };
  },

  /** A server on standard input and output before ours, behind the official client. */
  async supergateway() {
    const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
    const { StdioClientTransport } = await load("@modelcontextprotocol/sdk/client/stdio.js");
    const args = [`${modules}/supergateway/dist/index.js`, "--streamableHttp", url];
    const client = new Client({ name: "tests", version: "1" });
    await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: "ignore" }));
    const names = (await client.listTools()).tools.map((tool) => tool.name);
    return { names, call: async (name, args) => words(await client.callTool({ name, arguments: args })), end: () => client.close() };
  },

  async mcporter() {
    const program = (...args) => printed("mcporter/dist/cli.js", ...args);
    const { tools } = await program("list", "--http-url", url, "--allow-http", "--name", "stile", "--json");
    const server = ["--http-url", url, "--allow-http", "--name", "stile", "--output", "json"];
    const call = async (name, args) => JSON.stringify(await program("call", ...server, "--tool", name, "--args", JSON.stringify(args)));
    return { names: tools.map((tool) => tool.name), call, end: () => {} };
  },

  async mcpc() {
    const program = (...args) => printed("@apify/mcpc/bin/mcpc", "--json", ...args);
    await program("connect", url, "@stile");
    const tools = await program("@stile", "tools-list");
    const call = async (name, args) => words(await program("@stile", "tools-call", name, JSON.stringify(args)));
    return { names: tools.map((tool) => tool.name), call, end: () => program("close", "@stile") };
  },
};

const { names, call, end } = await CLIENTS[mode]();
const answers = [];
for (const [name, args] of calls) answers.push(await call(name, args).catch((error) => String(error)));
await end();
console.log(JSON.stringify({ tools: names, answers }));
process.exit(0);
