"""A warning of filters by a guarded field whose results are only counted."""

from __future__ import annotations

from collections.abc import Iterator

from handler.compiler.checks.compiled_endpoint import CompiledEndpoint
from handler.compiler.checks.exposure import guarded_tools
from handler.compiler.checks.finding import Finding, check
from handler.text.sentences import some


@check("count-exposure")
def count_exposure(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """Find inputs that name a guarded field if their results have no field of that name: a mere count."""
    for tool in guarded_tools(endpoint):
        found: dict[str, str] = {}
        for type_name, name in tool.guarded:
            for coordinate in tool.visible_inputs(tool.questions.of_nothing_shown(name)):
                if tool.may_tell(coordinate, type_name, name):
                    found.setdefault(coordinate, f"{type_name}.{name}")
        if found:
            like = some(list(dict.fromkeys(found.values())))
            sentence = (
                f"{some(list(found))} may filter by {like}, which is guarded: "
                "results are only counted, but counts reveal values"
            )
            yield Finding(tool.at, sentence, tuple(found))
