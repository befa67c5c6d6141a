"""A warning of tool parameters without a type: model vendors refuse a whole request for one of them.

Source: Gemini API, ``Schema`` ("type: must be specified when not using one_of, any_of or all_of"); OpenAI, "Structured
Outputs" ("Supported schemas"): an array has items.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from handler.compiler.checks.compiled_endpoint import CompiledEndpoint
from handler.compiler.checks.finding import Finding, check
from handler.compiler.tools.declarations.listed_size import fullest_entry
from handler.strict_json import JSONObject
from handler.text.sentences import some

SAYING_A_TYPE = ("type", "$ref", "anyOf", "oneOf", "allOf")


@check("untyped-parameter")
def untyped_parameter(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """Find tools that take values without a type."""
    for each in endpoint.tools:
        untyped = _untyped_in(fullest_entry(each).get("inputSchema", {"type": "object"}))
        if untyped:
            sentence = (
                f'"{each.tool.name}" takes values without a type ({some(untyped)}), for which some models refuse all '
                "tools: expected a type hint or a schema that says one"
            )
            yield Finding(each.at, sentence, (each.tool.name,))


def _untyped_in(schema: JSONObject) -> list[str]:
    """List the parts of an input schema without a type, as JSON pointers. ``[]`` stands for the items of an array."""
    roots = [("", schema), *((f"/$defs/{name}", each) for name, each in schema.get("$defs", {}).items())]
    return [place for pointer, root in roots for place in _untyped(root, pointer)]


def _untyped(schema: Any, pointer: str) -> Iterator[str]:
    if not isinstance(schema, dict) or not any(keyword in schema for keyword in SAYING_A_TYPE):
        yield pointer
        return
    for name, each in schema.get("properties", {}).items():
        yield from _untyped(each, f"{pointer}/{name}")
    if schema.get("type") == "array":
        yield from _untyped(schema.get("items"), f"{pointer}[]")
    if isinstance(schema.get("additionalProperties"), dict):
        yield from _untyped(schema["additionalProperties"], f"{pointer}/*")
    for keyword in ("anyOf", "oneOf", "allOf"):
        for each in schema.get(keyword, ()):
            yield from _untyped(each, pointer)
