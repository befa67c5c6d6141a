"""The rules that keep a caller from an entrance, or from a schema coordinate behind one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from handler.audience.reach import Entrance, Reach, Visitor
from handler.audience.view_paths import is_visible, parts_of
from handler.bundle.tools import CodeTool, PrescribedTool
from handler.compiler.operations.operation_paths import find_path
from handler.compiler.provenance import Cause, Holds, responsible
from handler.graph.index import SchemaIndex, named
from handler.graph.view import View, build_view
from handler.policy.evaluation import OPEN

Causes = dict[str, list[Cause]]
"""Hidden coordinate, toolkit or tool in Python -> the rules that hide it."""


def hidden_parts(reach: Reach, visitor: Visitor) -> Causes:
    """Return the coordinates that policies and ``access.hide`` hide from a caller, with their rules."""
    return reach.provenance.hidden(visitor.evaluation.meets) if reach.provenance else {}


def hidden_by_patterns(reach: Reach, entrance: Entrance, visitor: Visitor) -> list[str]:
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
        return conditions | _needed(reach, entrance, holds)
    if conditions or not entrance.takes_documents:
        return conditions
    whole = reach.whole_view(entrance)
    roots = [f"{whole.index.roots[kind]}.{name}" for kind, names in whole.root_fields().items() for name in names]
    return _rules(reach, roots, evaluation.meets, tool=_name_of_view(entrance))


def rules_at(reach: Reach, entrance: Entrance, coordinate: str, visitor: Visitor) -> Causes:
    """Return the rules for which a caller does not reach a coordinate through an entrance, by hidden coordinates.

    Without these rules the caller reaches it, as the view is built without them. Empty if no rule hides it.
    """
    if not entrance.takes_documents or _conditions_of(reach, entrance, visitor):
        return rules_of(reach, entrance, visitor)
    provenance, tool = reach.provenance, _name_of_view(entrance)
    if provenance is None:
        return {}
    meets, view = visitor.evaluation.meets, reach.view(entrance, visitor)

    def closes(numbers: frozenset[int]) -> bool:
        hidden = provenance.hidden_by(numbers, tool=tool)
        return not is_visible(build_view(view.index, hidden), coordinate)

    if closes(frozenset()):
        return {}  # nothing of the schema leads there
    own = provenance.causes(coordinate, meets, tool=tool)
    causes = provenance.caused(responsible(provenance.unmet(meets, tool=tool), closes))
    rest = [each for each in causes if each.rule not in [cause.rule for cause in own]]
    closing: Causes = {coordinate: own} if own else {}
    if rest:
        behind = _first_rules(_edge_towards(coordinate, view), view, lambda each: _rules(reach, each, meets, tool=tool))
        closing |= _only(behind, rest) or {coordinate: [*own, *rest]}
    return closing


def _needed(reach: Reach, entrance: Entrance, holds: Holds) -> Causes:
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


def _first_rules(coordinates: Iterable[str], view: View, behind: Callable[[Iterable[str]], Causes]) -> Causes:
    """Return the rules that hide coordinates, or for one without a rule, the rules of the coordinates that it needs."""
    causes: Causes = {}
    waiting = list(dict.fromkeys(coordinates))
    met = set(waiting)
    while waiting:
        coordinate = waiting.pop(0)
        rules = behind([coordinate])
        causes |= rules
        new = [] if rules else [each for each in _needs(coordinate, view.index) if not is_visible(view, each)]
        waiting += [each for each in new if each not in met]
        met.update(new)
    return causes


def _needs(coordinate: str, index: SchemaIndex) -> Iterator[str]:
    """Yield the coordinates without which a view loses a coordinate: its field, its types, or all of its members."""
    owner, member, argument = parts_of(coordinate)
    if owner.startswith("@"):
        arguments = index.directives[owner.removeprefix("@")].arguments
        yield from (named(value.type) for each, value in arguments.items() if each == argument or not argument)
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


def _name_of_view(entrance: Entrance) -> str:
    return entrance.view_of.name if entrance.view_of else ""


def _edge_towards(coordinate: str, view: View) -> Iterator[str]:
    """Yield the hidden coordinates at the edge of a view that lead on to a coordinate."""
    index, leading = view.index, _types_leading_to(view.index, coordinate)
    for owner in dict.fromkeys((*index.roots.values(), *view.members)):
        for member, argument, target in index.references(owner) if owner in index else ():
            if target in view.members or target not in leading:
                continue
            path = f"{owner}.{member}"
            if not is_visible(view, path):
                yield path
            elif argument and not is_visible(view, f"{path}({argument}:)"):
                yield f"{path}({argument}:)"
    for name, directive in index.directives.items():
        for argument, value in directive.arguments.items():
            if named(value.type) in leading - view.members.keys() and not is_visible(view, f"@{name}({argument}:)"):
                yield f"@{name}({argument}:)"


def _types_leading_to(index: SchemaIndex, coordinate: str) -> set[str]:
    """Return the types from which a request can go on to a coordinate, its own type included."""
    owner = coordinate.removeprefix("@").partition(".")[0]
    leading = {owner}
    waiting = [owner]
    while waiting:
        name = waiting.pop()
        above = [*index.users.get(name, ()), *index.implementers.get(name, ())]
        above += index.interfaces(name) if name in index else ()
        new = {each for each in above if each not in index.roots.values()} - leading
        leading |= new
        waiting += new
    return leading
