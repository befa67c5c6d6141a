"""Random endpoints whose rules can be taken away one by one: each stands on a line of its own."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from random import Random

from handler.audience.reach import Reach
from handler.compiler.access.policies import Rule
from handler.compiler.compile import compile_explained
from handler.errors.authoring import CompileError
from tests.leaks.api import Api
from tests.leaks.documents import Document, random_document
from tests.leaks.oracle import Oracle
from tests.leaks.policies import (
    ALWAYS,
    Access,
    Condition,
    Facts,
    Pattern,
    Policy,
    print_schema_definition,
    random_access,
    random_condition,
)
from tests.leaks.schemas import Schema, print_types, random_schema
from tests.support.endpoints import write_endpoint

KIT = "tests.leaks.passing_on:kit"
ENVIRON = {"STILE_CODE_MODULES": "tests.leaks.passing_on"}
OPERATIONS = {"prescribed": "Prescribed", "flat": "Flat", "kept": "Kept"}
"""Tool, or for ``kept`` a persisted operation without a tool, and the name of its operation."""

MAX_ATTEMPTS = 20

CONDITIONAL_TOOLS = 0.3
"""The share of tools with a condition."""

Key = tuple[str, ...]
"""A rule: ``policy TYPE FIELD``, ``default TYPE``, ``hide COORDINATE``, ``patterns TOOL``, ``tool TOOL`` or ``kit``."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Written:
    """The files of an endpoint, and its rules by the lines of ``config.yaml`` on which they stand."""

    files: Mapping[str, str]
    keys: Mapping[int, Key]


@dataclass(frozen=True, eq=False, kw_only=True)
class RuledEndpoint:
    """An endpoint, and the endpoints that are left of it without some of its rules."""

    seed: str
    schema: Schema
    access: Access
    kit: Condition
    tools: Mapping[str, Condition]
    api: Api
    operations: Mapping[str, Document]
    folder: Path
    url: str
    without: frozenset[Key] = frozenset()
    _others: dict[frozenset[Key], RuledEndpoint] = field(default_factory=dict)

    @cached_property
    def written(self) -> Written:
        lines, keys = _printed(self.access, self.kit, self.url)
        tools = {"prescribed": OPERATIONS["prescribed"]}
        definition = print_schema_definition(self.schema, self.access, tools)
        flat = self.operations["flat"].text
        for name, condition in self.tools.items():
            said = f'name: "{name}", condition: {json.dumps(condition.text)}'
            definition, flat = (text.replace(f'(name: "{name}"', f"({said}") for text in (definition, flat))
        files = {
            "index.graphql": f"{definition}\n{print_types(self.schema)}",
            "config.yaml": "\n".join(lines) + "\n",
            "operations.graphql": self.operations["prescribed"].text,
            "operations/kept.graphql": self.operations["kept"].text,
            "operations/flat.graphql": flat,
        }
        return Written(files=files, keys=keys)

    @cached_property
    def reach(self) -> Reach:
        """The endpoint as compiled.

        Raises:
            CompileError: nothing is left of a tool, or the like.
        """
        name = hashlib.sha256(f"{self.seed} {sorted(self.without)}".encode()).hexdigest()[:12]
        written = write_endpoint(self.folder / name, self.written.files, name="api/reach")
        return Reach(*compile_explained(written, environ=ENVIRON))

    @property
    def keys(self) -> frozenset[Key]:
        """All rules of the endpoint, those included that stand nowhere."""
        roots = {"Query": self.schema.query, "Mutation": self.schema.mutation}
        named = {roots.get(each.type, each.type) for each in self.access.policies}
        missing = {("default", name) for name in roots.values() if name not in named}
        of_tools = {("patterns", name) for name in self.access.tools} | {("tool", name) for name in self.tools}
        return frozenset({*self.written.keys.values(), *missing, *of_tools})

    def key_of(self, rule: Rule) -> Key:
        """The key of a rule that an explanation names."""
        if rule.text.startswith("the patterns of "):
            return ("patterns", rule.text.removeprefix("the patterns of "))
        if rule.text.startswith("condition of "):
            return ("tool", rule.text.removeprefix("condition of ").partition(":")[0])
        if rule.place is None:
            return ("default", rule.text.removeprefix("no policy for ").partition(":")[0])
        return self.written.keys[rule.place.line]

    def less(self, keys: Collection[Key]) -> RuledEndpoint:
        """The endpoint without some rules. What a rule guards is then open."""
        gone = frozenset(keys)
        if gone not in self._others:
            self._others[gone] = replace(
                self,
                access=_without(self.access, gone, self.schema),
                kit=ALWAYS if ("kit",) in gone else self.kit,
                tools={name: ALWAYS if ("tool", name) in gone else each for name, each in self.tools.items()},
                without=gone,
                _others={},
            )
        return self._others[gone]


