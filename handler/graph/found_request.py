"""A request of a way that a search found, valid in the caller's view, which a model completes and runs.

Required arguments are variables, a connection has its page, and types have the fields that the search found.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from handler.graph.index import Field, named_type
from handler.graph.view import View

MAX_REQUEST_BYTES = 400

USUAL, MAX_LEAVES = ("id", "name", "title", "number", "code", "status", "state"), 3
"""Fields that the last type is given after those that the search found, and the fields that a type is given at most."""

LOOKUPS = ("ID", "String")
"""Types of the optional arguments by which a root field finds one result. A request has two of them."""

CONTENTS, ENDS = ("nodes", "edges", "node", "items"), ("hasNextPage", "endCursor")
"""Fields of the contents of a page or an edge, and of a ``pageInfo``."""

WRAPPER_MEMBERS = 6
"""A type with no more members leads to the types below: a page of a list, an edge, the payload of a mutation."""

_Step = tuple[str, str, list[str]]
"""A type, its field or the empty string for the type itself, and arguments of the field that the way takes."""


def found_request(view: View, way: Sequence[str], matches: Sequence[str]) -> str:
    """Return the request of a way from a root field; empty if none of at most ``MAX_REQUEST_BYTES`` follows it.

    ``matches``: coordinates of fields, which are selected of the types that the way passes.
    """
    kinds = {name: kind for kind, name in view.index.roots.items()}
    steps = list(_steps(view, way))
    if not steps or not steps[0][1] or steps[0][0] not in kinds:
        return ""
    request = _Request(view, steps[0][0], matches)
    try:
        for owner, member, arguments in steps:
            request.follow(owner, member, arguments)
        request.end(steps[-1][1])
    except LookupError:  # a step does not follow from the one before
        return ""
    variables = ", ".join(f"${name}: {type_}" for name, type_ in request.variables.items())
    operation = f"{kinds[steps[0][0]]}{f' ({variables})' if variables else ''}"
    text = " { ".join([operation, *request.parts]) + " }" * len(request.parts)
    return text if len(text) <= MAX_REQUEST_BYTES else ""  # names of GraphQL are ASCII


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
    """A request while it is written, each part in the selection set of the part before."""

    def __init__(self, view: View, root: str, matches: Sequence[str]) -> None:
        self.parts: list[str] = []
        self.variables: dict[str, str] = {}  # name -> type
        self._view = view
        self._matches = [each.partition(".") for each in matches]
        self._type = root
        self._beside: list[str] = []  # selections before the next part

    def follow(self, owner: str, member: str, arguments: Sequence[str]) -> None:
        """Add a step: a fragment if it is needed, and the field.

        Raises:
            LookupError: the step does not follow from the one before.
        """
        index = self._view.index
        if owner != self._type and member not in self._fields(self._type):
            kin = (*index.interfaces(self._type), *index.implementers.get(self._type, ()))
            kin += self._view.members[self._type] if index.kind(self._type) == "union" else ()
            if owner not in kin or "object" not in (index.kind(self._type), index.kind(owner)):
                raise LookupError(owner)
            self._beside = []  # what an interface has is found on the object, too
            self._add(f"... on {owner}", owner)
        if member:
            self._add_field(member, arguments)

    def end(self, member: str) -> None:
        """Add the contents of two pages, edges or payloads at most, and the usual fields.

        ``member``: the last field. Nothing is added to a root type: a further mutation would change something else.
        """
        at_root = self._type in self._view.index.roots.values()
        for _ in range(0 if at_root else 2):
            fields = self._fields(self._type)
            named = (name for name in fields if name.lower() in member.lower())  # closeIssue { issue { … } }
            content = next((each for each in (*CONTENTS, *named) if self._is_open(self._type, each, leaf=False)), "")
            if content and ("pageInfo" in fields or len(fields) <= WRAPPER_MEMBERS):
                self._add_field(content, ())
        if self._view.index.kind(self._type) == "union":
            members = self._view.members[self._type]
            self._beside = ["__typename"]
            chosen = next((owner for owner, _, _ in self._matches if owner in members), members[0])
            self._add(f"... on {chosen}", chosen)
        self._add_leaves(() if at_root else USUAL)
        self.parts.append(" ".join(self._beside) or "__typename")

    def _add_field(self, name: str, wanted: Sequence[str]) -> None:
        """Add a field with its required arguments, those that are wanted, and those of a page."""
        field, visible = self._fields(self._type)[name], self._view.arguments(self._type, name)
        returned, beside = named_type(field.type), list[str]()
        values: dict[str, str] = {}
        roots = self._view.index.roots.values()
        if self._is_open(returned, "pageInfo", leaf=False):
            if "first" in visible and visible["first"].type.rstrip("!") == "Int":
                values = {"first": "10"}
            info = named_type(self._fields(returned)["pageInfo"].type)
            if "after" in visible and all(self._is_open(info, end, leaf=True) for end in ENDS):
                wanted, beside = [*wanted, "after"], [f"pageInfo {{ {' '.join(ENDS)} }}"]
        elif self._type in roots and "[" not in field.type and not any(value.required for value in visible.values()):
            wanted = wanted or [each for each, value in visible.items() if value.type in LOOKUPS][:2]
        for each, value in visible.items():
            if each not in values and (value.required or each in wanted):
                variable = each
                while variable in self.variables:
                    variable = f"{name}_{variable}"
                self.variables[variable] = value.type
                values[each] = f"${variable}"
        arguments = ", ".join(f"{each}: {value}" for each, value in values.items())
        self._add(f"{name}({arguments})" if arguments else name, returned, beside)

    def _add(self, text: str, type_name: str, beside: Sequence[str] = ()) -> None:
        """Add a part. If it has a type of its own, the fields of this type that the search found come next."""
        selection = [*(each for each in self._beside if each != text.partition("(")[0]), text]
        if self._view.is_leaf(type_name):
            self._beside = selection
            return
        self.parts.append(" ".join(selection))
        self._type, self._beside = type_name, [*beside]
        owners = {type_name, *self._view.index.interfaces(type_name)}
        self._add_leaves([name for owner, _, name in self._matches if owner in owners])

    def _add_leaves(self, names: Iterable[str]) -> None:
        """Add fields of the type that take no selection, until it has ``MAX_LEAVES``."""
        for name in names:
            leaves = {each.partition("(")[0] for each in self._beside}
            if len(leaves) < MAX_LEAVES and name not in leaves and self._is_open(self._type, name, leaf=True):
                self._beside.append(name)

    def _is_open(self, type_name: str, name: str, *, leaf: bool) -> bool:
        """Return whether a field is visible, needs no argument, and takes no selection (``leaf``) or takes one."""
        field = self._fields(type_name).get(name)
        if field is None or self._view.is_leaf(field.type) != leaf:
            return False
        return not any(value.required for value in self._view.arguments(type_name, name).values())

    def _fields(self, type_name: str) -> Mapping[str, Field]:
        """Return the visible fields of a type; none of types that have no fields."""
        if self._view.index.kind(type_name) not in ("object", "interface"):
            return {}
        fields = self._view.index[type_name].fields
        return {name: fields[name] for name in self._view.members[type_name]}
