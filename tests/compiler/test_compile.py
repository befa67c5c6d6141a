from __future__ import annotations

import gc
import hashlib
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from handler.bundle.stored import read_bundle, write_bundle
from handler.compiler.compile import Compiled, compile_endpoint
from handler.errors.authoring import CompileError
from handler.graph.index import read_index
from tests.support.diagnostics import Reported, reported_by
from tests.support.endpoints import PUBLIC, READABLE, compiled, problems_of, reported, write_endpoint
from tests.support.examples import examples

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "examples" / "endpoints" / "api" / "customers"

DIGESTS = """
import hashlib, sys
from pathlib import Path
from handler.bundle.stored import write_bundle
from handler.compiler.compile import compile_endpoint

made = compile_endpoint(Path(sys.argv[1]))
print(hashlib.sha256(write_bundle(made.bundle)).hexdigest(), hashlib.sha256(made.index).hexdigest())
"""


def digests_of(made: Compiled) -> list[str]:
    return [hashlib.sha256(raw).hexdigest() for raw in (write_bundle(made.bundle), made.index)]


def compiled_elsewhere(folder: Path | str, *, seed: str, cwd: Path = ROOT) -> list[str]:
    """The same digests, made by a process of its own."""
    environ = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", DIGESTS, str(folder)]
    done = subprocess.run(command, cwd=cwd, env=environ, capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.parametrize("seed", ["0", "1", "2", "4294967295"])
def test_same_folder_gives_the_same_bytes_under_any_hash_seed(demo: Compiled, seed: str) -> None:
    assert compiled_elsewhere(DEMO, seed=seed) == digests_of(demo)


def test_same_files_give_the_same_bytes_from_any_folder_at_any_time(tmp_path: Path, demo: Compiled) -> None:
    copy = tmp_path / "deep" / "api" / "customers"
    shutil.copytree(DEMO, copy)
    for file in copy.rglob("*"):
        os.utime(file, (0, 0))

    assert compiled_elsewhere(".", seed="random", cwd=copy) == digests_of(demo)


def test_order_in_which_files_were_made_does_not_matter(tmp_path: Path) -> None:
    files = {"index.graphql": "type Query { a: Int }", "config.yaml": READABLE}
    files |= {f"operations/{n}.graphql": f"query O{n} @mcpTool {{ a }}" for n in range(9)}

    one = compiled(tmp_path / "1", files)
    other = compiled(tmp_path / "2", dict(reversed(files.items())))

    assert digests_of(one) == digests_of(other)


def test_bundle_and_index_are_read_back_as_they_were_written(demo: Compiled) -> None:
    assert read_bundle(write_bundle(demo.bundle), endpoint="api/customers") == demo.bundle
    assert "Customer" in read_index(demo.index, sha256=demo.bundle.index)


def test_demo_compiles_without_a_warning(demo: Compiled) -> None:
    assert demo.warnings == ()


BROKEN = {
    "index.graphql": """\
extend schema @sdl(files: ["types.graphql", "gone.graphql"], executables: {document: "c.gql"})
  @tool(nam: "t")
""",
    "types.graphql": "type Query {\n  a: Int\n",
    "config.yaml": "upstream:\n  url: [\n",
    "config.prod.yaml": "limits:\n  max_depth: 0\n",
    "operations/a.graphql": "query A { b }\n\n{ c }",
    "operations/b.graphql": "query B {",
    "c.gql": "query C { }",
    "stepzen.config.json": '{"endpoint": 1}',
}


def test_problems_of_all_files_are_reported_at_once_in_file_order(tmp_path: Path) -> None:
    folder = write_endpoint(tmp_path, BROKEN)

    with pytest.raises(CompileError) as caught:
        compile_endpoint(folder, stage="prod")

    assert reported_by(caught.value) == (
        [
            "c.gql:1:11 syntax-error: '}'",
            "config.prod.yaml:2:14 invalid-value: \"limits.max_depth\" & 1 to 50 & '0'",
            "config.yaml:3:1 invalid-yaml",
            'index.graphql:1:45 unreadable-file: "gone.graphql"',
            'index.graphql:2:9 unknown-argument: @tool & "nam" & did you mean name?',
            "operations/a.graphql:3:1 anonymous-operation",
            "operations/b.graphql:1:10 syntax-error",
            "stepzen.config.json:1:2 invalid-project-file",
            "types.graphql:3:1 syntax-error",
        ]
    )


def test_problems_of_a_whole_schema_its_operations_and_its_policies_are_reported_at_once(tmp_path: Path) -> None:
    files = {
        "index.graphql": 'extend schema @tool(name: "a b", graphql: {expose: true, types: "Query", fields: "("})\n'
        '@tool(name: "t", prescribed: "None")\ntype Query { a: Int }',
        "config.yaml": "access:\n  policies:\n    - {type: Query, policyDefault: {condition: x}}\n    - {type: Foo}\n",
        "operations/o.graphql": "query O {\n  b\n}",
    }

    assert reported(tmp_path, files) == [
        'config.yaml:3:48 invalid-condition: "x"',
        'config.yaml:4:14 unknown-type: "Foo"',
        'index.graphql:1:43 invalid-pattern: "("',
        'index.graphql:2:30 unknown-operation: @tool & "t" & "None"',
        "operations/o.graphql:2:3 unknown-field: 'b' & 'Query' & Did you mean 'a'?",
    ]


def test_what_an_author_wrote_cannot_command_a_terminal_or_flood_it(tmp_path: Path) -> None:
    files = {
        "index.graphql": f'extend schema @tool(name: "\\u001b[2J\\n\\u202e{"x" * 9_999}")\ntype Query {{ a: Int }}',
        "operations/\x1b[31m.graphql": "query",
    }

    first, second = problems_of(tmp_path, files)

    assert str(first).startswith(r'index.graphql:1:15: @tool "\x1b[2J\n\u202exxx')
    assert len(first.sentence) == 500
    assert str(second).startswith(r"operations/\x1b[31m.graphql:1:6: Syntax Error")


def test_garbage_collector_runs_again_after_a_compile_that_fails(tmp_path: Path) -> None:
    problems_of(tmp_path, {})

    assert gc.isenabled()


def large_schema(types: int) -> str:
    """As many types as GitHub's schema, with as many fields, all linked."""
    roots = "\n".join(f"  t{n}(first: Int = 10, filter: F{n % 50}): [T{n}!]" for n in range(types))
    kinds = "\n".join(
        f'"""Type {n}"""\ntype T{n} implements Node {{\n  id: ID!\n  salary: Int\n'
        + "\n".join(f'  "About"\n  f{k}(after: String): T{(n * 7 + k) % types}' for k in range(4))
        + "\n}"
        for n in range(types)
    )
    inputs = "\n".join(f"input F{n} {{ a: String b: [F{(n + 1) % 50}!] }}" for n in range(50))
    return f"interface Node {{ id: ID! }}\ntype Query {{\n{roots}\n  node(id: ID!): Node\n}}\n{kinds}\n{inputs}\n"


def test_schema_of_a_thousand_types_compiles(tmp_path: Path) -> None:
    files = {
        "index.graphql": """extend schema
  @sdl(files: ["schema.graphql"])
  @tool(name: "some", graphql: [
    {expose: true, types: "Query", fields: "t1.*"}, {expose: false, types: ".*", fields: "salary"}
  ])""",
        "schema.graphql": large_schema(1_000),
        "config.yaml": READABLE,
        "operations/o.graphql": "query O($f: F1) @mcpTool { t1(filter: $f) { id } node(id: 1) { __typename id "
        + " ".join(f"... on T{n} {{ f1 {{ id }} }}" for n in range(50))
        + " } }",
    }
    folder = write_endpoint(tmp_path, files)

    made = compile_endpoint(folder)

    assert [tool.name for tool in made.bundle.tools] == ["some", "some-search", "some-describe", "O"]


PIECES: list[str] = [
    *'{}[]()!"@$&*:|=#\n\t\0%,-?~<>\\',
    '"""', "...", "... on ", "[" * 60, "{" * 60, "$x", "&a ", "*a", "- ", "? ", ": ", "<<: ", "null", "true", "1e999",
    "9" * 5_000, '"\\uD800"', "\\ud800", "\ufeff",
    "query ", "mutation ", "subscription ", "fragment ", "extend ", "schema ",
    "type ", "interface ", "input ", "union ", "enum ", "Query", "Thing", "Node", "Int", "__typename", "__schema",
    '@tool(name: "x")', "@mcpTool", "@oneOf", "@skip(if: true)", "implements ", "graphql: [", "prescribed: ", "Ω",
]  # fmt: skip

SMALL = {
    "index.graphql": """
"A shop." schema @sdl(files: ["types.graphql"], executables: [{document: "ops.graphql", persist: true}])
  @tool(name: "g", description: "{schema_sdl}", graphql: [{expose: true, types: "Query", fields: "t.*"}])
  @tool(name: "p", prescribed: "P", descriptions: [{name: "id", value: "which"}]) { query: Query mutation: Mutation }
""",
    "types.graphql": """
schema { query: Query subscription: Subscription }
extend type Query { odd: JSON @rest(endpoint: "https://a.b/$x", headers: [{name: "a", value: "b"}]) any: Any }
extend type Far @key(fields: "id") { id: ID! @external when: AWSDate }
type Query { thing(id: ID!, where: Filter = {size: BIG}): Thing things(first: Int = 1): [Node!] any: Any }
type Mutation { make(key: Key!): Thing }
interface Node { id: ID! }
type Thing implements Node { id: ID! size: Size at: Date next: Thing old: Int @deprecated(reason: "x") }
union Any = Thing | Other
type Other implements Node { id: ID! }
enum Size { BIG SMALL }
input Filter { size: Size and: [Filter!] }
input Key @oneOf { id: ID name: String }
scalar Date
""",
    "ops.graphql": 'query P("the id" $id: ID! = 1, $f: Filter) { thing(id: $id, where: $f) { ...T next { id } } }\n'
    "fragment T on Thing { size at }",
    "operations/o.graphql": 'query O($on: Boolean! @mcpToolArg(description: "d")) @mcpTool(name: "o") {\n'
    "  any { __typename ... on Thing @include(if: $on) { id } ... on Other { id } } }\n"
    "mutation M($k: Key!) @mcpTool { make(key: $k) { id } }",
    "config.yaml": PUBLIC + "upstream: {url: STEPZEN_URL, headers: {x-a: b}}\nlimits: {max_depth: 3}\n"
    "deployment: {identity: {issuer: x, audience: [y], jwksendpoint: 'https://a.b/', keys: [{keyid: 1, "
    "algorithm: HS256, key: env:K}], api_keys: [{name: a, "
    f"sha256: {'a' * 64}, claims: {{level: 5}}, expires: 2030-01-01}}]}}}}\n"
    "configurationset: [{configuration: {name: a}}]\n",
    ".env": "STEPZEN_URL='https://a.b/' # here\n",
    "config.test.yaml": "upstream: {timeout_s: 3}\n",
    "stepzen.config.json": '{"endpoint": "api/things", "root": "."}',
}


def mutated(text: str, rng: random.Random) -> bytes:
    """The text of a file after an accident."""
    raw = text.encode()
    start, end = sorted(rng.randrange(len(raw) + 1) for _ in range(2))
    match rng.randrange(6):
        case 0:
            return raw[:start]
        case 1:
            return raw[:start] + rng.randbytes(rng.randrange(1, 4)) + raw[start + 1 :]
        case 2:
            return raw[:start] + rng.choice(PIECES).encode() + raw[start:]
        case 3:
            return raw[:start] + raw[min(end, start + 60) :]
        case 4:
            return raw[:end] + raw[start : min(end, start + 200)] + raw[end:]
        case _:
            return rng.randbytes(rng.randrange(200))


def accidents(rng: random.Random, count: int) -> Iterator[dict[str, bytes]]:
    for _ in range(count):
        names = rng.sample(list(SMALL), rng.randrange(1, 3))
        yield {name: mutated(SMALL[name], rng) for name in names}


@pytest.mark.parametrize("seed", range(4))
def test_no_accident_in_a_file_brings_anything_but_problems(tmp_path: Path, seed: int) -> None:
    folder = write_endpoint(tmp_path, SMALL)
    compile_endpoint(folder, stage="test")

    for files in accidents(random.Random(seed), examples(125)):
        for name, raw in files.items():
            (folder / name).write_bytes(raw)
        try:
            made = compile_endpoint(folder, stage="test")
        except CompileError as exc:
            lines = str(exc).split("\n")
        else:
            lines = list(map(Reported, made.warnings))
            assert read_bundle(write_bundle(made.bundle), endpoint=made.bundle.endpoint) == made.bundle
        assert all(len(line) < 700 and line.isprintable() for line in lines)
        for name in files:
            (folder / name).write_text(SMALL[name], encoding="utf-8")
