from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any

from handler.bundle.tools import CONFIRM, CodeTool, GraphQLTool, PrescribedTool, Tool
from handler.commands.console import complain, show_json
from handler.commands.exit_codes import REFUSED, USAGE
from handler.commands.folders.endpoint_folders import add_folder_arguments
from handler.commands.folders.endpoints import Outcome, compile_all, complain_about
from handler.commands.local.callers import add_caller_argument
from handler.commands.local.local_server import local_endpoint, local_http, local_services, stored
from handler.commands.printed_results import show_questions, show_result
from handler.compiler.compile import Compiled
from handler.errors.access import AccessError, CredentialRequired
from handler.errors.calls import ToolNotFound
from handler.errors.protocol import McpError
from handler.server.asgi.request_log import WARNING, level_of
from handler.server.auth.principal import ANONYMOUS, anonymous_at
from handler.server.context.caller import Caller
from handler.server.context.statuses import status_of
from handler.server.mcp.jsonrpc import INVALID_PARAMS, Rejected, Request
from handler.server.mcp.method_call import Call
from handler.server.mcp.revisions import CLIENT_CAPABILITIES, MODERN
from handler.server.mcp.tools_call import call_any_tool
from handler.strict_json import JSONObject

AGREED: JSONObject = {"action": "accept", "content": {CONFIRM: True}}

