"""Imports and options of FastMCP or the official SDK in authors' modules, each with what stands in its place."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

from handler.code_tools.context import REPLACED
from handler.code_tools.modules import is_among, is_there
from handler.code_tools.options import TOOL_OPTIONS
from handler.compiler.problems import Place
from handler.text.sentences import did_you_mean

PACKAGES = ("fastmcp", "mcp")
MAX_FILES = 1_000

_IN_STILE = ("Audio", "Context", "EmbeddedResource", "Image", "McpError", "ResourceLink", "ToolError", "ToolResult")
REPLACEMENTS: Mapping[str, str] = {
    **{name: f"use {words.removeprefix('use ')}" for name, words in REPLACED.items() if words.startswith("use ")},
    **{name: f"write `from stile import {name}`" for name in _IN_STILE},
    **dict.fromkeys(("FastMCP", "MCPServer"), "write `from stile import Toolkit`, and `Toolkit()` without a name"),
    **{f"{name}Content": f"write `from stile import {name}`" for name in ("Audio", "Image", "Text")},
    **dict.fromkeys(("BlobResourceContents", "File", "TextResourceContents"), "return an EmbeddedResource"),
    **dict.fromkeys(("NotFoundError", "PromptError", "ResourceError"), "write `from stile import ToolError`"),
    **dict.fromkeys(("CurrentContext", "get_context"), "take a parameter `ctx: Context`"),
    **dict.fromkeys(("Message", "UserMessage", "AssistantMessage"), "return a text or Text"),
    "AccessToken": "use ctx.auth",
    "Client": "write `from stile.testing import TestClient`",
    "Depends": "call the function in the tool",
    "Icon": "write icons as dictionaries",
    "McpError": "write `from stile import McpError`",
    "ToolAnnotations": "write annotations as a dictionary",
    "get_logger": "use logging.getLogger",
    "fastmcp.server.auth": "write identity in config.yaml",
    "fastmcp.server.middleware": "leave it out: endpoints have limits, a log and policies",
    "mcp.server.auth": "write identity in config.yaml",
    "mcp.types": "return texts, dictionaries or the content blocks of stile",
}
"""Name, or the module that it is from -> what to do in its place."""


def fastmcp_imports(modules: Sequence[str]) -> list[tuple[Place, str, bool]]:
    """Return each import of the packages in all files of some modules: place, sentence, and if it is not installed."""
    imports = []
    for file, node in module_nodes(modules):
        match node:
            case ast.ImportFrom(module=str() as module, level=0, names=aliases):
                names = [(module, each.name) for each in aliases if is_among(module, PACKAGES)]
            case ast.Import(names=aliases):
                names = [(each.name, "") for each in aliases if is_among(each.name, PACKAGES)]
            case _:
                continue
        if names:
            words = "; ".join(dict.fromkeys(_replacement(*each) for each in names))
            missing = not all(is_there(module) for module, _ in names)
            cause = f"No module named '{names[0][0]}'" if missing else f"{names[0][0]} is not part of Stile"
            sentence = f"{cause}; {words}; docs/from-fastmcp.md shows it"
            imports.append((Place(str(file), node.lineno, node.col_offset + 1), sentence, missing))
    return sorted(imports, key=lambda each: (each[0].file, each[0].line))


def unknown_options(modules: Sequence[str], sentence: str) -> list[tuple[Place, str]]:
    """Return the functions with unknown options of ``@kit.tool`` in all files, if a sentence is about one of these."""
    found = []
    for file, node in module_nodes(modules) if sentence.startswith("unknown option") else ():
        for call in getattr(node, "decorator_list", ()):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "tool":
                unknown = [each.arg for each in call.keywords if each.arg and each.arg not in TOOL_OPTIONS]
                words = [f"unknown option {name}{did_you_mean(name, TOOL_OPTIONS)}" for name in unknown]
                if words:
                    found.append((Place(str(file), call.lineno, 1), f"tool {node.name}: {', '.join(words)}"))
    return sorted(found, key=lambda each: (each[0].file, each[0].line))


def module_nodes(modules: Sequence[str]) -> Iterator[tuple[Path, Any]]:
    """Yield the nodes of the syntax trees of all files of the packages of modules."""
    for file in islice(_files(modules), MAX_FILES):
        with suppress(OSError, SyntaxError, ValueError, RecursionError):  # Python reports it if anything imports it
            yield from ((file, node) for node in ast.walk(ast.parse(file.read_bytes())))


def _replacement(module: str, name: str) -> str:
    if not name:
        return f"import {module}: import from stile the names that are used"
    keys = [name, *(key for key in REPLACEMENTS if is_among(module, [key]))]
    return f"{name}: {next((REPLACEMENTS[key] for key in keys if key in REPLACEMENTS), 'leave it out')}"


def _files(modules: Sequence[str]) -> Iterator[Path]:
    """Yield the Python files of the packages of modules."""
    for package in dict.fromkeys(module.partition(".")[0] for module in modules):
        spec = find_spec(package) if is_there(package) else None
        for folder in (spec and spec.submodule_search_locations) or ():
            yield from sorted(Path(folder).rglob("*.py"))
        if spec and spec.origin and not spec.submodule_search_locations:
            yield Path(spec.origin)
