"""LangChain's adapters for Python: ``langchain_adapters.py URL MODE``."""

from langchain_core.tools import ToolException
from langchain_core.utils.function_calling import convert_to_openai_tool
from langchain_mcp_adapters.client import MultiServerMCPClient
from telling import tell, told


async def main(url, mode, calls):
    assert mode == "default", "it has one mode"
    client = MultiServerMCPClient({"stile": {"transport": "streamable_http", "url": url}})
    tools = {tool.name: tool for tool in await client.get_tools()}
    return {
        "tools": list(tools),
        "schemas": {name: convert_to_openai_tool(each)["function"]["parameters"] for name, each in tools.items()},
        "answers": [await use(tools[name], arguments) for name, arguments in calls],
    }


async def use(tool, arguments):
    called = {"type": "tool_call", "id": "1", "name": tool.name, "args": arguments}
    try:
        message = await tool.ainvoke(called)
    except ToolException as exc:
        return told([{"text": str(exc)}], failed=True)
    content = [{"text": message.content}] if isinstance(message.content, str) else message.content
    artifact = message.artifact or {}
    return told(content, structured=artifact.get("structured_content"))


tell(main)
