"""``log`` of an endpoint: the fields that its operations read, and the arguments that calls log."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from handler.bundle.tools import CallLog, CatalogTool, GraphQLTool, LoggedArgument, PrescribedTool, Tool
from handler.compiler.compile_context import CompileContext
from handler.compiler.operations.author_operations import AuthorOperation
from handler.compiler.problems import Place, Problems
from handler.compiler.tools.declaration import CompiledTool
from handler.graph.documents.used_fields import fields_read
from handler.graph.index import SchemaIndex
from handler.strict_json import JSONObject
from handler.text.sentences import did_you_mean, is_secret


def read_call_log(
    context: CompileContext,
    made: Iterable[CompiledTool],
    *,
    operations: Iterable[AuthorOperation],
    index: SchemaIndex | None,
) -> CallLog | None:
    """Return what ``log`` of ``config.yaml`` asks for; ``None`` if it asks for nothing.

    ``operations`` may be sent. Without an ``index``, there are none.
    """
    config = context.config.log
    tools = {each.tool.name: each.tool for each in made}
    found = [_argument(text, tools, at=at, problems=context.problems) for text, at in config.arguments]
    arguments = tuple(dict.fromkeys(argument for argument in found if argument))
    if not config.coordinates and not arguments:
        return None
    reads = dict(_reads(operations, index)) if config.coordinates and index else {}
    return CallLog(coordinates=config.coordinates, reads=reads, arguments=arguments)


def _reads(operations: Iterable[AuthorOperation], index: SchemaIndex) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the digest of each operation, and the fields that it reads."""
    for operation in operations:
        digest = hashlib.sha256(operation.text.encode()).hexdigest()
        yield digest, tuple(sorted(fields_read(operation.document, index)))


def _argument(text: str, tools: Mapping[str, Tool], *, at: Place, problems: Problems) -> LoggedArgument | None:
    """Read ``tool.argument``. Names of tools may have dots."""
    name, _, argument = text.rpartition(".")
    tool = tools.get(name)
    if tool is None:
        missing = f'there is no tool "{name:.80}"{did_you_mean(name, tools)}' if name else "expected tool.argument"
        problems.add(at, f'log.arguments "{text:.80}": {missing}', code="unknown-logged-argument")
        return None
    if isinstance(tool, GraphQLTool):
        why = "a model writes what it holds, which may be anything; log.coordinates tells the fields of a request"
        problems.add(at, f'log.arguments "{text:.80}": {why}', code="unloggable-argument")
        return None
    if isinstance(tool, CatalogTool) and argument == "arguments":
        why = "it holds the arguments of any tool; name those of the tool itself, which are logged by this way, too"
        problems.add(at, f'log.arguments "{text:.80}": {why}', code="unloggable-argument")
        return None
    inside = _inside(tool)
    known = _properties(tool, inside)
    if argument not in known:
        bound = isinstance(tool, PrescribedTool) and argument in (each.variable for each in tool.bindings)
        hint = ": @mcpBind fills it, and no caller" if bound else did_you_mean(argument, known)
        sentence = f'log.arguments "{text:.80}": {name} has no argument "{argument:.80}"{hint}'
        problems.add(at, sentence, code="unknown-logged-argument")
        return None
    if is_secret(argument) or _has_secret(known[argument], tool.arguments):
        sentence = f'log.arguments "{text:.80}": it is a secret, or has one in it, by its name or by its schema'
        problems.add(at, sentence, code="unloggable-argument")
        return None
    return LoggedArgument(tool=name, name=argument, inside=inside)


def _inside(tool: Tool) -> str:
    return "variables" if isinstance(tool, PrescribedTool) and not tool.flat else ""


def _properties(tool: Tool, inside: str) -> Mapping[str, Any]:
    schema = tool.arguments
    found: Mapping[str, Any] = schema.get("properties", {})
    return found.get(inside, {}).get("properties", {}) if inside else found


def _has_secret(schema: Any, root: JSONObject) -> bool:
    """Tell if any part of a schema is for a secret: ``writeOnly``, or the format ``password``."""
    waiting: list[Any] = [schema]
    seen: set[str] = set()
    while waiting:
        match waiting.pop():
            case {"writeOnly": True} | {"format": "password"}:
                return True
            case {"$ref": str() as ref, **rest}:
                waiting += rest.values()
                if ref not in seen:
                    seen.add(ref)
                    waiting.append(_at(root, ref))
            case dict() as each:
                waiting += each.values()
            case list() as each:
                waiting += each
    return False


def _at(root: JSONObject, ref: str) -> Any:
    """Return the schema at a JSON pointer, as in ``#/$defs/Login``; an empty one if there is none."""
    found: Any = root
    for step in ref.removeprefix("#/").split("/"):
        found = found.get(step, {}) if isinstance(found, dict) else {}
    return found
