"""The rules that keep a caller from an entrance, or from a schema coordinate behind one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from handler.audience.entrances import Entrance
from handler.audience.reach import Reach, Visitor
from handler.audience.view_paths import is_visible
from handler.bundle.tools import CodeTool, PrescribedTool
from handler.compiler.operations.operation_paths import find_path
from handler.compiler.provenance import Cause, Holds, responsible
from handler.compiler.tools.declarations.declaration import CompiledTool
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
    if isinstance(entrance.tool, CodeTool):
        return _rules_of_code(reach, entrance.tool, visitor)
    condition = _conditions_of(reach, entrance, visitor)
    if entrance.fixed is not None:
        uses = entrance.made.uses if entrance.made else _uses(reach, entrance)
        return condition | _needed(reach, uses, _holds(reach, entrance, visitor))
    if condition:
        return condition
    if not entrance.takes_documents:
        return {}
    whole = reach.whole_view(entrance)
    roots = [f"{whole.index.roots[kind]}.{name}" for kind, names in whole.root_fields().items() for name in names]
    return _rules(reach, roots, visitor.evaluation.meets, tool=_name_of_view(entrance))


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
    numbers = responsible(provenance.unmet(meets, tool=tool), closes)
    causes = provenance.caused(numbers)
    rest = [each for each in causes if each.rule not in [cause.rule for cause in own]]
    found: Causes = {coordinate: own} if own else {}
    if rest:
        behind = _first_rules(_edge_towards(coordinate, view), view, lambda each: _rules(reach, each, meets, tool=tool))
        found |= _only(behind, rest) or {coordinate: [*own, *rest]}
    return found


def _only(found: Causes, kept: list[Cause]) -> Causes:
    """Return the causes whose rules are among others; empty if not all of these are there."""
    rules = [cause.rule for cause in kept]
    left = {name: [each for each in causes if each.rule in rules] for name, causes in found.items()}
    there = [each.rule for causes in left.values() for each in causes]
    return {name: causes for name, causes in left.items() if causes} if all(each in there for each in rules) else {}


def _needed(reach: Reach, coordinates: Sequence[str], holds: Holds) -> Causes:
    """Return the rules that hide coordinates of which all are needed."""
    provenance = reach.provenance
    if provenance is None:
        return {}
    found = _rules(reach, coordinates, holds)
    numbers = responsible(provenance.unmet(holds), lambda some: not provenance.hidden_by(some).isdisjoint(coordinates))
    return _only(found, provenance.caused(numbers)) or found


def _first_rules(coordinates: Iterable[str], view: View, behind: Callable[[Iterable[str]], Causes]) -> Causes:
    """Return the rules that hide coordinates, or if a coordinate has none, those that hide what it needs."""
    found: Causes = {}
    waiting = list(dict.fromkeys(coordinates))
    seen = set(waiting)
    while waiting:
        coordinate = waiting.pop(0)
        rules = behind([coordinate])
        found |= rules
        new = [] if rules else [each for each in _needs(coordinate, view.index) if not is_visible(view, each)]
        waiting += [each for each in new if each not in seen]
        seen.update(new)
    return found


def _needs(coordinate: str, index: SchemaIndex) -> Iterator[str]:
    """Yield the coordinates without which a view loses a coordinate: its field, its types, or all of its members."""
    if coordinate.startswith("@"):
        name, _, of_directive = coordinate.removeprefix("@").removesuffix(":)").partition("(")
        arguments = index.directives[name].arguments
        yield from (named(value.type) for each, value in arguments.items() if each == of_directive or not of_directive)
        return
    owner, _, rest = coordinate.partition(".")
    member, _, argument = rest.removesuffix(":)").partition("(")
    if not member:
        union = index.kind(owner) == "union"
        yield from (each if union else f"{owner}.{each}" for each in index.members(owner))
        return
    if argument:
        yield f"{owner}.{member}"
    yield from (f"{each}.{rest}" for each in index.implementers.get(owner, ()))
    for name, of_argument, target in index.references(owner):
        if name == member and (of_argument == argument or not argument) and target in index:
            yield target


def _rules(reach: Reach, coordinates: Iterable[str], holds: Holds, *, tool: str = "") -> Causes:
    if reach.provenance is None:
        return {}
    found = {each: reach.provenance.causes(each, holds, tool=tool) for each in coordinates}
    return {each: causes for each, causes in found.items() if causes}


def _conditions_of(reach: Reach, entrance: Entrance, visitor: Visitor) -> Causes:
    """Return the conditions of tools that the caller does not meet: the entrance's tool, or all of its operation."""
    made = [entrance.made] if entrance.made else _tools_of(reach, entrance)
    unmet = [each.rule for each in made if each.rule and not visitor.evaluation.meets(each.rule.mask)]
    return {rule.coordinates[0]: [Cause(rule, own=True)] for rule in unmet}


