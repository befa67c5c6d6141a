"""A warning of descriptions for parameters that a tool does not have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from handler.compiler.checks.compiled_endpoint import CompiledEndpoint
from handler.compiler.checks.finding import Finding, check
from handler.compiler.schema.directives import ToolDirective
from handler.compiler.tools.graphql_tools.graphql import REQUEST
from handler.text.sentences import did_you_mean


@check("unknown-parameter")
def unknown_parameter(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """Find each parameter that ``@tool`` describes but its tool does not take."""
    for directive in endpoint.api.directives:
        parameters = _parameters(directive, endpoint)
        for name in directive.descriptions:
            if name not in parameters:
                hint = did_you_mean(name, parameters)
                sentence = f'@tool "{directive.name}" has no parameter "{name}" to describe{hint}'
                yield Finding(directive.node, sentence, (directive.name,))


def _parameters(directive: ToolDirective, endpoint: CompiledEndpoint) -> Sequence[str]:
    if directive.prescribed is None:
        return list(REQUEST["properties"])
    operations = [each for each in endpoint.api.operations if each.name == directive.prescribed]
    return [*(name for operation in operations for name in operation.variables), "variables"]
