"""Built-in directives and types of other systems: the directives are dropped, the types are defined if missing.

``@inaccessible``, ``@listSize`` and ``@cost`` are read before.

Source: StepZen's, AWS AppSync's, Apollo Federation's and Hasura's references of directives and scalars; "The GraphQL
Cost Directives Specification" (IBM), whose directives Apollo Federation and Hot Chocolate take, too.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import is_not
from typing import Any

from graphql import (
    DefinitionNode,
    DirectiveDefinitionNode,
    DirectiveNode,
    FieldDefinitionNode,
    GraphQLSchema,
    InputValueDefinitionNode,
    ListTypeNode,
    NonNullTypeNode,
    SchemaDefinitionNode,
    SchemaExtensionNode,
    TypeDefinitionNode,
    TypeExtensionNode,
    get_named_type,
    get_nullable_type,
    is_list_type,
    parse,
    value_from_ast_untyped,
)

from handler.compiler.config.table import MAX_LIST_SIZE
from handler.compiler.problems import Problems
from handler.compiler.schema.coordinates import resolve
from handler.compiler.schema.directives import BELONGS, ON_SCHEMA
from handler.compiler.schema.visibility import FieldsType
from handler.compiler.source.yaml_section import Section
from handler.errors.authoring import UnknownCoordinate
from handler.strict_json import JSONObject
from handler.text.sentences import did_you_mean

_STEPZEN = "connector dbquery graphql inject materializer mock mockfn rest sequence supplies value"
STEPZEN = frozenset(_STEPZEN.split())
"""Directives by which StepZen resolves a field. Stile does not run them."""

_FOREIGN = """
authenticated composeDirective context core cost extends external fromContext inaccessible interfaceObject key link
listSize override policy provides requires requiresScopes shareable tag
preset
"""
FOREIGN = STEPZEN.union(_FOREIGN.split())
"""Directives of other systems: StepZen's, Federation's, and Hasura's ``preset``."""

JOIN = "join__"
PREFIXES = ("aws_", "federation__", JOIN, "link__")
"""Prefixes of AppSync's directives, of Federation's if a schema imports Federation without names, and of a router's."""

_SCALARS = """
Date DateTime JSON Secret
AWSDate AWSDateTime AWSEmail AWSIPAddress AWSJSON AWSPhone AWSTime AWSTimestamp AWSURL
_Any _FieldSet FieldSet federation__FieldSet federation__Policy federation__Scope link__Import
"""
SCALARS = frozenset(_SCALARS.split())

STEPZEN_TYPES = {
    "PageInfo": """
    type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
    """
}
"""Built-in types of StepZen's projects. Source: GraphQL Cursor Connections, "PageInfo"."""

EXECUTABLE = {
    "cached": "directive @cached(ttl: Int! = 60, refresh: Boolean! = false) on QUERY",
    "sort": "directive @sort on FIELD",
}
"""Hasura's and StepZen's executable directives. A definition in the schema takes precedence."""

MAY_CARRY_DIRECTIVES = ("fields", "values", "arguments")


def without_foreign(definitions: Iterable[DefinitionNode], problems: Problems) -> list[DefinitionNode]:
    """Remove other systems' directives, and Stile's, which are already read; report misplaced ones of Stile."""
    # Projects define known directives for editors, maybe without the types of their arguments.
    own = [node for node in definitions if not (isinstance(node, DirectiveDefinitionNode) and _is_known(node))]
    parts = [node for node in _all_below(own) if node.directives]
    _warn_of_unsupported(parts, problems)
    for node in parts:
        allowed = ON_SCHEMA if isinstance(node, SchemaDefinitionNode | SchemaExtensionNode) else ()
        for directive in node.directives:
            name = directive.name.value
            if name in BELONGS and name not in allowed:
                sentence = f"@{name} is not allowed here: expected it on {BELONGS[name]}"
                problems.add(directive, sentence, code="misplaced-directive")
    return [without_directives(node, _is_known) for node in own]


def is_join(node: Any) -> bool:
    """Return whether a definition or a directive of a composed supergraph is there for its router alone."""
    name = getattr(node, "name", None)
    return name is not None and name.value.startswith(JOIN)


def inaccessible(definitions: Iterable[DefinitionNode]) -> tuple[str, ...]:
    """Return the coordinates with Federation's ``@inaccessible``; one definition with it suffices.

    Source: Apollo Federation, "@inaccessible".
    """
    nodes = list(definitions)
    schemas = (node for node in nodes if isinstance(node, SchemaDefinitionNode | SchemaExtensionNode))
    names = USUAL.union(*(_imported(each) for node in schemas for each in node.directives or ()))
    parts = (part for node in nodes for part in coordinates_of(node).items() if part[1].directives)
    hidden = (place for place, part in parts if any(each.name.value in names for each in part.directives))
    return tuple(dict.fromkeys(hidden))