def _tools_of(reach: Reach, entrance: Entrance) -> list[CompiledTool]:
    """Return the tools that run a persisted operation, which asks for the conditions of all of them."""
    name = entrance.persisted.operation.name if entrance.persisted else ""
    made = reach.compiled.made
    return [
        each for each in made if name and isinstance(each.tool, PrescribedTool) and each.tool.operation.name == name
    ]


def _rules_of_code(reach: Reach, tool: CodeTool, visitor: Visitor) -> Causes:
    unmet = [rule for rule in reach.compiled.kit_rules if not visitor.evaluation.meets(rule.mask)]
    found = {
        name: [Cause(rule, own=True) for rule in unmet if name in rule.coordinates]
        for name in (tool.kit, f"tool {tool.name}")
    }
    return {name: causes for name, causes in found.items() if causes}


def _holds(reach: Reach, entrance: Entrance, visitor: Visitor) -> Holds:
    """Return the test of the rules that close an entrance or, if values of variables decide, leave it open."""
    fixed, evaluation = entrance.fixed, visitor.evaluation
    if fixed is None or reach.standing(entrance, visitor).verdict in ("call", "refused"):
        return evaluation.meets
    return lambda mask: evaluation.may_meet(mask, fixed.operation.variables)


def _uses(reach: Reach, entrance: Entrance) -> list[str]:
    """Return the guarded coordinates that a persisted operation names."""
    author, index = entrance.author, reach.index
    if author is None or index is None:
        return []
    return [each for each in reach.compiled.bundle.guards if find_path(author, index, each)]


def _name_of_view(entrance: Entrance) -> str:
    return entrance.view_of.name if entrance.view_of else ""


def _edge_towards(coordinate: str, view: View) -> Iterator[str]:
    """Yield the hidden coordinates at the edge of a view that lead on to a coordinate."""
    index, leading = view.index, _types_leading_to(view.index, coordinate)
    for owner in dict.fromkeys((*index.roots.values(), *view.members)):
        for member, argument, target in index.references(owner) if owner in index else ():
            if target in view.members:
                continue
            if target in leading and not is_visible(view, f"{owner}.{member}"):
                yield f"{owner}.{member}"
            elif target in leading and argument and not is_visible(view, f"{owner}.{member}({argument}:)"):
                yield f"{owner}.{member}({argument}:)"
    for name, directive in index.directives.items():
        for argument, value in directive.arguments.items():
            if named(value.type) in leading - view.members.keys() and not is_visible(view, f"@{name}({argument}:)"):
                yield f"@{name}({argument}:)"


def _types_leading_to(index: SchemaIndex, coordinate: str) -> set[str]:
    """Return the types from which a request can go on to a coordinate, its own type included."""
    owner = coordinate.removeprefix("@").partition(".")[0]
    found = {owner}
    waiting = [owner]
    while waiting:
        name = waiting.pop()
        above = [*index.users.get(name, ()), *index.implementers.get(name, ())]
        above += index.interfaces(name) if name in index else ()
        new = {each for each in above if each not in index.roots.values()} - found
        found |= new
        waiting += new
    return found
