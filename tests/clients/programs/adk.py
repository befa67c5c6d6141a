"""Google's Agent Development Kit: ``adk.py URL MODE``."""

from google.adk.tools.mcp_tool import McpToolset, StreamableHTTPConnectionParams
from telling import tell, told


async def main(url, mode, calls):
    assert mode == "default", "it has one mode"
    toolset = McpToolset(connection_params=StreamableHTTPConnectionParams(url=url))
    tools = {tool.name: tool for tool in await toolset.get_tools()}
    answers = [await tools[name].run_async(args=arguments, tool_context=None) for name, arguments in calls]
    await toolset.close()
    return {
        "tools": list(tools),
        "schemas": {name: tool._get_declaration().parameters_json_schema for name, tool in tools.items()},
        "answers": [
            told(each["content"], failed=each["isError"], structured=each.get("structuredContent")) for each in answers
        ],
    }


tell(main)
