// Vercel's AI SDK: `vercel.mjs URL MODE MODULES`, calls on stdin.

import { load, tell, told, url } from "./telling.mjs";

const { createMCPClient } = await load("@ai-sdk/mcp");

const client = await createMCPClient({ transport: { type: "http", url } });
const tools = Object.entries(await client.tools()).map(([name, tool]) => ({ ...tool, name }));
const use = async (tool, args) => {
  const { content, isError, structuredContent } = await tool.execute(args, { toolCallId: "1", messages: [] });
  return told(content, { failed: isError, structured: structuredContent });
};
await tell(tools, use, (tool) => tool.inputSchema.jsonSchema);
await client.close();
