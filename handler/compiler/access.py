"""Who gets in, and what policies put on coordinates.

Source: IBM API Connect for GraphQL, "Using field policies".
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from graphql import GraphQLSchema

from handler.bundle import Access, ApiKey
from handler.compiler.coordinates import resolve, root_or_type, with_members
from handler.compiler.problems import Place, Problems, suggestion
from handler.compiler.visibility import FieldsType, types_with_fields
from handler.compiler.yaml_section import BOOLEANS, Section
from handler.errors import UnknownCoordinate
from handler.policy import HIDDEN, NEVER, OPEN, Mask, Predicate

FALSE: Predicate = {"literal": False}

META_FIELDS = ("__schema", "__type", "__typename", "_service", "_entities")
"""Policies of StepZen projects name these; introspection is answered from the caller's view, whatever they say."""

SHA256_DIGITS = 64


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


def read_access(access: Section, identity: Section, problems: Problems) -> Access:
    """Who gets in: ``access.anonymous`` and ``identity.api_keys``.

    Anonymous callers are challenged when there is a credential to ask for, or no policy lets them use anything.
    """
    access.expect("anonymous", "policies", "hide", "show")
    identity.expect("api_keys")
    default = "challenge" if identity.keys() or "policies" not in access else "allow"
    keys = _api_keys(identity, problems)
    return Access(anonymous=access.choice("anonymous", ("allow", "challenge"), default=default), api_keys=tuple(keys))


def read_policies(access: Section, schema: GraphQLSchema, problems: Problems) -> Policies:
    """The masks that ``access.policies`` and ``access.hide`` put on coordinates, and what ``access.show`` excepts.

    A rule's condition guards the fields it names, ``policyDefault`` the type's other fields, and without one they
    are denied. A root type without a policy is denied, any other type without one is open; so an endpoint without
    an ``access`` section has nothing that a policy would let anybody use.
    """
    conditions = Conditions()
    own: dict[str, Mask] = {}
    named: set[str] = set()
    for policy in access.sections("policies"):
        policy.expect("type", "rules", "policyDefault")
        type_ = _policy_type(policy, schema, problems)
        masks = _policy_masks(policy, type_, conditions, problems)
        if type_ and type_.name in named:
            name = policy.text("type")
            problems.add(policy.place("type"), f'a second policy for "{name}": give it one, with all rules')
        elif type_:
            named.add(type_.name)
            own |= masks
    for root in (schema.query_type, schema.mutation_type):
        if root and root.name not in named:
            own |= {f"{root.name}.{field}": conditions.mask(FALSE) for field in root.fields}
    hidden = _hidden(access, schema, problems)
    own |= {coordinate: own.get(coordinate, OPEN) | HIDDEN for coordinate in hidden}
    shown = _shown(access, schema, hidden, problems)
    return Policies(conditions=tuple(conditions), guards=own, shown=shown)


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


def _policy_masks(
    policy: Section, type_: FieldsType | None, conditions: Conditions, problems: Problems
) -> dict[str, Mask]:
    """The masks on all fields of a type. Without one, which has been reported, the rest of the policy is judged."""
    found: dict[str, Mask] = {}
    for rule in policy.sections("rules"):
        rule.expect("name", "description", "condition", "fields")
        mask = _condition_mask(rule, conditions, problems)
        for name, place in rule.texts("fields"):
            if type_ is None or (name in META_FIELDS and name not in type_.fields):
                continue
            if name not in type_.fields:
                hint = suggestion(name, type_.fields)
                problems.add(place, f'type "{type_.name}" has no field "{name}"{hint}')
            elif f"{type_.name}.{name}" in found:
                problems.add(place, f'field "{name}" stands in two rules: one condition can guard it')
            else:
                found[f"{type_.name}.{name}"] = mask
    default = policy.section("policyDefault")
    default.expect("condition")
    rest = _condition_mask(default, conditions, problems) if default.keys() else conditions.mask(FALSE)
    coordinates = [f"{type_.name}.{name}" for name in type_.fields] if type_ else []
    return {coordinate: found.get(coordinate, rest) for coordinate in coordinates}


def _condition_mask(section: Section, conditions: Conditions, problems: Problems) -> Mask:
    text = section.text("condition").strip()
    if text not in BOOLEANS:
        problems.add(
            section.place("condition"),
            f'the condition "{text:.80}" cannot be judged yet: expected true or false',
        )
    return conditions.mask({"literal": BOOLEANS.get(text, False)})


def _api_keys(identity: Section, problems: Problems) -> list[ApiKey]:
    found: list[ApiKey] = []
    for entry in identity.sections("api_keys"):
        key = _api_key(entry)
        if key.name and key.name in [other.name for other in found]:
            problems.add(entry.place("name"), f'two keys are named "{key.name}"')
        found.append(key)
    return found


def _api_key(entry: Section) -> ApiKey:
    entry.expect("name", "sha256", "expires")
    if not entry.text("name"):
        entry.refuse("name", "the name of the key, for the log")
    digest = entry.text("sha256").lower()
    if len(digest) != SHA256_DIGITS or set(digest) - set("0123456789abcdef"):
        entry.refuse("sha256", "the SHA-256 of the key in hexadecimal, as `stile key NAME` prints it")
    return ApiKey(name=entry.text("name"), sha256=digest, expires=_expires(entry))


def _expires(entry: Section) -> int:
    text = entry.text("expires")
    if not text:
        return 0
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        entry.refuse("expires", "a date or a time in ISO 8601, such as 2030-01-31")
        return 0
    # 0 is for never: the first second of 1970 is as long past as the next one.
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()) or 1
