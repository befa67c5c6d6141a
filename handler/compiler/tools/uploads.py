"""File uploads, which cannot be arguments: an operation that needs a file cannot be a tool.

Source: the GraphQL multipart request specification, which sends files beside the JSON of a request.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from graphql import (
    GraphQLInputObjectType,
    GraphQLNonNull,
    GraphQLSchema,
    get_named_type,
    is_required_input_field,
)

from handler.compiler.api_context import ApiContext
from handler.compiler.json_schemas.scalars import Scalar
from handler.compiler.operations.author_operations import AuthorOperation
from handler.policy.evaluation import hidden_from_everybody
from handler.text.sentences import some

UPLOAD = "Upload"


def types_of_files(schema: GraphQLSchema, own: Mapping[str, Scalar]) -> frozenset[str]:
    """Return the input types whose values need a file; empty if the author defines the scalar ``Upload``."""
    if UPLOAD in own or UPLOAD not in schema.type_map:
        return frozenset()
    names = {UPLOAD}
    inputs = [type_ for type_ in schema.type_map.values() if isinstance(type_, GraphQLInputObjectType)]
    before = 0
    while len(names) > before:
        before = len(names)
        for type_ in inputs:
            fields = [field for field in type_.fields.values() if get_named_type(field.type).name in names]
            if len(fields) == len(type_.fields) or any(map(is_required_input_field, fields)):
                names.add(type_.name)
    return frozenset(names)


def judge_files(context: ApiContext, operation: AuthorOperation, types: Mapping[str, Any]) -> None:
    """Report variables that need a file; warn of left-out files. ``types`` are those of the variables."""
    problems = context.problems
    for node in operation.node.variable_definitions or () if context.types_of_files else ():
        name, type_ = node.variable.name.value, types[node.variable.name.value]
        paths = list(_files_below(name, type_, hidden=hidden_from_everybody(context.guards)))
        is_needed = isinstance(type_, GraphQLNonNull) and not node.default_value
        if is_needed and get_named_type(type_).name in context.types_of_files:
            at = f" at {paths[0]}" if paths and paths[0] != name else ""
            sentence = f'${name} takes an "{UPLOAD}"{at}: no file can be given as an argument'
            problems.add(node, sentence, code="upload-argument")
        elif paths:
            sentence = f'no file can be given as an argument: {some(paths)}, an "{UPLOAD}", is left out'
            problems.warn(node, sentence, code="upload-left-out", about=paths)


def _files_below(name: str, type_: Any, *, hidden: Callable[[str], bool]) -> Iterator[str]:
    """Yield the paths to files below a variable, shortest first, with each input object visited once."""
    waiting = deque([(name, get_named_type(type_))])
    visited: set[str] = set()
    while waiting:
        path, below = waiting.popleft()
        if below.name == UPLOAD:
            yield path
        elif isinstance(below, GraphQLInputObjectType) and below.name not in visited:
            visited.add(below.name)
            fields = {key: field for key, field in below.fields.items() if not hidden(f"{below.name}.{key}")}
            waiting.extend((f"{path}.{key}", get_named_type(field.type)) for key, field in fields.items())
