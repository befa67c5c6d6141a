"""Texts that models read: description templates, and what stands where an author wrote nothing.

Source: IBM API Connect for GraphQL, "directive @tool", "Tool descriptions".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from handler.compiler.directives import ToolDirective
from handler.compiler.problems import Problems, suggestion

GRAPHQL_TOOL = (
    "This tool runs a GraphQL request. Write one that is valid for the schema shown at the `query` parameter, "
    "select only the fields you need, and give changing values as variables. Nothing outside that schema can be "
    "asked for."
)

OPERATION_NAME = "Which operation of `query` to run, when it holds more than one."
VARIABLES = "Values for the variables that the operation declares, by name."

MAX_SDL_BYTES = 16_384
"""Above this a schema is summarised in a default description: clients cut or refuse what is much longer."""

_TEMPLATE_NAME = re.compile(r"\{(\w+)\}")


def expand(text: str, values: Mapping[str, str]) -> str:
    """Replace ``{name}`` for the names in ``values``; every other brace stays as it is."""
    return _TEMPLATE_NAME.sub(lambda match: values.get(match[1], match[0]), text)


def names_in(text: str) -> list[str]:
    """The names that stand in braces."""
    return _TEMPLATE_NAME.findall(text)


def query_description(sdl: str, root_fields: Mapping[str, tuple[str, ...]]) -> str:
    """The default description of a GraphQL tool's ``query``: with the schema, or a summary of a large one."""
    head = "The GraphQL request to run."
    if len(sdl.encode()) <= MAX_SDL_BYTES:
        return f"{head} It must be valid for this schema:\n\n{sdl}"
    lines = [f"{kind}: {', '.join(names)}" for kind, names in root_fields.items()]
    return (
        f"{head} The schema is too large to show here. Its root fields are:\n\n"
        + "\n".join(lines)
        + '\n\nAsk for a type with a request such as { __type(name: "Query") { fields { name args { name } } } }.'
    )


def prescribed_description(operation: str, kind: str) -> str:
    """The default description of a prescribed tool without any text of its author's."""
    return f"Runs the GraphQL {kind} {operation}."


def doubt_descriptions(directive: ToolDirective, parameters: Sequence[str], problems: Problems) -> None:
    """Warn of descriptions for parameters that a tool has not."""
    for name in directive.descriptions:
        if name not in parameters:
            hint = suggestion(name, parameters)
            problems.warn(directive.node, f'@tool "{directive.name}" has no parameter "{name}" to describe{hint}')
