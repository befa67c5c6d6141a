"""Pydantic AI, whose model does as it is told, behind the schemas that its models of OpenAI are shown."""

import base64

from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import BinaryContent, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.profiles.openai import openai_model_profile
from telling import tell


async def main(url, mode, calls):
    assert mode == "OpenAI's schemas", "it has one mode"
    shown = []

    def call_or_end(messages, info):
        if shown:
            return ModelResponse([TextPart("done")])
        shown.extend(info.function_tools)
        return ModelResponse(
            [ToolCallPart(name, arguments, tool_call_id=str(at)) for at, (name, arguments) in enumerate(calls)]
        )

    model = FunctionModel(call_or_end, profile=openai_model_profile("gpt-5"))
    async with Agent(model, toolsets=[MCPToolset(url)], retries=1) as agent:
        done = await agent.run("")
    parts = {part.tool_call_id: part for each in done.all_messages() for part in each.parts if returns(part)}
    return {
        "tools": [tool.name for tool in shown],
        "schemas": {tool.name: tool.parameters_json_schema for tool in shown},
        "answers": [read(parts[str(at)]) for at in range(len(calls))],
    }


def returns(part):
    return part.part_kind in ("tool-return", "retry-prompt")


def read(part):
    blocks = part.content if isinstance(part.content, list) else []
    images = [base64.b64encode(each.data).decode() for each in blocks if isinstance(each, BinaryContent)]
    text = part.content if isinstance(part.content, str) else None
    if images:  # only then it is a list of blocks: else it is what a tool returned
        text = "\n".join(each for each in blocks if isinstance(each, str))
    structured = part.content if text is None else None
    return {"text": text, "structured": structured, "images": images, "failed": not isinstance(part, ToolReturnPart)}


tell(main)
