"""LlamaIndex: ``llamaindex.py URL MODE``."""

from llama_index.tools.mcp import BasicMCPClient, McpToolSpec
from telling import tell, told


async def main(url, mode, calls):
    assert mode == "default", "it has one mode"
    found = await McpToolSpec(client=BasicMCPClient(url)).to_tool_list_async()
    tools = {tool.metadata.name: tool for tool in found}
    results = [(await tools[name].acall(**arguments)).raw_output for name, arguments in calls]
    return {
        "tools": list(tools),
        "schemas": {name: tool.metadata.get_parameters_dict() for name, tool in tools.items()},
        "answers": [told(each.content, failed=each.is_error, structured=each.structured_content) for each in results],
    }


tell(main)
