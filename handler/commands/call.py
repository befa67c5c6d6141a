from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

from handler.bundle import PrescribedTool, Tool, bundle_key, index_key, write_bundle
from handler.commands.compiling import add_folder_arguments, compile_or_complain
from handler.commands.console import complain, say, show_json
from handler.compiler.compile import Compiled
from handler.errors import ToolNotFound
from handler.http import HttpClient
from handler.policy import outcome_of
from handler.server.endpoints import Endpoint
from handler.server.tools import Caller, call_tool
from handler.storage import MemoryStorage

HELP = "Call a tool of an endpoint folder, as it would answer once published."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_folder_arguments(parser)
    parser.add_argument("tool", metavar="TOOL", help="the tool's name")
    parser.add_argument("arguments", metavar="K=V", nargs="*", help="an argument: a text, or JSON where one fits")
    parser.add_argument("--json", action="store_true", help="print the whole MCP result")


def run(options: argparse.Namespace) -> int:
    compiled = compile_or_complain(options.folder, stage=options.stage)
    holders = [one for one in compiled if options.tool in {tool.name for tool in one.bundle.tools}]
    if not holders:
        names = sorted(tool.name for one in compiled for tool in one.bundle.tools)
        if compiled:
            complain(f'no tool named "{options.tool}"; there are: {", ".join(names)}')
        return 1 if not compiled else 2
    if len(holders) > 1:
        complain(f'"{options.tool}" is a tool of several endpoints here; name the folder of one')
        return 2
    return _call(holders[0], options)


def _call(compiled: Compiled, options: argparse.Namespace) -> int:
    endpoint = _endpoint(compiled)
    arguments = parse_arguments(endpoint.tools[options.tool], options.arguments)
    if arguments is None:
        complain("arguments are written K=V")
        return 2
    outcome = outcome_of(compiled.bundle.conditions, unrestricted=True)
    caller = Caller(endpoint=endpoint, outcome=outcome, http=HttpClient())
    try:
        result = asyncio.run(call_tool(caller, options.tool, arguments))
    except ToolNotFound:
        complain(f'"{options.tool}" has nothing left that a caller could see')
        return 1
    _show(result, as_json=options.json)
    return 1 if result.get("isError") else 0


def parse_arguments(tool: Tool, pairs: Sequence[str]) -> dict[str, Any] | None:
    """Tool arguments from ``k=v`` words; values become what the tool's schema wants. ``None``: a word without ``=``."""
    if not all("=" in pair for pair in pairs):
        return None
    nested = isinstance(tool, PrescribedTool) and not tool.flat
    schema = tool.arguments["properties"]["variables"] if nested else tool.arguments
    values = {}
    for name, _, text in (pair.partition("=") for pair in pairs):
        values[name] = _value(text, schema.get("properties", {}).get(name, {}))
    return {"variables": values} if nested else values


def _value(text: str, schema: Mapping[str, Any]) -> Any:
    types = schema.get("type", [])
    if "string" in ([types] if isinstance(types, str) else types):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def _endpoint(compiled: Compiled) -> Endpoint:
    storage = MemoryStorage()
    storage.write(index_key(compiled.bundle.index), compiled.index)
    storage.write(bundle_key(compiled.bundle.endpoint), write_bundle(compiled.bundle))
    return Endpoint(compiled.bundle, storage)


def _show(result: Mapping[str, Any], *, as_json: bool) -> None:
    if as_json:
        show_json(result)
        return
    for block in result["content"]:
        text = block["text"]
        try:
            show_json(json.loads(text))
        except ValueError:
            (complain if result.get("isError") else say)(text)
