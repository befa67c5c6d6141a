"""Operations that were compiled before: an endpoint is the same with and without them, after any change."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest

from handler.bundle.stored import write_bundle
from handler.compiler.compile import compile_endpoint
from handler.compiler.operations import kept_operations, read, validation
from handler.compiler.schema import schema
from handler.compiler.schema.schema_cache import DIGEST_BYTES, SchemaCache
from handler.compiler.tools import prescribed
from handler.errors.authoring import CompileError
from tests.support.endpoints import write_endpoint
from tests.support.examples import examples

SDL = """
extend schema @sdl(files: ["types.graphql"])
DIRECTIVES
type Query { thing(id: ID!, in: In): Thing, things(first: Int = 5, after: String): Page, old: Int @deprecated }
type Mutation { change(in: In!, kind: Kind): Thing }
"""
TYPES = """
interface Node { id: ID! }
type Page { edges: [Edge], pageInfo: Info }
type Edge { node: Thing, CURSOR }
type Info { endCursor: String }
type Thing implements Node { id: ID!, name: String, NULL, secret: String, salary: Int, next: Thing
  more(of: In): [Thing] }
input In { name: String, after: Date, and: [In!], SECRET, kind: Kind = NEW }
enum Kind { NEW "OLD" OLD }
scalar Date
"""
CONFIG = """
upstream: {url: "https://api.example.com/graphql", documents: DOCUMENTS}
access:
  anonymous: allow
  policies:
    - {type: Query, policyDefault: {condition: RULE}}
    - {type: Mutation, policyDefault: {condition: true}}
    - {type: Thing, rules: [{condition: GUARD, fields: [secret]}], policyDefault: {condition: true}}
"""
CHOICES: Mapping[str, tuple[str, ...]] = {
    "DIRECTIVES": ("", 'extend schema @tool(name: "one", prescribed: "A", description: "D", descriptions: [])'),
    "CURSOR": ("cursor: String", "at: Int"),
    "NULL": ("size: Int", "size: Int!", 'size: Int @deprecated(reason: "too small")'),
    "SECRET": ("secret: String", 'secret: String = "x"'),
    '"OLD"': ("", '"It is old."'),
    "DOCUMENTS": ("text", "text", "documentId"),
    "RULE": ("true", "'?$jwt'", "'$jwt.role: String == \"a\"'"),
    "GUARD": ("'?$jwt'", "false", "true", "'$jwt.id:String == $variables.id:String'"),
    "SETTING": (
        *("", "tools: operations", "tools: {operations: queries_and_mutations}", "limits: {continue: true}"),
        *("limits: {max_schema_bytes: 300, max_output_schema_bytes: 200}", "catalog: true", "output_schema: off"),
        *("scalars: {Date: {type: string, format: date}}", "log: {coordinates: true}", "graphql: 'on'"),
    ),
    "NAME": ("name", "size", "secret", "...F", "next { ...G }", "id ...F"),
    "TOOL": (
        *("", "@mcpTool", '@mcpTool(description: "Of {endpoint_name}.")', '@mcpTool(condition: "?$jwt")'),
        *('@mcpTool(condition: "$jwt.a: Int == 1", title: "T")', "@mcpTool(limits: {continue: true})"),
    ),
    "BODY": (
        "query KEY($id: ID!, $x: Boolean) TOOL { thing(id: $id) { id NAME salary @skip(if: $x) } }",
        "query KEY($id: ID!, $in: In) TOOL { thing(id: $id, in: $in) { NAME more { NAME } } }",
        'query KEY($id: ID! @mcpBind(claim: "sub"), $unused: Int) TOOL { thing(id: $id) { NAME @nonreactive } }',
        "query KEY($first: Int) TOOL { things(first: $first) { edges { node { NAME } } pageInfo { endCursor } } old }",
        "# Changes a thing.\nmutation KEY($in: In!, $kind: Kind) TOOL { change(in: $in, kind: $kind) { NAME } }",
        '"Finds {endpoint_folder}." query KEY TOOL { thing(id: 3, in: {kind: OLD, secret: "s"}) { NAME __typename } }',
    ),
    "SHARED": ("id", "name", "salary", "next { ...G }"),
}
MISTAKES = ("{ old }", "query KEY {", "query KEY { missing }", "query KEY { thing(id: 1) { ...Missing } }")
FRAGMENTS = "fragment F on Thing { SHARED }\nfragment G on Node { id }\nquery Uses { thing(id: 1) { ...F ...G } }\n"
NAMES = "ABCDEF"


def drawn(random: Random, text: str) -> str:
    """A text in which each name of ``CHOICES`` is one of its choices."""
    for name, choices in sorted(CHOICES.items(), key=lambda each: each[0] not in ("BODY", "DIRECTIVES")):
        while name in text:
            text = text.replace(name, random.choice(choices), 1)
    return text


def file_of(random: Random, name: str) -> str:
    """A text for a file of an endpoint."""
    match name:
        case "index.graphql":
            return drawn(random, SDL)
        case "types.graphql":
            return drawn(random, TYPES)
        case "config.yaml":
            return drawn(random, CONFIG) + drawn(random, "SETTING") + "\n"
        case "operations/fragments.graphql":
            return drawn(random, FRAGMENTS)
        case _ if random.random() < 0.03:
            return random.choice(MISTAKES).replace("KEY", Path(name).stem)
        case _:
            return drawn(random, "BODY\n").replace("KEY", Path(name).stem)


FILES = ("index.graphql", "types.graphql", "config.yaml", "operations/fragments.graphql")
ALL = (*FILES, *(f"operations/{name}.graphql" for name in NAMES))


def cache_in(folder: Path | None) -> SchemaCache:
    return SchemaCache(folder, seal=lambda name, content: hmac.digest(b"secret", name.encode() + content, "sha256"))


def facts(folder: Path, cache: SchemaCache | None, **options: Any) -> tuple[Any, ...]:
    """The bundle and the warnings of an endpoint, or its problems."""
    try:
        made = compile_endpoint(folder, schemas=cache, **options)
    except CompileError as exc:
        return exc.problems
    tools = [(each.uses, each.types, each.described, each.shortened_from, each.listed) for each in made.made]
    return write_bundle(made.bundle), made.warnings, made.client_warnings, tools


@pytest.fixture(autouse=True)
def _few_operations_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_operations, "LEAST_KEPT", 0)
    monkeypatch.setattr(schema, "LEAST_BYTES", 0)


def test_any_changes_give_what_they_give_without_a_cache(tmp_path: Path) -> None:
    random = Random("kept operations")
    compiles = 0
    for number in range(examples(40)):
        in_memory, kept = cache_in(None), tmp_path / f"kept{number}"
        texts = {name: file_of(random, name) for name in ALL}
        for _ in range(6):
            folder = write_endpoint(tmp_path, texts, name=f"api/e{number}")
            without = facts(folder, None)
            compiles += isinstance(without[0], bytes)

            assert facts(folder, in_memory) == without
            assert facts(folder, cache_in(kept)) == without

            name = random.choice(ALL)
            texts[name] = file_of(random, name)
    assert compiles > examples(40)


VALID: dict[str, str] = {
    "index.graphql": SDL.replace("DIRECTIVES", ""),
    "types.graphql": TYPES.replace("CURSOR", "at: Int").replace("NULL", "size: Int").replace("SECRET", "s: Int"),
    "config.yaml": CONFIG.replace("DOCUMENTS", "text").replace("RULE", "true").replace("GUARD", "?$jwt"),
    "operations/fragments.graphql": "fragment F on Thing { name }\n",
    **{
        f"operations/{name}.graphql": f"query {name}($id: ID!) @mcpTool {{ thing(id: $id) {{ id {fields} }} old }}\n"
        for name, fields in (("A", "...F"), ("B", "name"), ("C", "secret"))
    },
}


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files and names of the operations that are validated and compiled, from now on."""
    names: list[str] = []
    validate, compile_tool = validation.validate_document, prescribed._made_tool

    def validating(*arguments: Any, file: str, **options: Any) -> Any:
        names.append(file)
        return validate(*arguments, file=file, **options)

    def compiling(context: Any, operation: Any, *arguments: Any, **options: Any) -> Any:
        names.append(operation.name)
        return compile_tool(context, operation, *arguments, **options)

    monkeypatch.setattr(read, "validate_document", validating)
    monkeypatch.setattr(prescribed, "_made_tool", compiling)
    return names