def coordinates_of(node: Any) -> dict[str, Any]:
    """Return coordinate -> node for a type and its parts; empty for other definitions."""
    if not isinstance(node, TypeDefinitionNode | TypeExtensionNode):
        return {}
    type_name = node.name.value
    nodes: dict[str, Any] = {type_name: node}
    for member in (*(getattr(node, "fields", None) or ()), *(getattr(node, "values", None) or ())):
        own = f"{type_name}.{member.name.value}"
        nodes[own] = member
        nodes |= {f"{own}({each.name.value}:)": each for each in getattr(member, "arguments", None) or ()}
    return nodes


def missing_definitions(definitions: Sequence[DefinitionNode], *, stepzen: bool) -> list[DefinitionNode]:
    """Return other systems' built-in types that are used but not defined, and their undefined executable directives.

    ``stepzen``: StepZen's built-in object types too, which other projects must define. Its executable directives have a
    location, as the author's own, so that requests may carry them.
    """
    types = {node.name.value for node in definitions if isinstance(node, TypeDefinitionNode)}
    directives = {node.name.value for node in definitions if isinstance(node, DirectiveDefinitionNode)}
    missing = types_named(definitions) - types
    texts = [f"scalar {name}" for name in sorted(SCALARS & missing)]
    texts += [text for name, text in STEPZEN_TYPES.items() if stepzen and name in missing]
    executable = {name: text for name, text in EXECUTABLE.items() if name not in directives}
    own = [executable.pop("sort")] if stepzen and "sort" in executable else []
    added = (
        parse("\n".join(each), no_location=each is not own) for each in ([*texts, *executable.values()], own) if each
    )
    return [definition for document in added for definition in document.definitions]


def types_named(definitions: Iterable[DefinitionNode]) -> set[str]:
    """Return the names of types of fields and inputs, members of unions, and extended types."""
    nodes = list(definitions)
    names: set[str] = set()
    for node in _all_below(nodes):
        if isinstance(node, FieldDefinitionNode | InputValueDefinitionNode):
            type_: Any = node.type
            while isinstance(type_, ListTypeNode | NonNullTypeNode):
                type_ = type_.type
            names.add(type_.name.value)
    names |= {each.name.value for node in nodes for each in getattr(node, "types", None) or ()}
    return names | {node.name.value for node in nodes if isinstance(node, TypeExtensionNode)}


def _is_known(node: Any) -> bool:
    """Return whether a directive, or its definition, has the name of one of Stile or of another system."""
    return is_foreign(node) or node.name.value in BELONGS


def is_foreign(node: Any) -> bool:
    """Return whether a directive, or its definition, has the name of another system's."""
    name = node.name.value
    return name in FOREIGN or name.startswith(PREFIXES)


def without_directives(node: Any, unwanted: Callable[[Any], bool]) -> Any:
    """Remove directives from a node and its parts, down to arguments. An unchanged node stays the same object."""
    changes: dict[str, Any] = {}
    if any(map(unwanted, node.directives or ())):
        changes["directives"] = tuple(one for one in node.directives if not unwanted(one))
    for part in MAY_CARRY_DIRECTIVES:
        if before := getattr(node, part, None):
            after = tuple([without_directives(each, unwanted) for each in before])
            if any(map(is_not, before, after)):
                changes[part] = after
    return replace(node, **changes) if changes else node


def forget_places(definitions: Iterable[DefinitionNode]) -> None:
    """Remove the places of types and their members, which take two thirds of the memory of a syntax tree."""
    types = (node for node in definitions if isinstance(node, TypeDefinitionNode | TypeExtensionNode))
    for node in _all_below(types):
        parts = [node, node.name, getattr(node, "description", None)]
        for part in parts:
            if part:
                object.__setattr__(part, "loc", None)
                parts.append(getattr(part, "type", None) or getattr(part, "name", None))


def _warn_of_unsupported(parts: Sequence[Any], problems: Problems) -> None:
    marked = [(node, {one.name.value for one in node.directives} & STEPZEN) for node in parts]
    nodes = [node for node, names in marked if names]
    if nodes:
        counts = Counter(name for _, names in marked for name in names)
        names = ", ".join(f"@{name}" for name in sorted(counts, key=lambda name: (-counts[name], name)))
        fields = sum(isinstance(node, FieldDefinitionNode) for node in nodes)
        count, noun = (fields, "field") if fields else (len(nodes), "definition")
        users = f"1 {noun} uses" if count == 1 else f"{count} {noun}s use"
        sentence = f"{users} {names}, which Stile does not run: upstream.url must name a server that does"
        problems.warn(nodes[0], sentence, code="unsupported-directive")


def _all_below(nodes: Iterable[Any]) -> Iterator[Any]:
    for node in nodes:
        yield node
        for part in MAY_CARRY_DIRECTIVES:
            if below := getattr(node, part, None):
                yield from _all_below(below)


INACCESSIBLE = "inaccessible"
USUAL = frozenset({INACCESSIBLE, f"federation__{INACCESSIBLE}"})
URLS = ("url", "feature")
"""The arguments of ``@link`` and ``@core`` with the URL of a specification."""


