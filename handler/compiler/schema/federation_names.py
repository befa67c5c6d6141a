"""The names that a schema gives to Federation's ``@inaccessible``, by the ``@link`` or ``@core`` that imports it.

A schema may rename these two as well. So each directive of the schema counts that has the argument of one of them.

Source: Apollo, "link" specification 1.0, and "core" specification 0.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from graphql import DefinitionNode, DirectiveNode, SchemaDefinitionNode, SchemaExtensionNode, value_from_ast_untyped

NAME = "inaccessible"
USUAL = frozenset({NAME, f"federation__{NAME}"})
URLS = ("url", "feature")
"""The arguments of ``@link`` and ``@core`` with the URL of a specification."""


def names_of_inaccessible(definitions: Iterable[DefinitionNode]) -> frozenset[str]:
    """Return the names of directives that hide as ``@inaccessible`` does."""
    schemas = (node for node in definitions if isinstance(node, SchemaDefinitionNode | SchemaExtensionNode))
    imports = (each for node in schemas for each in node.directives or ())
    return USUAL.union(*(_imported(each) for each in imports))


def _imported(directive: DirectiveNode) -> Iterator[str]:
    given = {argument.name.value: value_from_ast_untyped(argument.value) for argument in directive.arguments or ()}
    urls = [str(given[key]) for key in URLS if key in given]
    prefix, elements = given.get("as"), given.get("import")
    if urls and isinstance(prefix, str):
        yield f"{prefix}__{NAME}"
        if any(NAME in url.split("/") for url in urls):  # a specification of this one directive
            yield prefix
    for each in elements if isinstance(elements, list) else [elements]:  # a single value is a list of one
        if isinstance(each, Mapping) and each.get("name") == f"@{NAME}":
            yield _without_at(each.get("as"))


def _without_at(name: Any) -> str:
    return name.removeprefix("@") if isinstance(name, str) else NAME
