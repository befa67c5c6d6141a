"""FastMCP's client, whose user agrees to everything: ``fastmcp4.py URL MODE``, calls on standard input."""

import asyncio
import json
import sys

from fastmcp import Client

questions = []


async def agree(message, *_):
    questions.append(message)
    return {"confirm": True}


async def main(url, mode):
    async with Client(url, mode=mode, elicitation_handler=agree) as client:
        tools = [tool.name for tool in await client.list_tools()]
        results = [await client.call_tool_mcp(name, arguments) for name, arguments in json.load(sys.stdin)]
        revision, server = client.protocol_version, client.server_info
    answers = [result.model_dump(mode="json", by_alias=True, exclude_none=True) for result in results]
    info = server and server.model_dump(mode="json", by_alias=True, exclude_none=True)
    found = {"revision": revision, "server": info}
    print(json.dumps({**found, "tools": tools, "answers": answers, "questions": questions}))


asyncio.run(main(*sys.argv[1:]))
