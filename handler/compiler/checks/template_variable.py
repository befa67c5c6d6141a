"""A warning of template variables that only make sense for GraphQL tools."""

from __future__ import annotations

from collections.abc import Iterator

from handler.compiler.checks.compiled_endpoint import CompiledEndpoint
from handler.compiler.checks.finding import Finding, check
from handler.compiler.json_schemas.comments import comment_above
from handler.compiler.json_schemas.descriptions import OF_GRAPHQL_TOOLS, names_in


@check("template-variable")
def template_variable(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """Find such variables in the texts of a tool that runs an operation."""
    for each in endpoint.api.tools:
        operation, declaration = each.operation, each.declaration
        if operation is None or declaration is None:
            continue
        given = [declaration.description, *declaration.descriptions.values(), *operation.descriptions.values()]
        texts = (*given, operation.description, comment_above(operation.node))
        named = {name for text in texts for name in names_in(text or "")}
        for name, becomes in OF_GRAPHQL_TOOLS.items():
            if name in named:
                sentence = f"{{{name}}} is for tools whose requests a model writes, and this tool runs an operation"
                yield Finding(each.at, f'"{each.tool.name}": {sentence}; {becomes}', (each.tool.name,))
