"""The official SDK for Python, 2.x, whose user agrees to everything: ``mcp2.py URL MODE``, calls on standard input."""

import asyncio
import json
import sys

from mcp import Client
from mcp_types import ElicitResult

questions = []


async def agree(_, params):
    questions.append(params.message)
    return ElicitResult(action="accept", content={"confirm": True})


async def main(url, mode):
    async with Client(url, mode=mode, elicitation_callback=agree) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        results = [await client.call_tool(name, arguments) for name, arguments in json.load(sys.stdin)]
        revision, server = client.protocol_version, client.server_info
    answers = [result.model_dump(mode="json", by_alias=True, exclude_none=True) for result in results]
    info = server and server.model_dump(mode="json", by_alias=True, exclude_none=True)
    found = {"revision": revision, "server": info}
    print(json.dumps({**found, "tools": tools, "answers": answers, "questions": questions}))


asyncio.run(main(*sys.argv[1:]))
