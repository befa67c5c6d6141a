"""Agent frameworks and clients, each by its own objects: ``packages.py URL MODE``, where MODE names one.

Each is a context manager that gives the names of the tools, and a function that calls one and returns what a model
would read. A framework that raises the tool's error gives the words of the error.
"""

import asyncio
import json
import os
import sys
from contextlib import asynccontextmanager

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # it fetches a list of prices at its import, else
os.environ["CREWAI_DISABLE_TELEMETRY"] = os.environ["OTEL_SDK_DISABLED"] = "true"


@asynccontextmanager
async def agno(url):
    from agno.tools.mcp import MCPTools

    async with MCPTools(transport="streamable-http", url=url) as kit:

        async def call(name, arguments):
            return (await kit.functions[name].entrypoint(**arguments)).content

        yield list(kit.functions), call


@asynccontextmanager
async def strands(url):
    from strands.tools.mcp import MCPClient

    with MCPClient(url_transport(url)) as client:
        names = [each.tool_name for each in client.list_tools_sync()]

        async def call(name, arguments):
            return words(client.call_tool_sync("1", name, arguments)["content"])

        yield names, call


def url_transport(url):
    from mcp.client.streamable_http import streamable_http_client

    return lambda: streamable_http_client(url)


@asynccontextmanager
async def dspy(url):
    import dspy
    from mcp import ClientSession
    from mcp.client.streamable_http import streamable_http_client

    async with streamable_http_client(url) as streams, ClientSession(*streams[:2]) as session:
        await session.initialize()
        tools = {each.name: dspy.Tool.from_mcp_tool(session, each) for each in (await session.list_tools()).tools}

        async def call(name, arguments):
            return words(await tools[name].acall(**arguments))

        yield list(tools), call


@asynccontextmanager
async def haystack(url):
    from haystack_integrations.tools.mcp import MCPToolset, StreamableHttpServerInfo

    kit = MCPToolset(StreamableHttpServerInfo(url=url), eager_connect=True)
    tools = {each.name: each for each in kit}

    async def call(name, arguments):
        found = await asyncio.to_thread(tools[name].invoke, **arguments)
        return words(json.loads(found)["content"] if isinstance(found, str) else found)

    yield list(tools), call
    kit.close()


@asynccontextmanager
async def litellm(url):
    from litellm import experimental_mcp_client as of_litellm
    from mcp import ClientSession
    from mcp.client.streamable_http import streamable_http_client

    async with streamable_http_client(url) as streams, ClientSession(*streams[:2]) as session:
        await session.initialize()
        tools = await of_litellm.load_mcp_tools(session, format="openai")

        async def call(name, arguments):
            asked = {"id": "1", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
            return words((await of_litellm.call_openai_tool(session, asked)).content)

        yield [each["function"]["name"] for each in tools], call


@asynccontextmanager
async def semantic_kernel(url):
    from semantic_kernel import Kernel
    from semantic_kernel.connectors.mcp import MCPStreamableHttpPlugin

    async with MCPStreamableHttpPlugin(name="stile", url=url) as plugin:
        kernel = Kernel()
        functions = kernel.add_plugin(plugin).functions

        async def call(name, arguments):
            return words((await kernel.invoke(functions[name], **arguments)).value)

        yield list(functions), call


@asynccontextmanager
async def mcp_agent(url):
    from mcp_agent.config import MCPServerSettings, MCPSettings, Settings
    from mcp_agent.mcp.gen_client import gen_client
    from mcp_agent.mcp.mcp_server_registry import ServerRegistry

    server = MCPServerSettings(transport="streamable_http", url=url)
    registry = ServerRegistry(Settings(mcp=MCPSettings(servers={"stile": server})))
    async with gen_client("stile", registry) as session:

        async def call(name, arguments):
            return words((await session.call_tool(name, arguments)).content)

        yield [each.name for each in (await session.list_tools()).tools], call


@asynccontextmanager
async def autogen(url):
    from autogen_core import CancellationToken
    from autogen_ext.tools.mcp import StreamableHttpServerParams, mcp_server_tools

    tools = {each.name: each for each in await mcp_server_tools(StreamableHttpServerParams(url=url))}

    async def call(name, arguments):
        return words(await tools[name].run_json(arguments, CancellationToken()))

    yield list(tools), call


@asynccontextmanager
async def crewai(url):
    from crewai_tools import MCPServerAdapter

    with MCPServerAdapter({"url": url, "transport": "streamable-http"}) as found:
        tools = {each.name: each for each in found}

        async def call(name, arguments):
            return await asyncio.to_thread(tools[name].run, **arguments)

        yield list(tools), call


@asynccontextmanager
async def beeai(url):
    from beeai_framework.tools.mcp import MCPTool
    from mcp.client.streamable_http import streamablehttp_client

    tools = {each.name: each for each in await MCPTool.from_client(streamablehttp_client(url))}

    async def call(name, arguments):
        found = await tools[name].run(arguments)
        return found.get_text_content()

    yield list(tools), call


@asynccontextmanager
async def mcp_proxy(url):
    """A server on standard input and output before ours, behind the official client."""
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    program = StdioServerParameters(
        command=sys.executable, args=["-m", "mcp_proxy", "--transport", "streamablehttp", url]
    )
    async with stdio_client(program) as streams, ClientSession(*streams) as session:
        await session.initialize()

        async def call(name, arguments):
            return words((await session.call_tool(name, arguments)).content)

        yield [each.name for each in (await session.list_tools()).tools], call


@asynccontextmanager
async def camel(url):
    from camel.utils.mcp_client import MCPClient

    async with MCPClient({"url": url}) as client:

        async def call(name, arguments):
            return words((await client.call_tool(name, arguments)).content)

        yield [each.name for each in (await client.list_mcp_tools()).tools], call


def words(found):
    """The texts among content blocks of any maker."""
    if isinstance(found, str):
        return found
    blocks = found if isinstance(found, list | tuple) else [found]
    texts = [
        each.get("text") if isinstance(each, dict) else getattr(each, "text", None) or str(each) for each in blocks
    ]
    return "\n".join(each for each in texts if each)


async def main(url, mode, calls):
    async with globals()[mode](url) as (names, call):
        answers = []
        for name, arguments in calls:
            try:
                answers.append(await call(name, arguments))
            except Exception as exc:  # noqa: BLE001 - of any package: a model gets its words
                answers.append(words_of(exc))
    return {"tools": names, "answers": answers}


def words_of(exc: BaseException) -> str:
    """Return the words of an error, or of those in a group, as AutoGen's workbench shows them."""
    if isinstance(exc, BaseExceptionGroup):
        return "; ".join(words_of(each) for each in exc.exceptions)
    return f"{type(exc).__name__}: {exc}"


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(*sys.argv[1:], json.load(sys.stdin)))))