def random_ruled_endpoint(seed: str, folder: Path, url: str) -> RuledEndpoint:
    """An endpoint from a seed; ``url`` is where its API listens."""
    random = Random(seed)
    schema = random_schema(random)
    api = Api(schema, seed=random.randrange(10**9))
    for _ in range(MAX_ATTEMPTS):
        access = random_access(schema, random)
        denied = Oracle(schema, access).denied(access.callers[0], None, Facts(None))
        operations = {
            tool: random_document(
                api,
                denied,
                random,
                name=name,
                mood=random.choice(["allowed", "told", "denied"]),
                directives=' @mcpTool(name: "flat", title: "Flat")' if tool == "flat" else "",
            )
            for tool, name in OPERATIONS.items()
        }
        kit = random.choice([ALWAYS, _over_claims(random)])
        named = ("prescribed", "flat", *access.tools)
        tools = {name: _over_claims(random) for name in named if random.random() < CONDITIONAL_TOOLS}
        made = RuledEndpoint(
            seed=seed,
            schema=schema,
            access=access,
            kit=kit,
            tools=tools,
            api=api,
            operations=operations,
            folder=folder / str(random.random()),
            url=url,
        )
        try:
            _ = made.reach
        except CompileError as exc:
            refused = exc
            continue
        return made
    raise refused


def _over_claims(random: Random) -> Condition:
    """A condition for a kit, which knows no variables."""
    while "$variables" in (found := random_condition(random)).text:
        pass
    return found


def _without(access: Access, gone: Collection[Key], schema: Schema) -> Access:
    roots = {"Query": schema.query, "Mutation": schema.mutation}
    policies = [
        Policy(
            type=each.type,
            rules={name: ALWAYS if ("policy", each.type, name) in gone else rule for name, rule in each.rules.items()},
            default=ALWAYS if ("default", each.type) in gone else each.default,
        )
        for each in access.policies
    ]
    named = {roots.get(each.type, each.type) for each in policies}
    policies += [
        Policy(type=name, rules={}, default=ALWAYS)
        for name in roots.values()
        if name not in named and ("default", name) in gone
    ]
    every = [Pattern(".*", ".*", True)]
    return replace(
        access,
        policies=policies,
        hide=[each for each in access.hide if ("hide", each) not in gone],
        tools={name: every if ("patterns", name) in gone else patterns for name, patterns in access.tools.items()},
    )


def _printed(access: Access, kit: Condition, url: str) -> tuple[list[str], dict[int, Key]]:
    lines = [
        f"upstream: {{url: {json.dumps(url)}}}",
        "limits: {max_cost: 1000000, max_aliases: 100, max_depth: 30}",
        "graphql: on",
        "code:",
        f"  - use: {KIT}",
    ]
    keys: dict[int, Key] = {}

    def add(text: str, key: Key | None = None) -> None:
        lines.append(text)
        if key:
            keys[len(lines)] = key

    add(f"    condition: {json.dumps(kit.text)}", ("kit",))
    held = [
        {"name": each.name, "sha256": hashlib.sha256(each.key.encode()).hexdigest()}
        | ({} if each.claims is None else {"claims": each.claims})
        for each in access.callers
        if each.key
    ]
    add(f"identity: {json.dumps({'api_keys': held})}")
    add("access:")
    add("  anonymous: allow")
    add("  policies:")
    for policy in access.policies:
        add(f"    - type: {policy.type}", None if policy.default else ("default", policy.type))
        if policy.default:
            add(f"      policyDefault: {{condition: {json.dumps(policy.default.text)}}}", ("default", policy.type))
        add("      rules:" if policy.rules else "      rules: []")
        for name, rule in policy.rules.items():
            text = f"{{condition: {json.dumps(rule.text)}, fields: [{name}]}}"
            add(f"        - {text}", ("policy", policy.type, name))
    add("  hide:" if access.hide else "  hide: []")
    for each in access.hide:
        add(f"    - {json.dumps(each)}", ("hide", each))
    add(f"  show: {json.dumps(list(access.show))}")
    return lines, keys
