"""A warning of fields that have the name of a guarded field on another type."""

from __future__ import annotations

from collections.abc import Iterator

from handler.compiler.access.name_matching import spellings
from handler.compiler.checks.compiled_endpoint import CompiledEndpoint
from handler.compiler.checks.exposure import guarded_tools
from handler.compiler.checks.finding import Finding, check
from handler.text.sentences import some


@check("same-name-exposure")
def same_name_exposure(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """Find fields of other types with a guarded field's name: an aggregate's ``salary`` may be one person's."""
    for tool in guarded_tools(endpoint):
        shown: dict[str, list[str]] = {}
        for coordinate in tool.shown.keys() - tool.guards.keys():
            for spelling in spellings(coordinate.split(".")[1]):
                shown.setdefault(spelling, []).append(coordinate)
        found: dict[str, set[str]] = {}
        for type_name, name in tool.guarded:
            alike = {coordinate for spelling in spellings(name) for coordinate in shown.get(spelling, ())}
            telling = {coordinate for coordinate in alike if tool.may_tell(coordinate, type_name, name)}
            found |= {f"{type_name}.{name}": telling} if telling else {}
        if found:
            alike = set().union(*found.values())
            told = [coordinate for coordinate in tool.shown if coordinate in alike]
            sentence = f"{some(told)} may reveal {some(list(found))}, which is guarded: the field name is the same"
            yield Finding(tool.at, sentence, tuple(told))
