"""The names that a schema gives to Federation's ``@inaccessible``, by the ``@link`` or ``@core`` that imports it.

Source: Apollo, "link" specification 1.0, and "core" specification 0.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from graphql import DefinitionNode, DirectiveNode, SchemaDefinitionNode, SchemaExtensionNode, value_from_ast_untyped

NAME = "inaccessible"
USUAL = frozenset({NAME, f"federation__{NAME}"})
URL_OF = {"link": "url", "core": "feature"}
"""Each directive that imports others, and its argument with the URL of their specification."""


def names_of_inaccessible(definitions: Iterable[DefinitionNode]) -> frozenset[str]:
    """Return the names of directives that hide as ``@inaccessible`` does."""
    schemas = (node for node in definitions if isinstance(node, SchemaDefinitionNode | SchemaExtensionNode))
    imports = (each for node in schemas for each in node.directives or () if each.name.value in URL_OF)
    return USUAL.union(*(_imported(each) for each in imports))


def _imported(directive: DirectiveNode) -> Iterator[str]:
    given = {argument.name.value: value_from_ast_untyped(argument.value) for argument in directive.arguments or ()}
    url, prefix, elements = (given.get(key) for key in (URL_OF[directive.name.value], "as", "import"))
    if isinstance(prefix, str):
        yield f"{prefix}__{NAME}"
        if NAME in str(url).split("/"):  # a specification of this one directive
            yield prefix
    for each in elements if isinstance(elements, list) else ():
        if isinstance(each, Mapping) and each.get("name") == f"@{NAME}":
            yield _without_at(each.get("as"))


def _without_at(name: Any) -> str:
    return name.removeprefix("@") if isinstance(name, str) else NAME
