"""Random edits of an endpoint: its policies, what it hides, its patterns, its callers and its schema."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random

from tests.leaks.policies import ALWAYS, CLAIMS, Access, Policy, random_access, random_condition
from tests.leaks.schemas import NOUNS, Field, Schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What an author wrote of one endpoint. ``anonymous`` is ``allow`` or ``challenge``."""

    schema: Schema
    access: Access
    anonymous: str = "allow"


Edit = Callable[[Source, Random], Source]


def edited(source: Source, random: Random) -> Source:
    """The source with one to three random edits."""
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        source = random.choice(EDITS)(source, random)
    return source


def _policies(source: Source, policies: list[Policy]) -> Source:
    return replace(source, access=replace(source.access, policies=policies))


def _another_rule(source: Source, random: Random) -> Source:
    policies = list(source.access.policies)
    place = random.randrange(len(policies))
    policy = policies[place]
    owner = {"Query": source.schema.query, "Mutation": source.schema.mutation}.get(policy.type, policy.type)
    fields = list(source.schema.types[owner].fields)
    rules = {**policy.rules, random.choice(fields): random_condition(random)}
    policies[place] = replace(policy, rules=rules)
    return _policies(source, policies)


def _fewer_rules(source: Source, random: Random) -> Source:
    policies = list(source.access.policies)
    with_rules = [place for place, policy in enumerate(policies) if policy.rules]
    if with_rules:
        place = random.choice(with_rules)
        gone = random.choice(list(policies[place].rules))
        rules = {name: rule for name, rule in policies[place].rules.items() if name != gone}
        policies[place] = replace(policies[place], rules=rules)
    return _policies(source, policies)


def _another_default(source: Source, random: Random) -> Source:
    policies = list(source.access.policies)
    place = random.randrange(len(policies))
    default = random.choice([None, ALWAYS, random_condition(random), random_condition(random)])
    policies[place] = replace(policies[place], default=default)
    return _policies(source, policies)


def _fewer_policies(source: Source, random: Random) -> Source:
    policies = list(source.access.policies)
    if len(policies) > 1:
        policies.pop(random.randrange(1, len(policies)))
    return _policies(source, policies)


def _a_further_policy(source: Source, random: Random) -> Source:
    known = {policy.type for policy in source.access.policies}
    roots = {"Query", "Mutation", *source.schema.roots}
    new = [
        policy
        for policy in random_access(source.schema, random).policies
        if policy.type not in known and policy.type not in roots
    ]
    return _policies(source, [*source.access.policies, *new[:1]])


def _another_hide(source: Source, random: Random) -> Source:
    other = random_access(source.schema, random)
    return replace(source, access=replace(source.access, hide=other.hide, show=other.show))


def _other_patterns(source: Source, random: Random) -> Source:
    other = random_access(source.schema, random).tools
    return replace(source, access=replace(source.access, tools={**source.access.tools, **other}))


def _other_tools(source: Source, random: Random) -> Source:
    return replace(source, access=replace(source.access, tools=random_access(source.schema, random).tools))


def _other_claims(source: Source, random: Random) -> Source:
    callers = list(source.access.callers)
    place = random.randrange(1, len(callers))
    callers[place] = replace(callers[place], claims=random.choice([None, *CLAIMS]))
    return replace(source, access=replace(source.access, callers=callers))


def _fewer_keys(source: Source, random: Random) -> Source:
    callers = list(source.access.callers)
    if len(callers) > 2:
        callers.pop(random.randrange(1, len(callers)))
    return replace(source, access=replace(source.access, callers=callers))


def _anonymous(source: Source, _: Random) -> Source:
    return replace(source, anonymous="challenge" if source.anonymous == "allow" else "allow")


def _fields(source: Source, owner: str, fields: dict[str, Field]) -> Source:
    types = {**source.schema.types, owner: replace(source.schema.types[owner], fields=fields)}
    return replace(source, schema=replace(source.schema, types=types))


def _composite(source: Source, random: Random) -> str:
    return random.choice([name for name, type_ in source.schema.types.items() if len(type_.fields) > 1])


def _fewer_fields(source: Source, random: Random) -> Source:
    owner = _composite(source, random)
    gone = random.choice(list(source.schema.types[owner].fields))
    fields = {name: made for name, made in source.schema.types[owner].fields.items() if name != gone}
    return _fields(source, owner, fields)


def _a_further_field(source: Source, random: Random) -> Source:
    owner, noun = _composite(source, random), random.choice(list(NOUNS))
    return _fields(source, owner, {**source.schema.types[owner].fields, noun: Field(NOUNS[noun])})


def _other_null(source: Source, random: Random) -> Source:
    owner = _composite(source, random)
    name, made = random.choice(list(source.schema.types[owner].fields.items()))
    type_ = made.type.removesuffix("!") if made.type.endswith("!") else f"{made.type}!"
    return _fields(source, owner, {**source.schema.types[owner].fields, name: replace(made, type=type_)})


def _other_inputs(source: Source, random: Random) -> Source:
    owner = random.choice([name for name, type_ in source.schema.types.items() if len(type_.inputs) > 1])
    gone = random.choice(list(source.schema.types[owner].inputs))
    inputs = {name: value for name, value in source.schema.types[owner].inputs.items() if name != gone}
    types = {**source.schema.types, owner: replace(source.schema.types[owner], inputs=inputs)}
    return replace(source, schema=replace(source.schema, types=types))


EDITS: tuple[Edit, ...] = (
    _another_rule,
    _another_rule,
    _another_rule,
    _fewer_rules,
    _another_default,
    _another_default,
    _fewer_policies,
    _a_further_policy,
    _another_hide,
    _other_patterns,
    _other_tools,
    _other_claims,
    _fewer_keys,
    _anonymous,
    _fewer_fields,
    _a_further_field,
    _other_null,
    _other_inputs,
)
