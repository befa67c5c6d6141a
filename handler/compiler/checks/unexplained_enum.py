"""A warning of enums whose values a tool does not describe."""

from __future__ import annotations

from collections.abc import Iterator

from graphql import OperationDefinitionNode

from handler.bundle.tools import PrescribedTool
from handler.compiler.checks.compiled_endpoint import CompiledEndpoint
from handler.compiler.checks.finding import Finding, check
from handler.compiler.json_schemas.descriptions import MAX_ENUM_CHARS, enum_text
from handler.compiler.json_schemas.inputs import Inputs
from handler.text.sentences import some


@check("unexplained-enum")
def unexplained_enum(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """Find each enum whose value descriptions are too long for the schemas of the tools that take it."""
    context = endpoint.api.context
    found: dict[str, list[tuple[str, OperationDefinitionNode]]] = {}
    sizes: dict[str, int] = {}
    for each in endpoint.api.tools if context else ():
        if context is None or each.operation is None or not isinstance(each.tool, PrescribedTool):
            continue
        inputs = Inputs(
            each.operation, context.schema, context.guards, mask=each.tool.mask, left_out=context.types_of_files
        )
        for type_ in inputs.enums():
            size = len(enum_text(inputs.values(type_)))
            if size > MAX_ENUM_CHARS:
                found.setdefault(type_.name, []).append((each.tool.name, each.operation.node))
                sizes[type_.name] = max(size, sizes.get(type_.name, 0))
    for name, tools in found.items():
        sentence = (
            f'the descriptions of the values of "{name}" are left out of {some([tool for tool, _ in tools])}: '
            f"they have {sizes[name]} characters, more than {MAX_ENUM_CHARS}"
        )
        yield Finding(tools[0][1], sentence, (name,))
