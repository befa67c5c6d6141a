"""A warning of fields that have the name of a guarded field on another type."""

from __future__ import annotations

from collections.abc import Iterator

from handler.compiler.access.name_matching import spellings
from handler.compiler.checks.compiled_endpoint import CompiledEndpoint
from handler.compiler.checks.exposure import guarded_tools
from handler.compiler.checks.finding import Finding, check
from handler.sentences import some


@check("same-name-exposure")
def same_name_exposure(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """Find fields of other types with a guarded field's name: an aggregate's ``salary`` may be one person's."""
    for tool in guarded_tools(endpoint):
        shown = [coordinate for coordinate in tool.shown if coordinate not in tool.guards]
        names = frozenset().union(*(spellings(name) for _, name in tool.guarded))
        alike = [coordinate for coordinate in shown if not names.isdisjoint(spellings(coordinate.split(".")[1]))]
        found = frozenset().union(*(spellings(coordinate.split(".")[1]) for coordinate in alike))
        like = [f"{type_name}.{name}" for type_name, name in tool.guarded if not found.isdisjoint(spellings(name))]
        if alike:
            sentence = f"{some(alike)} may reveal {some(like)}, which is guarded: the field name is the same"
            yield Finding(tool.at, sentence, tuple(alike))
