"""Who gets in, and what policies put on coordinates.

Source: IBM API Connect for GraphQL, "Using field policies".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from graphql import GraphQLInterfaceType, GraphQLObjectType, GraphQLSchema

from handler.bundle import Access, ApiKey
from handler.compiler.problems import Problems, suggestion
from handler.compiler.visibility import spread_over_interfaces, types_with_fields
from handler.compiler.yaml_section import BOOLEANS, Section
from handler.policy import NEVER, OPEN, Mask, Predicate

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
    """The conditions of an endpoint and what they guard."""

    conditions: tuple[Predicate, ...]
    guards: dict[str, Mask]


def read_access(access: Section, identity: Section, problems: Problems) -> Access:
    """Who gets in: ``access.anonymous`` and ``identity.api_keys``.

    Anonymous callers are challenged when there is a credential to ask for, or no ``access`` section at all.
    """
    access.expect("anonymous", "policies")
    identity.expect("api_keys")
    default = "challenge" if identity.keys() or not access.keys() else "allow"
    keys = [_api_key(entry) for entry in identity.sections("api_keys")]
    names = [key.name for key in keys]
    for name in sorted({name for name in names if names.count(name) > 1}):
        problems.add(identity.place("api_keys"), f'two keys are named "{name}"')
    return Access(anonymous=access.choice("anonymous", ("allow", "challenge"), default=default), api_keys=tuple(keys))


def read_policies(access: Section, schema: GraphQLSchema, problems: Problems) -> Policies:
    """The masks that ``access.policies`` puts on fields.

    A rule's condition guards the fields it names, ``policyDefault`` the type's other fields, and without one they
    are denied. A root type without a policy is denied, any other type without one is open; so an endpoint without
    an ``access`` section has nothing that a policy would let anybody use.
    """
    conditions = Conditions()
    own: dict[str, Mask] = {}
    named: set[str] = set()
    for policy in access.sections("policies"):
        policy.expect("type", "rules", "policyDefault")
        name = policy.text("type")
        type_ = _policy_type(schema, name)
        if not name:
            policy.refuse("type", "the name of a type")
        elif type_ is None:
            names = [type_.name for type_ in types_with_fields(schema)]
            problems.add(policy.place("type"), f'the schema has no type "{name}" with fields{suggestion(name, names)}')
        elif type_.name in named:
            problems.add(policy.place("type"), f'a second policy for "{name}": give it one, with all rules')
        else:
            named.add(type_.name)
            own |= _policy_masks(policy, type_, conditions, problems)
    for root in (schema.query_type, schema.mutation_type):
        if root and root.name not in named:
            own |= {f"{root.name}.{field}": conditions.mask(FALSE) for field in root.fields}
    return Policies(conditions=tuple(conditions), guards=spread_over_interfaces(schema, own))


def _policy_type(schema: GraphQLSchema, name: str) -> GraphQLObjectType | GraphQLInterfaceType | None:
    """``Query`` and ``Mutation`` mean the root types, whatever these are called."""
    roots = {"Query": schema.query_type, "Mutation": schema.mutation_type}
    type_ = roots.get(name) or schema.get_type(name)
    return type_ if isinstance(type_, GraphQLObjectType | GraphQLInterfaceType) else None


def _policy_masks(
    policy: Section,
    type_: GraphQLObjectType | GraphQLInterfaceType,
    conditions: Conditions,
    problems: Problems,
) -> dict[str, Mask]:
    found: dict[str, Mask] = {}
    for rule in policy.sections("rules"):
        rule.expect("name", "description", "condition", "fields")
        mask = _condition_mask(rule, conditions, problems)
        for name, place in rule.texts("fields"):
            if name in META_FIELDS:
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
    return {f"{type_.name}.{name}": found.get(f"{type_.name}.{name}", rest) for name in type_.fields}


def _condition_mask(section: Section, conditions: Conditions, problems: Problems) -> Mask:
    text = section.text("condition").strip()
    if text not in BOOLEANS:
        problems.add(
            section.place("condition"),
            f'the condition "{text:.80}" cannot be judged yet: expected true or false',
        )
    return conditions.mask({"literal": BOOLEANS.get(text, False)})


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
