"""The request for one GraphQL operation, and the removal of fields that it does not select from the answer.

graphql-core could read the document, but calls of prescribed tools do without it, and its import takes longer than such
a call. The documents are valid, and in graphql-core's printed form.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from handler.cold.records import record


@record(frozen=True, slots=True, kw_only=True)
class GraphQLRequest:
    """One operation to send. Only queries may be sent a second time."""

    text: str
    sha256: str  # of the text; empty if a model wrote the text
    operation_name: str | None
    variables: Mapping[str, Any]
    is_query: bool
    idempotency_key: str = ""  # shared by all repetitions of one call; empty if none is needed


STRINGS = re.compile(r'"""(?:[^"\\]|\\"""|\\|"(?!""))*(?:""")?|"(?:[^"\\\n]|\\.)*"?')
"""Strings of a document. An unterminated string counts too: a vain search for its end takes quadratic time."""

_ARGUMENTS = re.compile(r"\([^()]*\)|@\w+")
_DEFINITION = re.compile(r"^(?:fragment (\w+) on|query|mutation|(?=\{))[^{}]*\{", re.MULTILINE)
_SELECTION = re.compile(r"\s*(?:(\})|\.\.\.(?: on \w+)?(\w*)|(\w+)(?:: \w+)?)\s*(\{?)")


class _Selected:
    """The response keys of a selection set, and the selection sets below."""

    __slots__ = ("below", "keys")

    def __init__(self) -> None:
        self.keys: set[str] = set()
        self.below: dict[str, _Selected] = {}


def drop_unselected(data: dict[str, Any], operation: GraphQLRequest) -> None:
    """Remove all fields from ``data``, in place, that the operation does not select."""
    selected = _selected(operation.text) if operation.sha256 else _selected.__wrapped__(operation.text)
    waiting: list[tuple[list[Any], _Selected]] = [([data], selected)]
    while waiting:  # all values of one place at once, which takes a third of the time
        values, selected = waiting.pop()
        objects = [each for each in values if type(each) is dict]
        if not all(map(selected.keys.issuperset, objects)):
            for each in objects:
                for name in each.keys() - selected.keys:
                    del each[name]
        if objects:
            below = selected.below.items()
            waiting += [([each[name] for each in objects if name in each], inner) for name, inner in below]
        if len(objects) < len(values):
            items = [item for each in values if type(each) is list for item in each]
            waiting += [(items, selected)] if items else []


@lru_cache(maxsize=1024)
def _selected(text: str) -> _Selected:
    plain, replacements = STRINGS.sub("", text), 1
    while replacements:  # arguments of directives on variables are nested
        plain, replacements = _ARGUMENTS.subn("", plain)
    bodies = {definition[1]: definition.end() for definition in _DEFINITION.finditer(plain)}
    whole, spread = _Selected(), set[tuple[_Selected, str]]()

    def read(at: int, into: _Selected) -> int:
        while True:
            selection = _SELECTION.match(plain, at)
            if selection is None:
                raise ValueError(f"no selection at {at} of a printed document")
            end, fragment, key, opens = selection.groups()
            at = selection.end()
            if end:
                return at
            if key:
                into.keys.add(key)
            if opens:
                at = read(at, into.below.setdefault(key, _Selected()) if key else into)
            elif fragment and (into, fragment) not in spread:
                spread.add((into, fragment))
                read(bodies[fragment], into)

    read(bodies[None], whole)
    return whole
