"""Warnings of template variables that only make sense for GraphQL tools, or that are misspelt."""

from __future__ import annotations

import re
from collections.abc import Iterator

from handler.compiler.checks.compiled_endpoint import CompiledEndpoint
from handler.compiler.checks.finding import Finding, check
from handler.compiler.json_schemas.comments import comment_above
from handler.compiler.json_schemas.descriptions import OF_GRAPHQL_TOOLS
from handler.text.sentences import nearest

KNOWN = ("endpoint_folder", "endpoint_name", "schema_description", *OF_GRAPHQL_TOOLS)

_NAME = re.compile(r"\{([\w-]+)\}")


@check("template-variable")
def template_variable(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """Find such variables in the texts of a tool."""
    for each in endpoint.api.tools:
        if each.declaration is None:
            continue
        operation = each.operation
        texts = [each.declaration.description, *each.declaration.descriptions.values()]
        if operation:
            texts += [*operation.descriptions.values(), operation.description, comment_above(operation.node)]
        for name in dict.fromkeys(name for text in texts for name in _NAME.findall(text or "")):
            meant = nearest(name.replace("-", "_"), KNOWN)
            if name not in KNOWN and meant:
                fault = f"stays as it is; did you mean {{{meant}}}?"
            elif operation and name in OF_GRAPHQL_TOOLS:
                fault = "is for tools whose requests a model writes, and this tool runs an operation; "
                fault += OF_GRAPHQL_TOOLS[name]
            else:
                continue
            yield Finding(each.at, f'"{each.tool.name}": {{{name}}} {fault}', (each.tool.name,))
