"""Who gets in, and what policies put on coordinates.

Source: IBM API Connect for GraphQL, "Using field policies".
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from graphql import GraphQLSchema

from handler.bundle import Access
from handler.compiler.coordinates import resolve, root_or_type, with_members
from handler.compiler.problems import Place, Problems, suggestion
from handler.compiler.visibility import FEDERATION_FIELDS, FieldsType, types_with_fields
from handler.compiler.yaml_section import BOOLEANS, Section
from handler.errors import UnknownCoordinate
from handler.policy import HIDDEN, NEVER, OPEN, Mask, Predicate

FALSE: Predicate = {"literal": False}

INTROSPECTION = ("__schema", "__type")
"""Fields of the query type for policies, though no schema defines them."""

META_FIELDS = (*INTROSPECTION, "__typename", *FEDERATION_FIELDS)
"""Policies of StepZen projects name these, whether or not there is such a field."""


class Conditions:
    """The distinct predicates of an endpoint; the first one never holds."""

    def __init__(self) -> None:
        self._predicates: list[Predicate] = [NEVER]

    def mask(self, predicate: Predicate) -> Mask:
        """The mask of one predicate. What always holds needs no condition."""
        if predicate == {"literal": True}:
            return OPEN
        if predicate not in self._predicates:
            self._predicates.append(predicate)
        return frozenset({self._predicates.index(predicate)})

    def __iter__(self) -> Iterator[Predicate]:
        return iter(self._predicates)


@dataclass(frozen=True, slots=True, kw_only=True)
class Policies:
    """The conditions of an endpoint, and what they guard by themselves. What follows: see ``hiding.py``."""

    conditions: tuple[Predicate, ...]
    guards: dict[str, Mask]
    shown: Mapping[str, Place]  # inputs that may be used although they name a guarded field, and who says so
    graphql_guards: dict[str, Mask]  # for the endpoint's own GraphQL alone: introspection, Federation's fields


def read_access(access: Section, identity: Iterable[Section]) -> Access:
    """Who gets in without a credential: ``access.anonymous``.

    They are challenged when there is a credential to ask for, or no policy lets them use anything.
    """
    access.expect("anonymous", "policies", "hide", "show")
    default = "challenge" if any(section.keys() for section in identity) or "policies" not in access else "allow"
    return Access(anonymous=access.choice("anonymous", ("allow", "challenge"), default=default))


def read_policies(access: Section, schema: GraphQLSchema, problems: Problems) -> Policies:
    """The masks that ``access.policies`` and ``access.hide`` put on coordinates, and what ``access.show`` excepts.

    A rule's condition guards the fields it names, ``policyDefault`` the type's other fields, and without one they
    are denied. A root type without a policy is denied, any other type without one is open; so an endpoint without
    an ``access`` section has nothing that a policy would let anybody use. ``__schema`` and ``__type`` are fields of
    the query type to them. What tells the API's whole schema or returns anything is hidden where no rule names it.
    """
    conditions = Conditions()
    own: dict[str, Mask] = {}
    ruled: dict[str, Mask] = {}
    named: set[str] = set()
    for policy in access.sections("policies"):
        policy.expect("type", "rules", "policyDefault")
        type_ = _policy_type(policy, schema, problems)
        masks = _rule_masks(policy, type_, schema, conditions, problems)
        rest = _default_mask(policy, conditions, problems)
        if type_ and type_.name in named:
            name = policy.text("type")
            problems.add(policy.place("type"), f'a second policy for "{name}": give it one, with all rules')
        elif type_:
            named.add(type_.name)
            ruled |= masks
            own |= {coordinate: masks.get(coordinate, rest) for coordinate in _coordinates_of(type_, schema)}
    for root in (schema.query_type, schema.mutation_type):
        if root and root.name not in named:
            own |= dict.fromkeys(_coordinates_of(root, schema), conditions.mask(FALSE))
    graphql_guards = _graphql_guards(own, schema, ruled=ruled)
    hidden = _hidden(access, schema, problems)
    own |= {coordinate: own.get(coordinate, OPEN) | HIDDEN for coordinate in hidden}
    shown = _shown(access, schema, hidden, problems)
    return Policies(conditions=tuple(conditions), guards=own, shown=shown, graphql_guards=graphql_guards)


def _coordinates_of(type_: FieldsType, schema: GraphQLSchema) -> list[str]:
    """Every field that a policy guards."""
    introspection = INTROSPECTION if type_ is schema.query_type else ()
    return [f"{type_.name}.{name}" for name in (*type_.fields, *introspection)]


def _graphql_guards(own: dict[str, Mask], schema: GraphQLSchema, *, ruled: Collection[str]) -> dict[str, Mask]:
    """What guards the endpoint's own GraphQL alone; taken out of ``own``, where only real fields stay."""
    root = schema.query_type
    if root is None:
        return {}
    federation = [f"{root.name}.{name}" for name in FEDERATION_FIELDS if name in root.fields]
    found = {name: own.pop(f"{root.name}.{name}", OPEN) for name in INTROSPECTION}
    found |= {coordinate: HIDDEN for coordinate in federation if coordinate not in ruled}
    return {coordinate: mask for coordinate, mask in sorted(found.items()) if mask}


