"""A request of a way that a search found, valid in the caller's view, which a model completes and runs.

Required arguments are variables, a connection has its page, and the last type the fields that the search found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from handler.graph.index import Field, named_type
from handler.graph.view import View

MAX_REQUEST_BYTES = 400

USUAL, FEW, MAX_LEAVES = ("id", "name", "title", "number", "code", "status", "state"), 3, 5
"""Fields that a type is given in a request if the search found fewer than ``FEW``, and those found at most."""

CONTENTS, ENDS = ("nodes", "edges", "node", "items"), ("hasNextPage", "endCursor")
"""Fields of the contents of a page or an edge, and of a ``pageInfo``."""

WRAPPER_MEMBERS = 6
"""A type with no more members leads to the types below: a page of a list, an edge, the payload of a mutation."""

LOOKUPS = ("ID", "String")
"""Types of the optional arguments by which a root field finds one result. A request has two of them."""

_Step = tuple[str, str, list[str]]
"""A type, its field or the empty string for the type itself, and arguments of the field that the way takes."""


def found_request(view: View, way: Sequence[str], matches: Sequence[str]) -> str:
    """Return the request of a way from a root field; empty if none of at most ``MAX_REQUEST_BYTES`` follows it.

    ``matches``: coordinates of fields, which are selected if the way passes their types.
    """
    kinds = {name: kind for kind, name in view.index.roots.items()}
    steps = list(_steps(view, way))
    if not steps or not steps[0][1] or steps[0][0] not in kinds:
        return ""
    request = _Request(view, matches)
    try:
        body = request.selection(steps[0][0], steps, set())
    except LookupError:  # a step does not follow from the one before
        return ""
    variables = ", ".join(f"${name}: {type_}" for name, type_ in request.variables.items())
    text = f"{kinds[steps[0][0]]}{f' ({variables})' if variables else ''} {{ {body} }}"
    return text if len(text) <= MAX_REQUEST_BYTES else ""  # names of GraphQL are ASCII


def is_leaf(view: View, type_text: str) -> bool:
    """Return whether a field of this type takes no selection."""
    return view.index.kind(named_type(type_text)) in ("scalar", "enum")


def _steps(view: View, way: Sequence[str]) -> Iterator[_Step]:
    """Yield the steps of a way up to the first part of an input type or an enum."""
    arguments: list[str] = []
    for coordinate in way:
        owner, _, rest = coordinate.partition(".")
        member, _, argument = rest.partition("(")
        match view.index.kind(owner):
            case "object" | "interface" if argument:
                arguments.append(argument.removesuffix(":)"))
            case "object" | "interface":
                yield owner, member, (arguments := [])
            case "union":
                yield member or owner, "", []
            case _:
                return


class _Request:
    """A request while it is written, the last fields first."""

    def __init__(self, view: View, matches: Sequence[str]) -> None:
        self.variables: dict[str, str] = {}  # name -> type
        self._view = view
        self._matches = matches
        self._wrappers = 2  # that may be opened: a page, and its edges
        self._has_page = False

    def selection(self, type_name: str, steps: Sequence[_Step], taken: set[str], *, field: str = "") -> str:
        """Return the selections of a type, which ``field`` returns. ``taken``: names that the response has already.

        Raises:
            LookupError: a step does not follow from the one before.
        """
        if not steps:
            return self._last(type_name, taken, field=field)
        (owner, member, arguments), *others = steps
        if not member and owner == type_name:
            return self.selection(type_name, others, taken, field=field)
        index = self._view.index
        if member not in self._fields(type_name):
            kin = (*index.interfaces(type_name), *index.implementers.get(type_name, ()))
            kin += self._view.members[type_name] if index.kind(type_name) == "union" else ()
            if owner not in kin or "object" not in (index.kind(type_name), index.kind(owner)):
                raise LookupError(owner)
            return f"... on {owner} {{ {self.selection(owner, steps, taken)} }}"
        taken.add(member)
        return " ".join([self._field(type_name, member, others, arguments), *self._found(type_name, taken)])

    def _last(self, type_name: str, taken: set[str], *, field: str) -> str:
        """Return the selections at the end of a way: the fields that the search found, and usual ones."""
        if self._view.index.kind(type_name) == "union":
            members = self._view.members[type_name]
            owners = (coordinate.partition(".")[0] for coordinate in self._matches)
            member = next((owner for owner in owners if owner in members), members[0])
            return f"__typename ... on {member} {{ {self._last(member, taken, field=field)} }}"
        fields = self._fields(type_name)
        leaves = self._found(type_name, taken)
        named = (name for name in fields if name.lower() in field.lower())  # closeIssue { issue { … } }
        content = next((name for name in (*CONTENTS, *named) if self._is_open(type_name, name, leaf=False)), "")
        if content and self._wrappers and ("pageInfo" in fields or (not leaves and len(fields) <= WRAPPER_MEMBERS)):
            self._wrappers -= 1
            return " ".join([*leaves, self.selection(type_name, [(type_name, content, [])], taken)])
        usual = [name for name in USUAL if name not in taken and self._is_open(type_name, name, leaf=True)]
        return " ".join([*leaves, *usual[: max(0, FEW - len(leaves))]]) or "__typename"

    def _field(self, owner: str, name: str, steps: Sequence[_Step], wanted: Sequence[str]) -> str:
        field, visible = self._fields(owner)[name], self._view.arguments(owner, name)
        returned, inner = named_type(field.type), ""
        pages = self._is_open(returned, "pageInfo", leaf=False)
        if not is_leaf(self._view, returned):
            inner = self.selection(returned, steps, {"pageInfo"} if pages else set(), field=name)
        values = {}
        if pages and "first" in visible and visible["first"].type.rstrip("!") == "Int":
            values["first"] = "10"
            info = named_type(self._fields(returned)["pageInfo"].type)
            if "after" in visible and not self._has_page and all(self._is_open(info, end, leaf=True) for end in ENDS):
                self._has_page, wanted = True, [*wanted, "after"]
                inner = f"pageInfo {{ {' '.join(ENDS)} }} {inner}"
        elif owner in self._view.index.roots.values() and "[" not in field.type:
            lookups = [each for each, value in visible.items() if value.type in LOOKUPS]
            wanted = wanted or ([] if any(value.required for value in visible.values()) else lookups[:2])
        for each, value in visible.items():
            if each not in values and (value.required or each in wanted):
                variable = each
                while variable in self.variables:
                    variable = f"{name}_{variable}"
                self.variables[variable] = value.type
                values[each] = f"${variable}"
        arguments = ", ".join(f"{each}: {value}" for each, value in values.items())
        return f"{name}{f'({arguments})' if arguments else ''}{f' {{ {inner} }}' if inner else ''}"

    def _found(self, type_name: str, taken: set[str]) -> list[str]:
        """Take the fields of a type that the search found, on the type or on its interfaces."""
        owners = {type_name, *self._view.index.interfaces(type_name)}
        parts = (coordinate.partition(".") for coordinate in self._matches)
        names = dict.fromkeys(member for owner, _, member in parts if owner in owners and member not in taken)
        found = [name for name in names if self._is_open(type_name, name, leaf=True)][:MAX_LEAVES]
        taken.update(found)
        return found

    def _is_open(self, type_name: str, name: str, *, leaf: bool) -> bool:
        """Return whether a field is visible, needs no argument, and takes no selection (``leaf``) or takes one."""
        field = self._fields(type_name).get(name)
        if field is None or is_leaf(self._view, field.type) != leaf:
            return False
        return not any(value.required for value in self._view.arguments(type_name, name).values())

    def _fields(self, type_name: str) -> Mapping[str, Field]:
        """Return the visible fields of a type; none of types that have no fields."""
        if self._view.index.kind(type_name) not in ("object", "interface"):
            return {}
        fields = self._view.index[type_name].fields
        return {name: fields[name] for name in self._view.members[type_name]}
