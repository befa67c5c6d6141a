"""The reach of callers: the entrances that are open, those that lead to a schema coordinate, and the closing rules.

The answers come from the loaded endpoint that also answers requests. The rules behind a closed entrance come from the
compiler's provenance.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial

from handler.audience.caller_classes import CallerClasses
from handler.audience.view_paths import find_document, parts_of, view_has
from handler.audience.ways import (
    ROUTE,
    VERDICTS,
    Fixed,
    Standing,
    Ways,
    decides_by_bindings,
    operation_standing,
    scope_refusal,
    standing_trait,
    traits_of,
    version_of,
)
from handler.bundle.model import Bundle
from handler.bundle.tools import CodeTool, GraphQLTool, PersistedOperation, PrescribedTool, Tool
from handler.commands.local.callers import KEY, NOBODY, NamedCaller, read_caller
from handler.commands.local.local_endpoint import local_endpoint
from handler.compiler.compile import Compiled
from handler.compiler.operations.author_operations import AuthorOperation
from handler.compiler.operations.operation_paths import find_path, find_variable, interface_coordinates
from handler.compiler.problems import Place, where
from handler.compiler.provenance import Cause, Holds, Provenance, responsible
from handler.compiler.schema.name_graph import closure
from handler.compiler.tools.declaration import CompiledTool
from handler.errors.access import CredentialRefused, CredentialRequired
from handler.graph.index import SchemaIndex, named_type, read_index
from handler.graph.view import View, build_view
from handler.policy.evaluation import OPEN, Evaluation
from handler.server.auth.principal import DEVELOPMENT, Principal, has_scopes
from handler.server.endpoints.endpoint import Endpoint

OPEN_VERDICTS = ("yes", "call", "may ask")
"""Verdicts of entrances that let a caller through, for some values of variables if the verdict is ``call``."""

UNNAMED = "token"
"""The label of witnesses that nobody has named: bearers of a token with some claims."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrance:
    """A tool, the GraphQL route for any document, or a persisted operation at this route.

    An entrance has at most one of ``tool`` and ``persisted``; the GraphQL route has neither.
    """

    name: str
    kind: str  # graphql | prescribed | code | catalog | route | persisted
    place: Place | None = None
    tool: Tool | None = None
    made: CompiledTool | None = None
    persisted: PersistedOperation | None = None
    author: AuthorOperation | None = None

    @property
    def view_of(self) -> GraphQLTool | None:
        """The GraphQL tool whose view holds behind the entrance; ``None``: the view of the whole endpoint."""
        return self.tool if isinstance(self.tool, GraphQLTool) else None

    @property
    def view_name(self) -> str:
        """The name of this tool; empty string for the view of the whole endpoint."""
        return self.view_of.name if self.view_of else ""

    @property
    def scopes(self) -> Sequence[str]:
        """The scopes that callers need."""
        if self.persisted is not None:
            return self.persisted.scopes
        return self.tool.options.scopes if self.tool else ()

    @property
    def takes_documents(self) -> bool:
        """True if callers write documents themselves."""
        return self.kind in ("graphql", "route")

    @property
    def fixed(self) -> Fixed | None:
        """The operation of the author that runs behind the entrance, if any."""
        return self.tool if isinstance(self.tool, PrescribedTool) else self.persisted

    def has_name(self, name: str) -> bool:
        """Return whether a tool has a name or alias."""
        return self.tool is not None and name in (self.tool.name, *self.tool.options.aliases)


