"""A warning of ``access.show`` entries without an effect."""

from __future__ import annotations

from collections.abc import Iterator

from handler.compiler.checks.compiled_endpoint import CompiledEndpoint
from handler.compiler.checks.finding import Finding, check


@check("unused-exception")
def unused_exception(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """Find each coordinate of ``access.show`` that would not be hidden for its name."""
    context = endpoint.api.context
    for coordinate, place in endpoint.api.shown.items() if context else ():
        if context and coordinate not in context.consequences.excepted:
            sentence = f'access.show "{coordinate}": no rule hides it because of its name, so this entry has no effect'
            yield Finding(place, sentence, (coordinate,))
