"""A random endpoint: its files, compiled by the product, served as they say and once more with nothing enforced."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from random import Random

from handler.bundle.model import Bundle
from handler.bundle.tools import (
    CatalogTool,
    CodeTool,
    CompanionTool,
    GraphQLTool,
    PersistedOperation,
    PrescribedTool,
    Tool,
)
from handler.compiler.compile import Compiled, compile_endpoint
from handler.errors.authoring import CompileError
from handler.policy.evaluation import OPEN, Mask
from handler.policy.guarded_schema import GuardedSchemas
from tests.leaks.api import Api
from tests.leaks.documents import Document, random_document
from tests.leaks.oracle import Denied, Oracle
from tests.leaks.policies import (
    Access,
    Caller,
    Facts,
    print_config,
    print_schema_definition,
    random_access,
)
from tests.leaks.schemas import Schema, print_types, random_schema
from tests.support.endpoints import write_endpoint
from tests.support.function import Function, running_function
from tests.support.kits import with_kit

OPERATIONS = "operations.graphql"
PRESCRIBED = "prescribed"
FLAT = "flat"
CODE = "pass_on"
PASSING_ON = "tests.leaks.passing_on"
MAX_ATTEMPTS = 20
"""Random patterns may leave nothing, which the compiler refuses; others are drawn then."""


@dataclass(frozen=True, eq=False, kw_only=True)
class LeakEndpoint:
    """What an author wrote, what follows from it by the oracle, and the API behind it."""

    seed: str
    schema: Schema
    access: Access
    oracle: Oracle
    api: Api
    operations: Mapping[str, Document]  # by the tool that runs it
    files: Mapping[str, str]
    compiled: Compiled
    _denied: dict[tuple[str, str | None], Denied] = field(default_factory=dict)

    @cached_property
    def document_id(self) -> str:
        """Of the file with the prescribed tool's operation."""
        return f"sha256:{sha256(self.files[OPERATIONS].encode()).hexdigest()}"

    def with_bundle(self, changed: Callable[[Bundle], Bundle]) -> LeakEndpoint:
        """The same with another bundle of the same name."""
        return replace(self, compiled=replace(self.compiled, bundle=changed(self.compiled.bundle)))

    def denied(self, caller: Caller, tool: str | None, facts: Facts | None = None) -> Denied:
        """What a caller must not learn through a GraphQL tool or without one; ``facts``: more than their claims."""
        patterns = self.access.tools.get(tool or "")
        if facts:
            return self.oracle.denied(caller, patterns, facts)
        known = self._denied.get((caller.name, tool))
        if known is None:
            known = self._denied[caller.name, tool] = self.oracle.denied(caller, patterns, Facts(caller.claims))
        return known


def random_endpoint(seed: str, folder: Path, url: str) -> LeakEndpoint:
    """An endpoint from a seed, written to a folder and compiled; ``url`` is where its API listens."""
    random = Random(seed)
    schema = random_schema(random)
    api = Api(schema, seed=random.randrange(10**9), without=_outdated(schema, random))
    for _ in range(MAX_ATTEMPTS):
        access = random_access(schema, random)
        oracle = Oracle(schema, access)
        operations = _random_operations(api, oracle.denied(access.callers[0], None, Facts(None)), random)
        files = _files(schema, access, operations, url)
        try:
            own = compile_endpoint(write_endpoint(folder / str(random.random()), files, name="api/leaks"))
        except CompileError as exc:
            refused = exc
            continue
        return LeakEndpoint(
            seed=seed,
            schema=schema,
            access=access,
            oracle=oracle,
            api=api,
            operations=operations,
            files=files,
            compiled=with_kit(own, f"{PASSING_ON}:kit"),
        )
    raise refused


def _outdated(schema: Schema, random: Random) -> list[str]:
    """Some of what the API has not any more: its errors suggest what it still has."""
    about_people = [coordinate for coordinate, _ in (*schema.fields(), *schema.inputs()) if coordinate.startswith("P")]
    kinds = ("Person.", "Paid.", "PersonFilter.", "PersonOrder.")
    removable = [each for each in about_people if each.startswith(kinds) and not each.endswith((".id", "s", ":)"))]
    return random.sample(removable, random.choice([0, 0, 0, 1, 2]))


def _random_operations(api: Api, denied: Denied, random: Random) -> dict[str, Document]:
    def one(name: str, directives: str = "") -> Document:
        mood = random.choice(["allowed", "allowed", "told", "denied"])
        return random_document(api, denied, random, name=name, mood=mood, directives=directives)

    return {PRESCRIBED: one("Prescribed"), FLAT: one("Flat", f' @mcpTool(name: "{FLAT}", title: "Flat")')}


def _files(schema: Schema, access: Access, operations: Mapping[str, Document], url: str) -> dict[str, str]:
    definition = print_schema_definition(schema, access, {PRESCRIBED: "Prescribed"})
    return {
        "index.graphql": f"{definition}\n{print_types(schema)}",
        "config.yaml": print_config(access, url),
        OPERATIONS: operations[PRESCRIBED].text,
        "operations/flat.graphql": operations[FLAT].text,
    }


@dataclass(frozen=True)
class Served:
    """The function with one endpoint twice: as compiled, and with nothing enforced."""

    enforced: Function
    open: Function


@contextmanager
def serving(endpoint: LeakEndpoint) -> Iterator[Served]:
    """Serve an endpoint in memory, both ways."""
    compiled = endpoint.compiled
    unenforced = replace(compiled, bundle=without_enforcement(compiled.bundle, name="api/open"))
    with running_function(compiled, unenforced, code_modules=[PASSING_ON]) as function:
        yield Served(function, Function(function.handler, function.lines, "/api/open/mcp"))


def without_enforcement(bundle: Bundle, *, name: str) -> Bundle:
    """The same endpoint without guards and masks: everybody may use everything that the schema has."""
    everything = frozenset(range(len(bundle.conditions)))
    documents = tuple(
        replace(document, operations=tuple(_opened_operation(each, everything) for each in document.operations))
        for document in bundle.graphql.documents
    )
    return replace(
        bundle,
        endpoint=name,
        guards={},
        tools=tuple(_opened_tool(tool, everything) for tool in bundle.tools),
        graphql=replace(bundle.graphql, guards={}, conditions=OPEN, documents=documents),
    )


def _opened_operation(persisted: PersistedOperation, everything: Mask) -> PersistedOperation:
    return replace(
        persisted, mask=OPEN, conditions=OPEN, variables=GuardedSchemas().seen_by(persisted.variables, everything)
    )


def _opened_tool(tool: Tool, everything: Mask) -> Tool:
    match tool:
        case CodeTool() | CatalogTool() | CompanionTool():
            return tool
        case PrescribedTool():
            entry, arguments = (
                GuardedSchemas().seen_by(tool.entry, everything),
                GuardedSchemas().seen_by(tool.arguments, everything),
            )
            return replace(tool, mask=OPEN, conditions=OPEN, entry=entry, arguments=arguments)
        case GraphQLTool():
            return replace(tool, guards={}, conditions=OPEN, listings=())
