"""A warning of patterns in code tools that may take very long: callers choose the texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from handler.bundle.tools import CodeTool
from handler.compiler.checks.compiled_endpoint import CompiledEndpoint
from handler.compiler.checks.finding import Finding, check
from handler.compiler.regex_safety import python_pattern
from handler.errors.authoring import PatternRefused

NAMED = ("properties", "patternProperties", "$defs", "dependentSchemas")
VALUES = ("enum", "const", "default", "examples")


@check("unsafe-pattern")
def unsafe_pattern(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """Find each pattern in a code tool's input schema that is refused for scalars."""
    for each in endpoint.code.tools:
        for names, pattern in _patterns(each.tool.arguments, ()) if isinstance(each.tool, CodeTool) else ():
            try:
                python_pattern(pattern)
            except PatternRefused as exc:
                place = ".".join(names) or "arguments"
                sentence = f"tool {each.tool.name}: {place}: pattern {pattern!r:.100}: {exc}"
                yield Finding(each.at, sentence, (each.tool.name,))


def _patterns(schema: Any, names: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield all patterns in a schema, each with the names of the members that lead to it."""
    for keyword, rule in schema.items() if isinstance(schema, Mapping) else ():
        if keyword == "pattern" and isinstance(rule, str):
            yield names, rule
        elif keyword in NAMED and isinstance(rule, Mapping):
            if keyword == "patternProperties":
                yield from ((names, pattern) for pattern in rule)
            for name, below in rule.items():
                yield from _patterns(below, (*names, name))
        elif keyword not in VALUES:
            for below in rule if isinstance(rule, list) else [rule]:
                yield from _patterns(below, names)