@pytest.mark.parametrize("in_folder", [False, True])
def test_changed_operations_alone_are_compiled(tmp_path: Path, made: list[str], *, in_folder: bool) -> None:
    cache = cache_in(tmp_path / "kept" if in_folder else None)

    def made_with(changes: dict[str, str], **options: Any) -> list[str]:
        made.clear()
        facts(write_endpoint(tmp_path, VALID | changes), cache_in(tmp_path / "kept") if in_folder else cache, **options)
        return made

    everything = [each for name in "ABC" for each in (f"operations/{name}.graphql",)] + ["A", "B", "C"]
    assert made_with({}) == everything
    assert made_with({}) == []
    changed = {"operations/B.graphql": VALID["operations/B.graphql"].replace("name", "size")}
    assert made_with(changed) == ["operations/B.graphql", "B"]
    changed |= {"operations/fragments.graphql": "fragment F on Thing { size }\n"}
    assert made_with(changed) == ["operations/A.graphql", "A"]
    changed |= {"config.yaml": VALID["config.yaml"] + "limits: {continue: true}\n"}
    assert made_with(changed) == everything
    assert made_with(changed, endpoint="api/another") == everything


def test_operation_with_an_error_is_not_kept_and_the_others_are(tmp_path: Path, made: list[str]) -> None:
    cache = cache_in(None)
    wrong = {"operations/B.graphql": VALID["operations/B.graphql"].replace("name", "missing")}
    folder = write_endpoint(tmp_path, VALID | wrong)
    problems = facts(folder, cache)
    made.clear()

    assert facts(folder, cache) == problems == facts(folder, None)
    assert made[0] == "operations/B.graphql"
    assert made.count("operations/A.graphql") == 1  # without the cache


@pytest.mark.parametrize("line", [b"", b"\n", b"{}", b'{"operations": {"A": {}}}', b"[", b"\xff", b"null"])
def test_results_that_cannot_be_read_are_made_anew(tmp_path: Path, line: bytes) -> None:
    kept, folder = tmp_path / "kept", write_endpoint(tmp_path, VALID)
    without = facts(folder, cache_in(kept))
    results = max((path for path in kept.iterdir() if path.name != ".gitignore"), key=lambda path: path.stat().st_size)
    before = results.read_bytes()
    lines = [each[: kept_operations.KEY_CHARS] + line for each in before[DIGEST_BYTES:].splitlines()]
    cache_in(kept).keep(results.name, b"\n".join(lines))

    assert facts(folder, cache_in(kept)) == without == facts(folder, None)
    assert results.read_bytes() == before
