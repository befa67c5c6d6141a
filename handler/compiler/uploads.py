from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping

from graphql import GraphQLInputObjectType, GraphQLScalarType, get_named_type

from handler.compiler.inputs import Inputs
from handler.compiler.problems import Problems
from handler.compiler.scalars import Scalar

UPLOAD = "Upload"


def refuse_uploads(inputs: Inputs, own: Mapping[str, Scalar], problems: Problems) -> None:
    """Report each variable that takes a file, unless the author says what ``Upload`` is, or nobody can give it.

    Source: the GraphQL multipart request specification, which sends files beside the JSON of a request.
    """
    if UPLOAD in own:
        return
    for node in (*inputs.filled_by_model, *inputs.bound):
        name = node.variable.name.value
        path = next(_uploads(name, inputs), None)
        if path:
            at = f" at {path}" if path != name else ""
            problems.add(node, f'${name} takes an "{UPLOAD}"{at}: no file can be given as an argument')


def _uploads(name: str, inputs: Inputs) -> Iterator[str]:
    """The paths to files below a variable, the shortest first; each input object is looked into once."""
    waiting = deque([(name, get_named_type(inputs.types[name]))])
    seen: set[str] = set()
    while waiting:
        path, named = waiting.popleft()
        match named:
            case GraphQLScalarType(name="Upload"):
                yield path
            case GraphQLInputObjectType() if named.name not in seen:
                seen.add(named.name)
                fields = inputs.fields(named).items()
                waiting.extend((f"{path}.{key}", get_named_type(field.type)) for key, field in fields)
