// A job by the tasks of @modelcontextprotocol/ext-tasks: `tasks.mjs URL SECONDS MODULES`, one call on stdin.
// Waits of SECONDS, those between two questions about the job, are counted and left out.

import { pathToFileURL } from "node:url";

import { calls, load, mode, modules, url } from "./telling.mjs";

const { Client, StreamableHTTPClientTransport } = await load("@modelcontextprotocol/client");
const file = `${modules}/@modelcontextprotocol/ext-tasks/dist/client/index.js`; // it has no form for `require`
const { createTaskSessionFromClient, resultFromTaskOutcome } = await import(pathToFileURL(file));

const seconds = Number(mode);
let waited = 0;
const wait = globalThis.setTimeout;
globalThis.setTimeout = (run, ms, ...args) => {
  if (ms !== seconds * 1000) return wait(run, ms, ...args);
  waited += seconds;
  return wait(run, 0, ...args);
};

const protocolVersion = "2026-07-28";
const clientInfo = { name: "tests", version: "1" };
const client = new Client(clientInfo, { versionNegotiation: { mode: { pin: protocolVersion } } });
await client.connect(new StreamableHTTPClientTransport(new URL(url)));
const tools = (await client.listTools()).tools.map((tool) => tool.name);

// The package leaves it to its host to send requests whose results are tasks.
let id = 0;
const rawDispatch = async ({ method, params }) => {
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": protocolVersion,
    "mcp-method": method,
    "mcp-name": params.taskId ?? params.name,
  };
  id += 1;
  const body = JSON.stringify({ jsonrpc: "2.0", id, method, params });
  const answer = await (await fetch(url, { method: "POST", headers, body })).json();
  return answer.error ? { kind: "error", error: answer.error } : { kind: "result", result: answer.result };
};

const v2RequestFraming = { protocolVersion, clientInfo, clientCapabilities: {} };
const session = createTaskSessionFromClient(client, { endpointId: "tests", rawDispatch, v2RequestFraming });
const { outcome } = await (await session.callTool(...calls[0])).settle();
const { structuredContent } = resultFromTaskOutcome(outcome);
await session.close();
await client.close();
console.log(JSON.stringify({ tools, waited, structured: structuredContent }));
