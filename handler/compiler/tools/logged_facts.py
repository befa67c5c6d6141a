"""``log`` of an endpoint: the fields that its operations read, and the arguments that calls log."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from handler.bundle.tools import CallLog, CatalogTool, GraphQLTool, LoggedArgument, PrescribedTool, Tool
from handler.compiler.compile_context import CompileContext
from handler.compiler.operations.author_operations import AuthorOperation
from handler.compiler.tools.declaration import CompiledTool
from handler.graph.documents.used_fields import fields_read
from handler.graph.index import SchemaIndex
from handler.strict_json import JSONObject, objects_in
from handler.text.sentences import did_you_mean, is_secret


def read_call_log(
    context: CompileContext,
    tools: Iterable[CompiledTool],
    *,
    operations: Iterable[AuthorOperation],
    index: SchemaIndex | None,
) -> CallLog | None:
    """Return the facts that ``log`` of ``config.yaml`` asks for; ``None`` if it asks for none.

    ``operations`` may be sent. Without an ``index``, there are none.
    """
    logs_coordinates = context.config.log.boolean("coordinates")
    by_name = {each.tool.name: each.tool for each in tools}
    arguments: dict[LoggedArgument, None] = {}
    for text, at in context.config.log.texts("arguments"):
        argument = _argument(text, by_name)
        if isinstance(argument, LoggedArgument):
            arguments[argument] = None
        else:
            fault, exists = argument
            sentence = f'log.arguments "{text:.80}": {fault}'
            context.problems.add(at, sentence, code="unloggable-argument" if exists else "unknown-logged-argument")
    if not logs_coordinates and not arguments:
        return None
    reads: dict[str, tuple[str, ...]] = {}  # digest of an operation -> the fields that it reads
    if logs_coordinates and index:
        for operation in operations:
            digest = hashlib.sha256(operation.text.encode()).hexdigest()
            reads[digest] = tuple(sorted(fields_read(operation.document, index)))
    return CallLog(coordinates=logs_coordinates, reads=reads, arguments=tuple(arguments))


def _argument(text: str, tools: Mapping[str, Tool]) -> LoggedArgument | tuple[str, bool]:
    """Read ``tool.argument``, or return its fault, and whether it exists. Names of tools may have dots."""
    name, _, argument = text.rpartition(".")
    tool = tools.get(name)
    if tool is None:
        missing = f'there is no tool "{name:.80}"{did_you_mean(name, tools)}'
        return missing if name else "expected tool.argument", False
    if isinstance(tool, GraphQLTool):
        fault = "a model writes what it holds, which may be anything; log.coordinates tells the fields of a request"
        return fault, True
    if isinstance(tool, CatalogTool) and argument == "arguments":
        fault = "it holds the arguments of any tool; name those of the tool itself, which are logged by this way, too"
        return fault, True
    is_nested = isinstance(tool, PrescribedTool) and not tool.flat
    properties: Mapping[str, Any] = tool.arguments.get("properties", {})
    if is_nested:
        properties = properties.get("variables", {}).get("properties", {})
    if argument not in properties:
        is_bound = isinstance(tool, PrescribedTool) and argument in (each.variable for each in tool.bindings)
        hint = ": @mcpBind fills it, and no caller" if is_bound else did_you_mean(argument, properties)
        return f'{name} has no argument "{argument:.80}"{hint}', False
    is_task = isinstance(tool, PrescribedTool) and tool.polls
    if is_task or is_secret(argument) or _has_secret(properties[argument], tool.arguments):
        return "it is a secret, or has one in it, by its name or by its schema", True
    return LoggedArgument(tool=name, name=argument, inside="variables" if is_nested else "")


def _has_secret(schema: Any, root: JSONObject) -> bool:
    """Return whether any part of a schema is for a secret: ``writeOnly``, or the format ``password``."""
    waiting: list[Any] = [schema]
    visited: set[str] = set()
    while waiting:
        for each in objects_in(waiting.pop()):
            match each:
                case {"writeOnly": True} | {"format": "password"}:
                    return True
                case {"$ref": str(ref)} if ref not in visited:
                    visited.add(ref)
                    waiting.append(_schema_at(root, ref))
    return False


def _schema_at(root: JSONObject, pointer: str) -> Any:
    """Return the schema at a JSON pointer, as in ``#/$defs/Login``; an empty one if there is none."""
    schema: Any = root
    for step in pointer.removeprefix("#/").split("/"):
        schema = schema.get(step, {}) if isinstance(schema, dict) else {}
    return schema
