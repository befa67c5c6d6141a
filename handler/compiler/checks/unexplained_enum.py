"""A warning of enums whose values a tool does not describe."""

from __future__ import annotations

from collections.abc import Iterator

from handler.bundle.tools import PrescribedTool
from handler.compiler.checks.compiled_endpoint import CompiledEndpoint
from handler.compiler.checks.finding import Finding, check
from handler.compiler.json_schemas.descriptions import MAX_ENUM_CHARS, enum_text
from handler.compiler.json_schemas.inputs import Inputs


@check("unexplained-enum")
def unexplained_enum(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """Find each enum of a tool's inputs whose value descriptions are too long for the tool's schema."""
    context = endpoint.api.context
    for each in endpoint.api.tools if context else ():
        if context is None or each.operation is None or not isinstance(each.tool, PrescribedTool):
            continue
        inputs = Inputs(
            each.operation, context.schema, context.guards, mask=each.tool.mask, left_out=context.types_of_files
        )
        for type_ in inputs.enums():
            size = len(enum_text(inputs.values(type_)))
            if size > MAX_ENUM_CHARS:
                sentence = (
                    f'"{each.tool.name}" leaves out the descriptions of the values of "{type_.name}": '
                    f"they have {size} characters, more than {MAX_ENUM_CHARS}"
                )
                yield Finding(each.operation.node, sentence, (type_.name,))
