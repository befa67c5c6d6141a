"""Warnings of inputs that may be about a guarded field; their names do not decide it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

from handler.compiler.checks.compiled_endpoint import CompiledEndpoint
from handler.compiler.checks.exposure import GuardedTool, guarded_tools
from handler.compiler.checks.finding import Finding, check
from handler.text.sentences import some

Ask = Callable[[str, Collection[str]], Iterable[str]]
"""A function from a field's name and the types that have it to the inputs that may be about it."""


@check("similar-name-exposure")
def similar_name_exposure(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """Find inputs whose words only begin with a guarded field's name."""
    sentence = "may ask for {}, which is guarded: words in these names begin with the field name"
    for tool in guarded_tools(endpoint):
        yield from _undecided(tool, tool.questions.that_begin_with, sentence)


@check("mutation-data-exposure")
def mutation_data_exposure(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """Find inputs that give a mutation data by a guarded field's name."""
    sentence = "may pass data with the name of {}, which is guarded: an answer may depend on that data"
    for tool in guarded_tools(endpoint):
        yield from _undecided(tool, tool.questions.that_write, sentence)


def _undecided(
    tool: GuardedTool, ask: Callable[[str, Collection[str]], Iterable[str]], sentence: str
) -> Iterator[Finding]:
    types: dict[str, list[str]] = {}
    for type_name, name in tool.guarded:
        types.setdefault(name, []).append(type_name)
    found = {
        name: [each for each in tool.visible_inputs(ask(name, owners)) if _may_tell(tool, each, name, owners)]
        for name, owners in types.items()
    }
    coordinates = sorted({coordinate for each in found.values() for coordinate in each})
    like = [f"{type_name}.{name}" for type_name, name in tool.guarded if found[name]]
    if coordinates:
        yield Finding(tool.at, f"{some(coordinates)} {sentence.format(some(like))}", tuple(coordinates))


def _may_tell(tool: GuardedTool, coordinate: str, name: str, owners: Iterable[str]) -> bool:
    return any(tool.may_tell(coordinate, owner, name) for owner in owners)