def _imported(directive: DirectiveNode) -> Iterator[str]:
    values = {argument.name.value: value_from_ast_untyped(argument.value) for argument in directive.arguments or ()}
    urls = [str(values[key]) for key in URLS if key in values]
    prefix, elements = values.get("as"), values.get("import")
    if urls and isinstance(prefix, str):
        yield f"{prefix}__{INACCESSIBLE}"
        if any(INACCESSIBLE in url.split("/") for url in urls):  # a specification of this one directive
            yield prefix
    for each in elements if isinstance(elements, list) else [elements]:  # a single value is a list of one
        if isinstance(each, Mapping) and each.get("name") == f"@{INACCESSIBLE}":
            name = each.get("as")
            yield name.removeprefix("@") if isinstance(name, str) else INACCESSIBLE


LIST_SIZE = ("listSize", "federation__listSize")
COST = ("cost", "federation__cost")


def declared_costs(definitions: Iterable[DefinitionNode], problems: Problems) -> dict[str, JSONObject]:
    """Return coordinate of a field or type -> its cost entry for the schema index. Invalid values are warnings."""
    costs: dict[str, JSONObject] = {}
    for node in definitions:
        for coordinate, part in coordinates_of(node).items():
            for directive in part.directives or ():
                name, arguments = directive.name.value, directive.arguments or ()
                values = {argument.name.value: value_from_ast_untyped(argument.value) for argument in arguments}
                if name in COST and "weight" in values:
                    costs.setdefault(coordinate, {}).update(_weight(directive, values["weight"], problems))
                elif name in LIST_SIZE and part.kind == "field_definition":
                    costs.setdefault(coordinate, {})["size"] = _size(directive, values, part, problems)
    return costs


def with_list_sizes(
    costs: Mapping[str, JSONObject], sizes: Section, schema: GraphQLSchema, problems: Problems
) -> dict[str, JSONObject]:
    """Add ``limits.list_sizes`` to the costs; it overrides the assumed sizes of fields."""
    merged = dict(costs)
    for text in sizes:
        size = sizes.integer(text)
        try:
            coordinate = resolve(schema, text)
        except UnknownCoordinate as exc:
            problems.add(sizes.key_place(text), f'limits.list_sizes "{text:.80}": {exc}', code="unknown-coordinate")
            continue
        type_name, _, field = coordinate.partition(".")
        type_ = schema.get_type(type_name)
        returned: Any = getattr(type_.fields.get(field), "type", None) if isinstance(type_, FieldsType) else None
        below = getattr(get_named_type(returned), "fields", {}).values()
        types = map(get_nullable_type, (returned, *(field.type for field in below)))
        if returned is None or not any(map(is_list_type, types)):
            sentence = "expected a field that returns a list, or an object with one"
            problems.add(sizes.key_place(text), f'limits.list_sizes "{text:.80}": {sentence}', code="not-a-list")
            continue
        own = merged.get(coordinate, {})
        merged[coordinate] = {**own, "size": {**own.get("size", {}), "assumed": size}}
    return merged


def _weight(directive: DirectiveNode, text: Any, problems: Problems) -> JSONObject:
    """Read a weight, which the specification defines as text, so that it may be a fraction."""
    try:
        weight = float(text)
    except (TypeError, ValueError):
        weight = math.nan
    if not 0 <= weight <= MAX_LIST_SIZE:
        sentence = f'@cost: weight "{text!s:.40}" is not a number from 0 on, so it is ignored'
        problems.warn(directive, sentence, code="invalid-cost")
        return {}
    return {"weight": weight}


def _size(directive: DirectiveNode, values: Mapping[str, Any], field: Any, problems: Problems) -> JSONObject:
    slicing = _texts(values.get("slicingArguments"))
    arguments = [argument.name.value for argument in field.arguments or ()]
    for path in slicing:
        name = path.partition(".")[0]
        if name not in arguments:
            sentence = f'@listSize: "{field.name.value}" has no argument "{name:.60}"{did_you_mean(name, arguments)}'
            problems.warn(directive, sentence, code="unknown-slicing-argument")
    size = {
        "assumed": _count(values.get("assumedSize")),
        "default": _count(values.get("slicingArgumentDefaultValue")),  # Hot Chocolate's
        "slicing": [path for path in slicing if path.partition(".")[0] in arguments],
        "fields": _texts(values.get("sizedFields")),
        "one": values.get("requireOneSlicingArgument") is not False and bool(slicing),
    }
    return {name: value for name, value in size.items() if value is not None and value is not False and value != []}


def _texts(value: Any) -> list[str]:
    """Return the texts of a list; a single text counts as a list."""
    values = value if isinstance(value, list) else [value]
    return [text for text in values if isinstance(text, str)]


def _count(value: Any) -> int | None:
    return min(value, MAX_LIST_SIZE) if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
