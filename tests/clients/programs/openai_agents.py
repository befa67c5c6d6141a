"""OpenAI's Agents SDK for Python: ``openai_agents.py URL MODE``, where MODE is ``strict`` or ``plain``."""

import json

from agents.mcp import MCPServerStreamableHttp, MCPUtil
from agents.run_context import RunContextWrapper
from agents.tool_context import ToolContext
from telling import as_a_strict_model, tell, told


async def main(url, mode, calls):
    async with MCPServerStreamableHttp({"url": url}, client_session_timeout_seconds=30) as server:
        found = await MCPUtil.get_all_function_tools([server], mode == "strict", RunContextWrapper(None), None)
        tools = {tool.name: tool for tool in found}
        answers = [await use(tools[name], arguments) for name, arguments in calls]
    return {
        "tools": list(tools),
        "schemas": {name: tool.params_json_schema for name, tool in tools.items()},
        "strict": [name for name, tool in tools.items() if tool.strict_json_schema],
        "answers": answers,
    }


async def use(tool, arguments):
    given = as_a_strict_model(tool.params_json_schema, arguments) if tool.strict_json_schema else arguments
    text = json.dumps(given)
    context = ToolContext(None, tool_name=tool.name, tool_call_id="1", tool_arguments=text)
    said = await tool.on_invoke_tool(context, text)
    return told(said if isinstance(said, list) else [said])


tell(main)