def doubt_exceptions(
    policies: Policies, excepted: Collection[str], hidden: Mapping[str, str], problems: Problems
) -> None:
    """Report what ``access.show`` cannot bring back, and doubt what nothing hides by its name.

    ``excepted`` are the coordinates that something would have hidden; ``hidden`` has who hides one by itself.
    """
    for coordinate, place in policies.shown.items():
        if coordinate in hidden:
            sentence = f"{hidden[coordinate]} hides it itself: access.show only excepts inputs that name a hidden field"
            problems.add(place, f'access.show "{coordinate}": {sentence}')
        elif coordinate not in excepted:
            problems.warn(place, f'access.show "{coordinate}": nothing hides it for its name, so this does nothing')


def _policy_type(policy: Section, schema: GraphQLSchema, problems: Problems) -> FieldsType | None:
    name = policy.text("type")
    type_ = root_or_type(schema, name)
    if isinstance(type_, FieldsType):
        return type_
    if name:
        names = [type_.name for type_ in types_with_fields(schema)]
        problems.add(policy.place("type"), f'the schema has no type "{name}" with fields{suggestion(name, names)}')
    else:
        policy.refuse("type", "the name of a type")
    return None


def _hidden(access: Section, schema: GraphQLSchema, problems: Problems) -> set[str]:
    """The coordinates of ``access.hide``, for unrestricted callers too. A type's name stands for its fields as well."""
    return with_members(schema, (coordinate for coordinate, _ in _coordinates(access, "hide", schema, problems)))


def _shown(access: Section, schema: GraphQLSchema, hidden: set[str], problems: Problems) -> dict[str, Place]:
    found: dict[str, Place] = {}
    for coordinate, place in _coordinates(access, "show", schema, problems):
        field, _, argument = coordinate.partition("(")
        type_ = schema.get_type(field.partition(".")[0])
        direct = [each for each in (coordinate, field, getattr(type_, "name", "")) if each in hidden]
        if direct:
            sentence = f"access.hide hides {direct[0]} itself: access.show only excepts inputs that name a hidden field"
            problems.add(place, f'access.show "{coordinate}": {sentence}')
        elif "." not in coordinate or (isinstance(type_, FieldsType) and not argument):
            sentence = "only an input field, an argument or an enum value that names a hidden field can be excepted"
            problems.add(place, f'access.show "{coordinate}": {sentence}')
        else:
            found[coordinate] = place
    return found


def _coordinates(access: Section, key: str, schema: GraphQLSchema, problems: Problems) -> Iterator[tuple[str, Place]]:
    for text, place in access.texts(key):
        try:
            yield resolve(schema, text), place
        except UnknownCoordinate as exc:
            problems.add(place, f'access.{key} "{text:.80}": {exc}')


def _rule_masks(
    policy: Section,
    type_: FieldsType | None,
    schema: GraphQLSchema,
    conditions: Conditions,
    problems: Problems,
) -> dict[str, Mask]:
    """The masks that rules put on fields. Without a type, which has been reported, the rest of them is judged."""
    known = _coordinates_of(type_, schema) if type_ else []
    found: dict[str, Mask] = {}
    for rule in policy.sections("rules"):
        rule.expect("name", "description", "condition", "fields")
        mask = _condition_mask(rule, conditions, problems)
        for name, place in rule.texts("fields"):
            coordinate = f"{type_.name}.{name}" if type_ else ""
            if coordinate in found:
                problems.add(place, f'field "{name}" stands in two rules: one condition can guard it')
            elif coordinate in known:
                found[coordinate] = mask
            elif type_ and name not in META_FIELDS:
                hint = suggestion(name, type_.fields)
                problems.add(place, f'type "{type_.name}" has no field "{name}"{hint}')
    return found


def _default_mask(policy: Section, conditions: Conditions, problems: Problems) -> Mask:
    default = policy.section("policyDefault")
    default.expect("condition")
    return _condition_mask(default, conditions, problems) if default.keys() else conditions.mask(FALSE)


def _condition_mask(section: Section, conditions: Conditions, problems: Problems) -> Mask:
    text = section.text("condition").strip()
    if text not in BOOLEANS:
        problems.add(
            section.place("condition"),
            f'the condition "{text:.80}" cannot be judged yet: expected true or false',
        )
    return conditions.mask({"literal": BOOLEANS.get(text, False)})
