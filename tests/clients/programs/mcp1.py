"""The official SDK for Python, 1.x, whose user agrees to everything: ``mcp1.py URL MODE``, calls on standard input."""

import asyncio
import json
import sys

from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client
from mcp.types import ElicitResult

questions = []


async def agree(_, params):
    questions.append(params.message)
    return ElicitResult(action="accept", content={"confirm": True})


async def main(url, mode):
    assert mode == "legacy", "it has one mode"
    async with (
        streamablehttp_client(url) as (read, write, _),
        ClientSession(read, write, elicitation_callback=agree) as session,
    ):
        introduction = await session.initialize()
        revision, server = introduction.protocolVersion, introduction.serverInfo
        tools = [tool.name for tool in (await session.list_tools()).tools]
        results = [await session.call_tool(name, arguments) for name, arguments in json.load(sys.stdin)]
    answers = [result.model_dump(mode="json", by_alias=True, exclude_none=True) for result in results]
    info = server and server.model_dump(mode="json", by_alias=True, exclude_none=True)
    found = {"revision": revision, "server": info}
    print(json.dumps({**found, "tools": tools, "answers": answers, "questions": questions}))


asyncio.run(main(*sys.argv[1:]))
