// mcp-remote, which is a server on standard input and output for clients that know no other: `remote.mjs URL MODE
// MODULES`, calls on stdin. The client is the official SDK's.

import { calls, load, modules, tell, told, url } from "./telling.mjs";

const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = await load("@modelcontextprotocol/sdk/client/stdio.js");

const args = [`${modules}/mcp-remote/dist/proxy.js`, url];
const client = new Client({ name: "tests", version: "1" });
await client.connect(new StdioClientTransport({ command: process.execPath, args, env: process.env, stderr: "ignore" }));
const { tools } = await client.listTools();
const use = async ({ name }, args) => {
  const { content, isError, structuredContent } = await client.callTool({ name, arguments: args });
  return told(content, { failed: isError, structured: structuredContent });
};
await tell(tools, use, (tool) => tool.inputSchema);
await client.close();
