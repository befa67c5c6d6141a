"""Random access: policies, what is hidden from everybody, tools with patterns, and callers with claims."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from tests.leaks.schemas import INTERFACES, NOUNS, OBJECTS, Schema

Claims = Mapping[str, Any]

Verdict = bool | None
"""``None`` where a claim is missing or has another type: then neither a comparison holds nor its negation."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What conditions are judged by. Without a credential there are no claims, in a caller's own document no variables.

    ``anything``: what says something of variables counts as held, because they are still to come.
    """

    claims: Claims | None
    variables: Mapping[str, Any] | None = None
    anything: bool = False


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition as it is written, and what it means."""

    text: str
    judge: Callable[[Facts], Verdict]

    def holds(self, facts: Facts) -> bool:
        return self.judge(facts) is True or (facts.anything and "$variables" in self.text)


ALWAYS = Condition("true", lambda _: True)
NEVER = Condition("false", lambda _: False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Who may use the fields of a type. Without a default, fields without a rule are denied."""

    type: str
    rules: Mapping[str, Condition]
    default: Condition | None


@dataclass(frozen=True, slots=True)
class Pattern:
    types: str
    fields: str
    expose: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """``key`` is sent as ``X-API-Key``; the holder of one without claims skips policies."""

    name: str
    key: str = ""
    claims: Claims | None = None

    @property
    def skips_policies(self) -> bool:
        return bool(self.key) and self.claims is None

    @property
    def headers(self) -> dict[str, str]:
        return {"x-api-key": self.key} if self.key else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What an author says of one endpoint."""

    policies: Sequence[Policy]
    hide: Sequence[str]
    show: Sequence[str]
    tools: Mapping[str, Sequence[Pattern]] = field(default_factory=dict)
    callers: Sequence[Caller]


def random_access(schema: Schema, random: Random) -> Access:
    """Access that leaves something to everybody, and denies something to most."""
    hideable = [coordinate for coordinate, _ in schema.fields() if _holds_values(coordinate)]
    inputs = [coordinate for coordinate, made in schema.inputs() if made.op not in ("none", "first", "direction")]
    hide = random.sample(hideable, random.choice([0, 0, 1, 2]))
    hide += random.sample(inputs, random.choice([0, 0, 0, 1]))
    hide += random.choice([[], [], [], [], ["Money"], ["Stamp"], ["Grade"], ["Money.amount", "Money.currency"]])
    show = random.sample(inputs, 1) if random.random() < 0.15 else []
    return Access(
        policies=_policies(schema, random),
        hide=hide,
        show=[each for each in show if not _hides(hide, each)],
        tools={f"tool{number}": _patterns(schema, random) for number in range(random.choice([1, 1, 2]))},
        callers=_callers(random),
    )


def _holds_values(coordinate: str) -> bool:
    owner, _, name = coordinate.partition(".")
    return owner in (*OBJECTS, *INTERFACES, "Money") and (name != "id" or owner == "Letter")


def _hides(hide: Sequence[str], coordinate: str) -> bool:
    return bool({coordinate, coordinate.partition("(")[0], coordinate.partition(".")[0]} & set(hide))


def _policies(schema: Schema, random: Random) -> list[Policy]:
    """Roots are mostly open: where nothing is, nothing can leak."""
    found = []
    for root in ("Query", "Mutation") if random.random() < 0.9 else ("Query",):
        name = schema.query if root == "Query" else schema.mutation
        closed = random.sample(list(schema.types[name].fields), random.choice([0, 1, 2]) if root == "Query" else 0)
        meta = ["__schema"] if root == "Query" and random.random() < 0.2 else []
        rules = {each: random_condition(random) for each in (*closed, *meta)}
        default: Condition | None = ALWAYS if random.random() < 0.9 else random_condition(random)
        found.append(Policy(type=random.choice([root, name]), rules=rules, default=default))
    for name in random.sample([*OBJECTS, *INTERFACES, "Money"], random.randint(1, 3)):
        fields = list(schema.types[name].fields)
        rules = {each: random_condition(random) for each in random.sample(fields, min(len(fields), 3))}
        default = random.choice([None, random_condition(random), *3 * [ALWAYS]])
        found.append(Policy(type=name, rules=rules, default=default))
    return found


def random_condition(random: Random) -> Condition:
    """``true``, ``false``, or a condition over claims and variables."""
    if random.random() < 0.5:
        return ALWAYS if random.random() < 0.3 else NEVER
    return _over_claims(random, depth=2)


def _over_claims(random: Random, *, depth: int) -> Condition:
    if not depth or random.random() < 0.5:
        return random.choice([*ATOMS, *ATOMS, *ATOMS_OF_VARIABLES])
    first, second = _over_claims(random, depth=depth - 1), _over_claims(random, depth=depth - 1)
    return random.choice([_negated(first), _both(first, second), _either(first, second)])


def _negated(one: Condition) -> Condition:
    def judge(facts: Facts) -> Verdict:
        verdict = one.judge(facts)
        return None if verdict is None else not verdict

    return Condition(f"!({one.text})", judge)


def _both(first: Condition, second: Condition) -> Condition:
    def judge(facts: Facts) -> Verdict:
        verdicts = (first.judge(facts), second.judge(facts))
        return False if False in verdicts else None if None in verdicts else True

    return Condition(f"({first.text}) && ({second.text})", judge)


def _either(first: Condition, second: Condition) -> Condition:
    def judge(facts: Facts) -> Verdict:
        verdicts = (first.judge(facts), second.judge(facts))
        return True if True in verdicts else None if None in verdicts else False

    return Condition(f"({first.text}) || ({second.text})", judge)


def _has_variable(facts: Facts) -> Verdict:
    return None if facts.variables is None else facts.variables.get("v0") is not None


def _claim(name: str, type_: type, judge: Callable[[Any], bool]) -> Callable[[Facts], Verdict]:
    return lambda facts: _judged((facts.claims or {}).get(name), type_, judge)


def _variable(type_: type, judge: Callable[[Any], bool]) -> Callable[[Facts], Verdict]:
    return lambda facts: _judged(_as_text((facts.variables or {}).get("v0"), type_), type_, judge)


def _as_text(value: Any, type_: type) -> Any:
    """A variable of type ``ID`` may be given as a number, which is then the same text."""
    return str(value) if type_ is str and isinstance(value, int) and not isinstance(value, bool) else value


def _judged(value: Any, type_: type, judge: Callable[[Any], bool]) -> Verdict:
    return judge(value) if isinstance(value, type_) else None


def _has_group_x(facts: Facts) -> Verdict:
    """Some providers write a list of one as a text. One that is another group may be a list of several in one text."""
    groups = (facts.claims or {}).get("groups")
    if isinstance(groups, str):
        return True if groups == "x" else None
    return "x" in groups if isinstance(groups, list) else None


ATOMS = (
    Condition("?$jwt", lambda facts: facts.claims is not None),
    Condition("?$jwt.level", lambda facts: "level" in (facts.claims or {})),
    Condition('$jwt.role:String == "hr"', _claim("role", str, lambda role: role == "hr")),
    Condition('$jwt.groups:String has "x"', _has_group_x),
    Condition("$jwt.level:Int > 3", _claim("level", int, lambda level: level > 3)),
)
ATOMS_OF_VARIABLES = (
    Condition("?$variables.v0", _has_variable),
    Condition("$variables.v0:Int > 500000", _variable(int, lambda value: value > 500_000)),
    Condition('$variables.v0:String == "A"', _variable(str, lambda value: value == "A")),
    Condition('$variables.v0:String != "A"', _variable(str, lambda value: value != "A")),
)

CLAIMS: tuple[Claims, ...] = (
    {},
    {"role": "hr"},
    {"role": "it", "groups": ["x", "y"], "level": 4},
    {"role": "hr", "groups": ["y"], "level": 3},
    {"role": ["hr"], "groups": "x", "level": "5"},
)


def _callers(random: Random) -> list[Caller]:
    keys = [Caller(name="service", key=f"key-{random.randrange(10**9)}")]
    for number, claims in enumerate(random.sample(CLAIMS, 3)):
        keys.append(Caller(name=f"holder{number}", key=f"key-{random.randrange(10**9)}", claims=claims))
    return [Caller(name="anonymous"), *keys]


def _patterns(schema: Schema, random: Random) -> list[Pattern]:
    exposed = random.choice([".*", ".*", ".*", "[a-z]+s|node|personsPage", "person.*|search"])
    found = [Pattern(random.choice(["Query", schema.query, "Query|Mutation", ".*"]), exposed, True)]
    for _ in range(random.randint(0, 3)):
        hiding = _hiding_pattern(random)
        while not _hides_with_each_alternative(hiding, schema):  # the compiler refuses a misspelt one
            hiding = _hiding_pattern(random)
        found.append(hiding)
    if random.random() < 0.2:
        found.append(Pattern(random.choice(OBJECTS), random.choice(list(NOUNS)), True))
    return found


def _hiding_pattern(random: Random) -> Pattern:
    types = random.choice([*OBJECTS, *INTERFACES, "P.*", ".*", "Money", "Money|Person"])
    fields = random.choice([*NOUNS, *NOUNS, "salary.*", ".*[dD]|ta.*", "boss|pay", "amount", "id"])
    return Pattern(types, fields, False)


def _hides_with_each_alternative(pattern: Pattern, schema: Schema) -> bool:
    types = [name for name in schema.types if re.fullmatch(pattern.types, name)]
    fields = {field for name in types for field in schema.types[name].fields}
    return all(any(re.fullmatch(each, name) for name in types) for each in pattern.types.split("|")) and all(
        any(re.fullmatch(each, field) for field in fields) for each in pattern.fields.split("|")
    )


def print_config(access: Access, url: str) -> str:
    """``config.yaml``. JSON is YAML, so texts are quoted as in JSON."""
    policies = [
        {
            "type": policy.type,
            "rules": [{"condition": rule.text, "fields": [name]} for name, rule in policy.rules.items()],
            **({"policyDefault": {"condition": policy.default.text}} if policy.default else {}),
        }
        for policy in access.policies
    ]
    keys = [
        {"name": each.name, "sha256": hashlib.sha256(each.key.encode()).hexdigest()}
        | ({"claims": each.claims} if each.claims is not None else {})
        for each in access.callers
        if each.key
    ]
    sections = {
        "upstream": {"url": url},
        "limits": {"max_cost": 1_000_000, "max_aliases": 100},
        "graphql": "on",
        "access": {"anonymous": "allow", "policies": policies, "hide": access.hide, "show": access.show},
        "identity": {"api_keys": keys},
    }
    return "".join(f"{name}: {json.dumps(section)}\n" for name, section in sections.items())


def print_schema_definition(schema: Schema, access: Access, prescribed: Mapping[str, str]) -> str:
    """The ``schema`` definition with its tools. ``prescribed``: tool -> the name of its operation."""
    tools = [
        f"@tool(name: {json.dumps(name)}, graphql: [{', '.join(map(_printed_pattern, patterns))}])"
        for name, patterns in access.tools.items()
    ]
    tools += [f"@tool(name: {json.dumps(name)}, prescribed: {json.dumps(run)})" for name, run in prescribed.items()]
    files = '@sdl(executables: [{document: "operations.graphql", persist: true}])' if prescribed else ""
    return f"schema {files} {' '.join(tools)} {{ query: {schema.query} mutation: {schema.mutation} }}\n"


def _printed_pattern(pattern: Pattern) -> str:
    types, fields = json.dumps(pattern.types), json.dumps(pattern.fields)
    return f"{{expose: {str(pattern.expose).lower()}, types: {types}, fields: {fields}}}"
