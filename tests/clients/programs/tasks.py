"""A job by the tasks of strands-agents: ``tasks.py URL SECONDS``, one call on standard input.

Waits of SECONDS, those between two questions about the job, are counted and left out.
"""

import asyncio
import json
import sys
from datetime import timedelta

from mcp.client.streamable_http import streamable_http_client
from strands.tools.mcp import MCPClient

url, seconds = sys.argv[1], float(sys.argv[2])
waits = []
wait = asyncio.sleep


async def count(delay, *result):
    if delay == seconds:
        waits.append(delay)
    return await wait(0 if delay == seconds else delay, *result)


asyncio.sleep = count
with MCPClient(lambda: streamable_http_client(url), tasks_config={"poll_timeout": timedelta(minutes=30)}) as client:
    tools = [each.tool_name for each in client.list_tools_sync()]
    answer = client.call_tool_sync("1", *json.load(sys.stdin)[0])
print(json.dumps({"tools": tools, "waited": sum(waits), "structured": answer.get("structuredContent")}))