def _entrances_of(compiled: Compiled) -> Iterator[Entrance]:
    """Yield the tools in the bundle's order, then the GraphQL route and the persisted operations that it runs."""
    for each in compiled.made:
        tool = each.tool
        yield Entrance(
            name=tool.name, kind=tool.KIND, place=where(each.at), tool=tool, made=each, author=each.operation
        )
    graphql = compiled.bundle.graphql
    if graphql.mode == "on":
        yield Entrance(name=ROUTE, kind="route")
    if graphql.mode == "off":
        return
    authors = {each.name: each for each in compiled.operations}
    anonymous = {document.id: document.anonymous for document in compiled.documents}
    by_name = {
        each.operation.name or document.id: (document.id, each)
        for document in graphql.documents
        for each in document.operations
    }
    for name, (id_, persisted) in by_name.items():
        author = authors.get(persisted.operation.name) or anonymous[id_]
        yield Entrance(
            name=f"{ROUTE} {name}",
            kind="persisted",
            place=where(author.node) if author else None,
            persisted=persisted,
            author=author,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Visitor:
    """A caller of one endpoint. ``refusal`` says why the function answers 401; empty string if it does not."""

    label: str
    principal: Principal
    evaluation: Evaluation
    refusal: str = ""


def refusal_of(caller: NamedCaller, bundle: Bundle) -> str:
    """Return the reason for which an endpoint answers a caller 401; empty string if it does not."""
    try:
        caller.admitted(bundle, now=time.time())
    except CredentialRequired:
        return "access.anonymous is challenge"
    except CredentialRefused:
        return "the key has expired"
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """The way to a coordinate through an entrance. ``verdict``: a ``Standing``'s, or ``may ask`` of a tool in Python.

    ``document`` is a request that uses the coordinate, ``path`` the way inside the author's operation.
    """

    entrance: Entrance
    verdict: str
    note: str = ""
    document: str = ""
    path: str = ""

    @property
    def is_open(self) -> bool:
        """True if the caller reaches the coordinate, at least for some values of variables."""
        return self.verdict in OPEN_VERDICTS


class Reach:
    """The reach of callers at one endpoint. ``provenance`` is ``None`` for an endpoint without a schema."""

    def __init__(self, compiled: Compiled, provenance: Provenance | None) -> None:
        self.compiled = compiled
        self.provenance = provenance
        self.endpoint: Endpoint = local_endpoint(compiled)
        self.entrances: Sequence[Entrance] = tuple(_entrances_of(compiled))

    @cached_property
    def index(self) -> SchemaIndex | None:
        """The schema; ``None`` if the endpoint has none."""
        return read_index(self.compiled.index, sha256=self.compiled.bundle.index) if self.compiled.index else None

    def visitor(self, caller: NamedCaller) -> Visitor:
        """Return a named caller at this endpoint.

        Raises:
            UnknownCaller: the endpoint has no API key of this name.
        """
        bundle = self.compiled.bundle
        return self.visitor_of(caller.principal(bundle), caller.text, refusal=refusal_of(caller, bundle))

    def visitor_of(self, principal: Principal, label: str, *, refusal: str = "") -> Visitor:
        """Return a caller at this endpoint."""
        evaluation = self.endpoint.evaluation_of(principal)
        return Visitor(label=label, principal=principal, evaluation=evaluation, refusal=refusal)

    def view(self, entrance: Entrance, visitor: Visitor) -> View:
        """Return the view behind a GraphQL entrance, or without a tool, of the whole endpoint."""
        conditions = (entrance.view_of or self.compiled.bundle.graphql).conditions
        return self.endpoint.schema.view(entrance.view_of, visitor.evaluation.outcome(conditions))

    def whole_view(self, entrance: Entrance) -> View:
        """Return the view of a caller who meets all conditions that a caller can meet."""
        conditions = (entrance.view_of or self.compiled.bundle.graphql).conditions
        return self.endpoint.schema.view(entrance.view_of, conditions)

    def standing(self, entrance: Entrance, visitor: Visitor, *, counted: bool = True) -> Standing:
        """Return an entrance's standing for a caller. ``counted``: with numbers of fields."""
        if visitor.refusal:
            return Standing(verdict="401", note=visitor.refusal)
        if entrance.fixed is not None:
            return operation_standing(
                self.endpoint, entrance.fixed, principal=visitor.principal, evaluation=visitor.evaluation
            )
        if entrance.tool is not None:
            if not self.endpoint.is_visible(entrance.tool, visitor.evaluation):
                return Standing(verdict="no")
            refusal = scope_refusal(entrance.scopes, visitor.principal)
            if refusal:
                return refusal
        elif not self.view(entrance, visitor).root_fields():
            return Standing(verdict="no")
        fields = None
        if counted and entrance.takes_documents:
            view, whole = self.view(entrance, visitor), self.whole_view(entrance)
            if view is not whole:
                counts = _fields_in(view), _fields_in(whole)
                fields = counts if counts[0] != counts[1] else None
        return Standing(verdict="yes", fields=fields)

    def passage(self, entrance: Entrance, coordinate: str, visitor: Visitor) -> Passage:
        """Return the way of a caller through an entrance to a coordinate of the schema."""
        standing = self.standing(entrance, visitor, counted=False)
        closed = Passage(entrance=entrance, verdict="no")
        if standing.verdict == "no" or self.index is None:
            return closed
        passage = Passage(entrance=entrance, verdict=standing.verdict, note=standing.note)
        if entrance.fixed is not None:
            path = self._path(entrance, coordinate, visitor)
            return replace(passage, path=path) if path else closed
        if isinstance(entrance.tool, CodeTool):  # its code may ask the API for all that its caller may
            graphql, operations = self.compiled.bundle.graphql, self.endpoint.operations
            view = self.endpoint.schema.view(None, visitor.evaluation.outcome(graphql.conditions))
            may_run = (each for each in self.entrances if each.fixed and each.fixed.operation.name in operations)
            reaches = standing.verdict == "yes" and (
                view_has(view, coordinate) or any(self.passage(each, coordinate, visitor).is_open for each in may_run)
            )
            return Passage(entrance=entrance, verdict="may ask") if reaches else closed
        if not entrance.takes_documents:
            return closed
        view = self.view(entrance, visitor)
        if not view_has(view, coordinate):
            return closed
        return replace(passage, document=find_document(view, coordinate) or "")

    def passages(self, coordinate: str, visitor: Visitor) -> list[Passage]:
        """Return the ways of a caller through all entrances to a coordinate."""
        return [self.passage(entrance, coordinate, visitor) for entrance in self.entrances]

    def names(self, entrance: Entrance, coordinate: str) -> bool:
        """Return whether an entrance leads to a coordinate for any caller."""
        if self.index is None:
            return False
        if entrance.takes_documents:
            return view_has(self.whole_view(entrance), coordinate)
        return bool(self._path(entrance, coordinate, self.visitor_of(DEVELOPMENT, "")))

    def _path(self, entrance: Entrance, coordinate: str, visitor: Visitor) -> str:
        """Return the way to a coordinate in the operation of an entrance; empty string if it does not lead there."""
        fixed, author, index = entrance.fixed, entrance.author, self.index
        if fixed is None or author is None or index is None:
            return ""
        path = find_path(author, index, coordinate)
        if (
            path is None
            and entrance.made
            and not set(interface_coordinates(index, coordinate)).isdisjoint(entrance.made.uses)
        ):
            path = "a bound constant"
        guards, meets = self.compiled.bundle.guards, visitor.evaluation.meets
        return (
            path
            or find_variable(author, index, coordinate, usable=lambda each: meets(guards.get(each, OPEN) - fixed.mask))
            or ""
        )


def _fields_in(view: View) -> int:
    kinds = ("object", "interface")
    return sum(len(view.members[name]) for name in view.members if view.index.kind(name) in kinds)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerClass:
    """Callers who reach a coordinate alike.

    The first of ``witnesses`` stands for all: anonymous, the holder of an API key, or the bearer of a token with some
    claims.
    """

    witnesses: tuple[Visitor, ...]
    passages: tuple[Passage, ...]  # through the entrances that lead to the coordinate for anybody

    @property
    def ways(self) -> list[Passage]:
        """The open passages."""
        return [each for each in self.passages if each.is_open]


def find_classes(reach: Reach, coordinate: str) -> tuple[list[CallerClass], bool]:
    """Return the classes of callers, and whether all combinations of conditions were looked at.

    Anonymous callers come first, then each API key, then tokens, the smallest claims first.
    """
    version = version_of(reach.compiled)
    classes = CallerClasses(version.bundle, version.bundle, traits_of(version), unissued=True)
    ways = Ways(version, classes, 0, cache={})
    entrances = entrances_to(reach, coordinate)
    facts = [bits for each in entrances for bits in _deciding(reach, ways, each, coordinate)]
    alike: dict[tuple[int, ...], list[Visitor]] = {}
    for place, principal in classes.tokens():
        label = UNNAMED if principal.kind == "token" else classes.classes[place].words
        alike.setdefault(tuple(bits >> place & 1 for bits in facts), []).append(reach.visitor_of(principal, label))
    joined: dict[tuple[tuple[str, str], ...], CallerClass] = {}
    for visitors in alike.values():
        token = class_of(reach, entrances, coordinate, visitors[0])
        key = tuple((each.verdict, each.note) for each in token.passages)
        first = joined.setdefault(key, replace(token, witnesses=()))
        joined[key] = replace(first, witnesses=_smallest((*first.witnesses, *visitors)))
    names = (NOBODY, *(f"{KEY}{key.name}" for key in version.bundle.identity.api_keys))
    others = (class_of(reach, entrances, coordinate, reach.visitor(read_caller(name))) for name in names)
    return [*others, *joined.values()], classes.complete


def entrances_to(reach: Reach, coordinate: str) -> list[Entrance]:
    """Return the entrances that lead to a coordinate for any caller, and tools in Python, which may ask for it."""
    return [each for each in reach.entrances if each.kind == "code" or reach.names(each, coordinate)]


def class_of(reach: Reach, entrances: Sequence[Entrance], coordinate: str, visitor: Visitor) -> CallerClass:
    """Return the class of one caller."""
    passages = tuple(reach.passage(each, coordinate, visitor) for each in entrances)
    return CallerClass(witnesses=(visitor,), passages=passages)


def _deciding(reach: Reach, ways: Ways, entrance: Entrance, coordinate: str) -> Iterator[int]:
    """Yield sets of classes: those that are in the same ones pass an entrance alike."""
    classes, version, bits, fixed = ways.classes, ways.version, ways.bits, entrance.fixed
    for scope in entrance.scopes:
        yield classes.of(0, partial(has_scopes, (scope,)))
    if fixed is None:
        yield bits.surely(entrance.tool.mask if isinstance(entrance.tool, GraphQLTool | CodeTool) else OPEN)
        yield ways.views(entrance.view_of).get(coordinate, 0)
        return
    yield bits.surely(fixed.mask)
    yield bits.may(fixed.mask, fixed.operation.variables)
    if decides_by_bindings(version, fixed):
        trait = standing_trait(version, fixed)
        for verdict in VERDICTS:
            yield classes.bits(trait, verdict.__eq__, 0)
    if entrance.author and reach.index and not find_path(entrance.author, reach.index, coordinate):
        inputs: set[str] = set()

        def is_input(name: str) -> bool:
            inputs.add(name)
            return True

        find_variable(entrance.author, reach.index, "", usable=is_input)
        for mask in {version.bundle.guards.get(each, OPEN) - fixed.mask for each in inputs}:
            yield bits.surely(mask)


def _smallest(visitors: Sequence[Visitor]) -> tuple[Visitor, ...]:
    """Return the callers without those whose claims contain the claims of another one, which add nothing."""
    smallest: list[Visitor] = []
    for visitor in sorted(visitors, key=lambda each: len(each.principal.claims or ())):
        claims = (visitor.principal.claims or {}).items()
        if not any(all(item in claims for item in (other.principal.claims or {}).items()) for other in smallest):
            smallest.append(visitor)
    return tuple(smallest)


Causes = dict[str, list[Cause]]
"""Hidden coordinate, toolkit or tool in Python -> the rules that hide it."""


def hidden_parts(reach: Reach, visitor: Visitor) -> Causes:
    """Return the coordinates that policies and ``access.hide`` hide from a caller, with their rules."""
    return reach.provenance.hidden(visitor.evaluation.meets) if reach.provenance else {}


def pattern_hidden_parts(reach: Reach, entrance: Entrance, visitor: Visitor) -> list[str]:
    """Return the coordinates that a GraphQL tool's patterns hide from a caller beyond ``hidden_parts``."""
    if entrance.view_of is None or _conditions_of(reach, entrance, visitor):
        return []
    guards, meets = reach.compiled.bundle.guards, visitor.evaluation.meets
    hidden = (each for each, mask in entrance.view_of.guards.items() if not meets(mask))
    return [each for each in hidden if meets(guards.get(each, OPEN))]


def rules_of(reach: Reach, entrance: Entrance, visitor: Visitor) -> Causes:
    """Return the coordinates for which an entrance is closed to a caller, with the rules that close it.

    For an entrance that values of variables decide about, return the rules that then have to hold.
    """
    evaluation, tool, fixed = visitor.evaluation, entrance.tool, entrance.fixed
    if isinstance(tool, CodeTool):
        unmet = [rule for rule in reach.compiled.kit_rules if not evaluation.meets(rule.mask)]
        return _with_causes(
            (name, [Cause(rule, own=True) for rule in unmet if name in rule.coordinates])
            for name in (tool.kit, f"tool {tool.name}")
        )
    conditions = _conditions_of(reach, entrance, visitor)
    if fixed is not None:
        holds: Holds = evaluation.meets
        if reach.standing(entrance, visitor).verdict not in ("call", "refused"):
            holds = partial(evaluation.may_meet, variables=fixed.operation.variables)
        return conditions | _rules_of_operation(reach, entrance, holds)
    if conditions or not entrance.takes_documents:
        return conditions
    whole = reach.whole_view(entrance)
    roots = [f"{whole.index.roots[kind]}.{name}" for kind, names in whole.root_fields().items() for name in names]
    return _rules(reach, roots, evaluation.meets, tool=entrance.view_name)


def rules_at(reach: Reach, entrance: Entrance, coordinate: str, visitor: Visitor) -> Causes:
    """Return the rules for which a caller does not reach a coordinate through an entrance, by hidden coordinates.

    Without these rules the caller reaches it, as the view is built without them. Empty if no rule hides it.
    """
    if not entrance.takes_documents or _conditions_of(reach, entrance, visitor):
        return rules_of(reach, entrance, visitor)
    provenance, tool = reach.provenance, entrance.view_name
    if provenance is None:
        return {}
    meets, view = visitor.evaluation.meets, reach.view(entrance, visitor)

    def closes(numbers: frozenset[int]) -> bool:
        hidden = provenance.hidden_by(numbers, tool=tool)
        return not view_has(build_view(view.index, hidden), coordinate)

    if closes(frozenset()):
        return {}  # nothing of the schema leads there
    own = provenance.causes(coordinate, meets, tool=tool)
    causes = provenance.caused(responsible(provenance.unmet(meets, tool=tool), closes))
    rest = [each for each in causes if each.rule not in [cause.rule for cause in own]]
    closing: Causes = {coordinate: own} if own else {}
    if rest:
        behind = _first_rules(
            _edge_towards(coordinate, view), view, lambda each: _rules(reach, [each], meets, tool=tool)
        )
        closing |= _only(behind, rest) or {coordinate: [*own, *rest]}
    return closing


def _rules_of_operation(reach: Reach, entrance: Entrance, holds: Holds) -> Causes:
    """Return the rules that hide the coordinates of an operation, which needs all of them."""
    provenance, author, index = reach.provenance, entrance.author, reach.index
    if provenance is None:
        return {}
    uses: Sequence[str] = ()
    if entrance.made:
        uses = entrance.made.uses
    elif author is not None and index is not None:
        uses = [each for each in reach.compiled.bundle.guards if find_path(author, index, each)]
    causes = _rules(reach, uses, holds)
    numbers = responsible(provenance.unmet(holds), lambda some: not provenance.hidden_by(some).isdisjoint(uses))
    return _only(causes, provenance.caused(numbers)) or causes


def _only(causes: Causes, others: list[Cause]) -> Causes:
    """Return the causes whose rules are those of others; empty if not all of these are there."""
    rules = [cause.rule for cause in others]
    among = {name: [each for each in some if each.rule in rules] for name, some in causes.items()}
    there = [each.rule for some in among.values() for each in some]
    return _with_causes(among.items()) if all(each in there for each in rules) else {}


def _first_rules(coordinates: Iterable[str], view: View, behind: Callable[[str], Causes]) -> Causes:
    """Return the rules that hide coordinates, or for one without a rule, the rules of the coordinates that it needs."""
    rules_behind = cache(behind)

    def needs(coordinate: str) -> Iterable[str]:
        needed = () if rules_behind(coordinate) else _needs(coordinate, view.index)
        return (each for each in needed if not view_has(view, each))

    return {name: causes for each in closure(coordinates, needs) for name, causes in rules_behind(each).items()}


def _needs(coordinate: str, index: SchemaIndex) -> Iterator[str]:
    """Yield the coordinates without which a view loses a coordinate: its field, its types, or all of its members."""
    owner, member, argument = parts_of(coordinate)
    if owner.startswith("@"):
        arguments = index.directives[owner.removeprefix("@")].arguments
        yield from (named_type(value.type) for each, value in arguments.items() if each == argument or not argument)
        return
    if not member:
        union = index.kind(owner) == "union"
        yield from (each if union else f"{owner}.{each}" for each in index.members(owner))
        return
    if argument:
        yield f"{owner}.{member}"
    rest = coordinate.partition(".")[2]
    yield from (f"{each}.{rest}" for each in index.implementers.get(owner, ()))
    for name, of_argument, target in index.references(owner):
        if name == member and (of_argument == argument or not argument) and target in index:
            yield target


def _rules(reach: Reach, coordinates: Iterable[str], holds: Holds, *, tool: str = "") -> Causes:
    provenance = reach.provenance
    if provenance is None:
        return {}
    return _with_causes((each, provenance.causes(each, holds, tool=tool)) for each in coordinates)


def _with_causes(causes: Iterable[tuple[str, list[Cause]]]) -> Causes:
    return {name: some for name, some in causes if some}


def _conditions_of(reach: Reach, entrance: Entrance, visitor: Visitor) -> Causes:
    """Return the conditions of tools that the caller does not meet: the entrance's tool, or all of its operation."""
    tools = [entrance.made] if entrance.made else []
    if entrance.persisted and (name := entrance.persisted.operation.name):
        # It asks for the conditions of all tools that run it.
        tools = [
            each
            for each in reach.compiled.made
            if isinstance(each.tool, PrescribedTool) and each.tool.operation.name == name
        ]
    unmet = [each.rule for each in tools if each.rule and not visitor.evaluation.meets(each.rule.mask)]
    return {rule.coordinates[0]: [Cause(rule, own=True)] for rule in unmet}


def _edge_towards(coordinate: str, view: View) -> Iterator[str]:
    """Yield the hidden coordinates at the edge of a view that lead on to a coordinate."""
    index = view.index

    def above(name: str) -> Iterator[str]:
        users = (*index.users.get(name, ()), *index.implementers.get(name, ()))
        types = (*users, *(index.interfaces(name) if name in index else ()))
        return (each for each in types if each not in index.roots.values())

    # The types from which a request can go on to the coordinate, its own type included.
    leading = set(closure([coordinate.removeprefix("@").partition(".")[0]], above))
    for owner in dict.fromkeys((*index.roots.values(), *view.members)):
        for member, argument, target in index.references(owner) if owner in index else ():
            if target in view.members or target not in leading:
                continue
            path = f"{owner}.{member}"
            if not view_has(view, path):
                yield path
            elif argument and not view_has(view, f"{path}({argument}:)"):
                yield f"{path}({argument}:)"
    for name, directive in index.directives.items():
        for argument, value in directive.arguments.items():
            if named_type(value.type) in leading - view.members.keys() and not view_has(view, f"@{name}({argument}:)"):
                yield f"@{name}({argument}:)"
