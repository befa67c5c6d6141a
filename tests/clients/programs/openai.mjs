// OpenAI's Agents SDK for JavaScript: `openai.mjs URL MODE MODULES`, where MODE is `strict` or `plain`; calls on stdin.

import { asAStrictModel, load, mode, tell, told, url } from "./telling.mjs";

const { getAllMcpTools, MCPServerStreamableHttp, RunContext, setTracingDisabled } = await load("@openai/agents");

setTracingDisabled(true);
const server = new MCPServerStreamableHttp({ url });
await server.connect();
const converted = await getAllMcpTools({ mcpServers: [server], convertSchemasToStrict: mode === "strict" });
// It writes an underscore for each hyphen in a name.
const tools = (await server.listTools()).map(({ name }, at) => ({ ...converted[at], name }));
const use = async (tool, args) => {
  const given = tool.strict ? asAStrictModel(tool.parameters, args) : args;
  const said = await tool.invoke(new RunContext(), JSON.stringify(given));
  return told([said].flat().map((block) => (typeof block === "string" ? { text: block } : block)));
};
await tell(tools, use, (tool) => tool.parameters, { strict: tools.filter((tool) => tool.strict).map(({ name }) => name) });
await server.close();