EXAMPLES = (
    "stile call shop/products list_products first=5",
    'stile call shop/products show_product \'ids=["1", "2"]\' --as claims.json',
)
EXIT_CODES = {
    REFUSED: "an endpoint has problems, or the call failed",
    USAGE: "the command line or an environment variable is not valid, or the tool does not exist",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_folder_arguments(parser)
    parser.add_argument("tool", metavar="TOOL", help="the tool's name")
    parser.add_argument(
        "arguments",
        metavar="K=V",
        nargs="*",
        type=_pair,
        default=[],
        help="an argument or a variable: a text where the tool takes one, else JSON",
    )
    add_caller_argument(parser)
    parser.add_argument("--yes", action="store_true", help="agree where the tool asks its user first")
    parser.add_argument("--json", action="store_true", help="print the whole MCP result")


def run(options: argparse.Namespace) -> int:
    outcomes = compile_all(options.folder, stage=options.stage, endpoint=options.endpoint)
    compiled = [outcome.compiled for outcome in outcomes if outcome.compiled]
    holders = [one for one in compiled if options.tool in (*_names(one), *_aliases(one))] or _perhaps(compiled)
    if len(holders) == 1:
        return _call(holders[0], options)
    if holders:
        names = ", ".join(one.bundle.endpoint for one in holders)
        complain(f'"{options.tool}" is a tool of several endpoints: {names}. Name the folder of one.')
        return 2
    return _no_such_tool(options.tool, outcomes)


def arguments_for(tool: Tool | None, pairs: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Return tool arguments: texts if the tool's schema takes strings, else their JSON, or texts for it to refuse.

    ``tool`` is ``None`` if only a toolkit knows the tool.
    """
    if tool is None:
        return {name: _value(text, {}) for name, text in pairs}
    nested = isinstance(tool, PrescribedTool) and not tool.flat
    schema = tool.arguments["properties"]["variables"] if nested else tool.arguments
    properties = schema.get("properties", {})
    values = {name: _value(text, properties.get(name, {})) for name, text in pairs}
    if not nested:
        return values
    beside = {CONFIRM} if tool.options.confirm == "advisory" and CONFIRM not in properties else set()
    confirmed = {name: _value(text, {"type": "boolean"}) for name, text in pairs if name in beside}
    return {"variables": {name: value for name, value in values.items() if name not in beside}, **confirmed}


def _pair(word: str) -> tuple[str, str]:
    name, equals, text = word.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"{word!r}: expected K=V")
    return name, text


def _no_such_tool(name: str, outcomes: Sequence[Outcome]) -> int:
    complain_about(outcomes)  # the tool may be in an endpoint that has problems
    names = sorted({name for outcome in outcomes if outcome.compiled for name in _names(outcome.compiled)})
    if names:
        complain(f'There is no tool "{name}". There are: {", ".join(names)}')
    elif any(outcome.compiled for outcome in outcomes):
        complain(f'There is no tool "{name}": no tool is declared.')
    return 1 if any(outcome.problems for outcome in outcomes) else 2


def _perhaps(compiled: Sequence[Compiled]) -> list[Compiled]:
    """Return the endpoint with toolkits per caller, which may have the tool; empty if there are none or several."""
    asked = [one for one in compiled if any(kit.per_caller for kit in one.bundle.code)]
    return asked if len(asked) == 1 else []


def _names(compiled: Compiled) -> list[str]:
    return [tool.name for tool in compiled.bundle.tools]


def _aliases(compiled: Compiled) -> list[str]:
    return [alias for tool in compiled.bundle.tools for alias in tool.options.aliases]


def _call(compiled: Compiled, options: argparse.Namespace) -> int:
    endpoint = local_endpoint(compiled)
    arguments = arguments_for(endpoint.tools.get(options.tool), options.arguments)
    try:
        principal = anonymous_at(endpoint.bundle) if options.caller == ANONYMOUS else options.caller
        with closing(local_http()) as http:
            evaluation = endpoint.evaluation_of(principal)
            services = local_services(stored(compiled), http, env_file_of=lambda _: compiled.env_file, development=True)
            caller = Caller(
                endpoint=endpoint, principal=principal, evaluation=evaluation, services=services, note=_tell_author
            )
            result = asyncio.run(_result(caller, options.tool, arguments, agreed=options.yes))
    except (AccessError, ToolNotFound) as exc:
        complain(f'"{options.tool}" is not for this caller: {_answered(exc)}. `stile explain` says why')
        return 1
    except (McpError, Rejected) as exc:
        complain(f"The function answers {exc.code}, {exc}")
        return 1
    asks = "inputRequests" in result
    if options.json:
        show_json(result)
    elif asks:
        show_questions(result["inputRequests"])
    else:
        show_result(result)
    return 1 if result.get("isError") or asks else 0


async def _result(caller: Caller, name: str, arguments: JSONObject, *, agreed: bool) -> dict[str, Any]:
    """Call the tool and return its result. If the tool asks for consent and ``agreed``, call again with consent."""
    capabilities = _capabilities(caller.endpoint.tools.get(name))
    params: JSONObject = {"name": name, "arguments": arguments, "_meta": {CLIENT_CAPABILITIES: capabilities}}
    result = await call_any_tool(_call_of(caller, params), name, arguments)
    if agreed and CONFIRM in result.get("inputRequests", {}):
        params |= {"inputResponses": {CONFIRM: AGREED}, "requestState": result["requestState"]}
        result = await call_any_tool(_call_of(caller, params), name, arguments)
    return result


def _capabilities(tool: Tool | None) -> JSONObject:
    """Return the client's capabilities: all for tools in Python, because the command prints their questions."""
    match tool:
        case None | CodeTool():
            return {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}}
        case PrescribedTool() | GraphQLTool() if tool.options.confirm == "required":
            return {"elicitation": {}}
    return {}


def _call_of(caller: Caller, params: JSONObject) -> Call:
    request = Request(id=1, method="tools/call", params=params, revision=MODERN[0])
    return Call(request=request, caller=caller)


def _tell_author(**facts: Any) -> None:
    """Print a warning of the log, which callers do not see."""
    if level_of(facts) == WARNING:
        complain(facts["reason"])


def _answered(reason: AccessError | ToolNotFound) -> str:
    """Say the function's answer and its reason."""
    match reason:
        case ToolNotFound():
            return f"the function answers {INVALID_PARAMS}, {reason}"
        case CredentialRequired(scopes=(_, *_) as scopes):
            return f"the function answers {status_of(reason)}, {reason}, with the scopes {' '.join(scopes)}"
        case _:
            return f"the function answers {status_of(reason)}, {reason}"


def _value(text: str, schema: Mapping[str, Any]) -> Any:
    types = schema.get("type", [])
    if "string" in types and "object" not in types:  # a scalar of any type takes JSON
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text
