// Mastra: `mastra.mjs URL MODE MODULES`, calls on stdin. Its names of tools begin with that of the server.

import { load, tell, told, url } from "./telling.mjs";

const { MCPClient } = await load("@mastra/mcp");

const client = new MCPClient({ servers: { stile: { url: new URL(url) } } });
const found = await (client.listTools ?? client.getTools).call(client);
const tools = Object.entries(found).map(([id, tool]) => Object.assign(tool, { name: id.replace(/^stile_/, "") }));
const use = async (tool, args) => {
  // Of old, arguments came within a context.
  const said = await (client.listTools ? tool.execute(args, {}) : tool.execute({ context: args }));
  if (said?.content) return told(said.content, { failed: said.isError, structured: said.structuredContent });
  return { text: null, images: [], structured: said, failed: Boolean(said?.error) };
};
await tell(tools, use, () => null);
await client.disconnect();
