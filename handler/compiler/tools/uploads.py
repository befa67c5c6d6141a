"""File uploads, which cannot be arguments: an operation that needs a file cannot be a tool.

Source: the GraphQL multipart request specification, which sends files beside the JSON of a request.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Iterator, Mapping
from typing import Any

from graphql import (
    GraphQLInputObjectType,
    GraphQLNonNull,
    GraphQLSchema,
    VariableDefinitionNode,
    get_named_type,
    is_required_input_field,
)

from handler.compiler.json_schemas.scalars import Scalar
from handler.compiler.problems import Problems
from handler.text.sentences import some

UPLOAD = "Upload"


def types_of_files(schema: GraphQLSchema, own: Mapping[str, Scalar]) -> frozenset[str]:
    """Return the input types whose values need a file; empty if the author defines the scalar ``Upload``."""
    if UPLOAD in own or UPLOAD not in schema.type_map:
        return frozenset()
    found = {UPLOAD}
    inputs = [type_ for type_ in schema.type_map.values() if isinstance(type_, GraphQLInputObjectType)]
    before = 0
    while len(found) > before:
        before = len(found)
        found |= {type_.name for type_ in inputs if _needs_one_of(type_, found)}
    return frozenset(found)


def _needs_one_of(type_: GraphQLInputObjectType, of_files: Container[str]) -> bool:
    takes = [field for field in type_.fields.values() if get_named_type(field.type).name in of_files]
    return len(takes) == len(type_.fields) or any(map(is_required_input_field, takes))


def judge_files(
    variables: Mapping[str, tuple[VariableDefinitionNode, Any]],
    of_files: Container[str],
    problems: Problems,
    *,
    hidden: Callable[[str], bool],
) -> None:
    """Report variables that need a file; warn of left-out files. ``variables``: name -> node and type."""
    for name, (node, type_) in variables.items():
        paths = list(_files_below(name, type_, hidden=hidden))
        needed = isinstance(type_, GraphQLNonNull) and not node.default_value
        if needed and get_named_type(type_).name in of_files:
            at = f" at {paths[0]}" if paths and paths[0] != name else ""
            problems.add(
                node, f'${name} takes an "{UPLOAD}"{at}: no file can be given as an argument', code="upload-argument"
            )
        elif paths:
            problems.warn(
                node,
                f'no file can be given as an argument: {some(paths)}, an "{UPLOAD}", is left out',
                code="upload-left-out",
                about=paths,
            )


def _files_below(name: str, type_: Any, *, hidden: Callable[[str], bool]) -> Iterator[str]:
    """Yield the paths to files below a variable, shortest first, with each input object visited once."""
    waiting = deque([(name, get_named_type(type_))])
    seen: set[str] = set()
    while waiting:
        path, named = waiting.popleft()
        if named.name == UPLOAD:
            yield path
        elif isinstance(named, GraphQLInputObjectType) and named.name not in seen:
            seen.add(named.name)
            fields = {key: field for key, field in named.fields.items() if not hidden(f"{named.name}.{key}")}
            waiting.extend((f"{path}.{key}", get_named_type(field.type)) for key, field in fields.items())
