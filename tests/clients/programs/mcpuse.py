"""mcp-use, with its adapter for LangChain: ``mcpuse.py URL MODE``."""

from langchain_core.utils.function_calling import convert_to_openai_tool
from mcp_use import MCPClient
from mcp_use.agents.adapters import LangChainAdapter
from telling import tell, told


async def main(url, mode, calls):
    assert mode == "LangChain", "it has one mode"
    client = MCPClient({"mcpServers": {"stile": {"url": url}}})
    adapter = LangChainAdapter()
    await adapter.create_all(client)
    tools = {tool.name: tool for tool in adapter.tools}
    answers = [await use(tools[name], arguments) for name, arguments in calls]
    schemas = {name: convert_to_openai_tool(each)["function"]["parameters"] for name, each in tools.items()}
    await client.close_all_sessions()
    return {"tools": list(tools), "schemas": schemas, "answers": answers}


async def use(tool, arguments):
    said = await tool.ainvoke(arguments)
    if isinstance(said, dict) and said.get("error"):
        return told([{"text": str(said)}], failed=True)
    return told([{"text": said}] if isinstance(said, str) else said)


tell(main)
