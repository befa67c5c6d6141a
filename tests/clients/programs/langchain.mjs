// LangChain's adapters for JavaScript: `langchain.mjs URL MODE MODULES`, calls on stdin.

import { load, tell, told, url } from "./telling.mjs";

const { MultiServerMCPClient } = await load("@langchain/mcp-adapters");
const { convertToOpenAITool } = await load("@langchain/core/utils/function_calling");

const client = new MultiServerMCPClient({ mcpServers: { stile: { transport: "http", url } } });
const tools = await client.getTools();
const use = async (tool, args) => {
  try {
    const { content } = await tool.invoke({ type: "tool_call", id: "1", name: tool.name, args });
    if (typeof content !== "string") return told(content);
    // One block with structured content comes whole, as text.
    const block = content.startsWith('{"type":"text"') ? JSON.parse(content) : { text: content };
    return told([block], { structured: block.structuredContent ?? null });
  } catch (error) {
    return told([{ text: error.message }], { failed: true });
  }
};
await tell(tools, use, (tool) => convertToOpenAITool(tool).function.parameters);
await client.close();
