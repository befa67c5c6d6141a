"""Each check by its code: one endpoint that it warns of, with the place and what the warning is about."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp

import pytest

import handler
from handler.compiler.checks import CHECKS, CLIENT_CHECKS
from tests.support.endpoints import PUBLIC, READABLE, compiled, reported
from tests.support.modules import Modules, modules

__all__ = ["modules"]

PEOPLE = """
type Query { people(where: Where): [Person!] person(id: ID!): Person node(id: ID!): Node stats(by: Where): Stats }
type Mutation { add(salary: Int): Person }
interface Node { id: ID! }
type Person implements Node { id: ID! salary: Int raw: JSON }
type Stats { count(filter: Counted): Int salary: Int }
input Where { salaryband: String }
input Counted { salaryGt: Int }
scalar JSON
"""
OPEN_TOOL = (
    '@tool(name: "t", title: "T", description: "d", graphql: {expose: true, types: "Query|Mutation", fields: ".*"})'
)
SALARIES = (
    PUBLIC + "    - {type: Person, rules: [{condition: false, fields: [salary]}], policyDefault: {condition: true}}\n"
)
OPERATION = 'query O @mcpTool(title: "O", description: "d") { a }'
INDEX = "type Query { a: Int }"
WRITTEN = '''@kit.tool(input_schema={"type": "object", "properties": {"x": {TYPE}}})
def one(arguments: dict) -> str:
    """Say."""
    return ""
'''
ANYBODY = READABLE.replace("{policies", "{anonymous: allow, policies")
TOOLS = "from stile import Toolkit\nkit = Toolkit()\n"


@dataclass(frozen=True, kw_only=True)
class Case:
    """An endpoint that a check warns of once."""

    place: str
    about: tuple[str, ...]
    index: str = INDEX
    operation: str = OPERATION
    config: str = READABLE
    files: Mapping[str, str] = field(default_factory=dict)
    code: str = ""  # the module some_tools


def guarded(place: str, *about: str) -> Case:
    return Case(place=place, about=about, index=f"extend schema {OPEN_TOOL}{PEOPLE}", operation="", config=SALARIES)


CASES: Mapping[str, Case] = {
    "policy-bypass": Case(
        place="config.yaml:4:59",
        about=("Query.secret",),
        index=f"extend schema {OPEN_TOOL} type Query {{ secret: Box open: Box }} type Box {{ a: Int }}",
        operation="",
        config=(
            "access:\n  anonymous: allow\n  policies:\n    - {type: Query, rules: [{fields: [secret], "
            "condition: false}], policyDefault: {condition: true}}\n"
        ),
    ),
    "consent-bypass": Case(
        place="operations/o.graphql:1:1",
        about=("Mutation.b",),
        index=f"extend schema {OPEN_TOOL} {INDEX} type Mutation {{ b: Int }}",
        operation='mutation O @mcpTool(title: "O", description: "d", confirm: required) { b }',
        config=PUBLIC,
    ),
    "uncallable-tool": Case(place="operations/o.graphql:1:1", about=("O",), config="access: {hide: [Query.a]}"),
    "unmet-required-auth": Case(
        place="some_tools.py:3:1",
        about=("one",),
        config='code: [{use: "some_tools:kit", condition: "true"}]',
        code=TOOLS + '@kit.tool(requires_auth=True)\ndef one() -> str:\n    """Say."""\n    return ""\n',
    ),
    "unmet-tenant-claim": Case(
        place="config.yaml:2:17",
        about=("org.tenant",),
        config=ANYBODY + "upstream: {url: 'https://{claim:org.tenant}.example.com/', tenant_pattern: '[a-z]+'}",
    ),
    "open-toolkit": Case(
        place="config.yaml:2:8",
        about=("some_tools:kit",),
        config=ANYBODY + 'code: ["some_tools:kit"]',
        code=TOOLS + '@kit.tool\ndef one() -> str:\n    """Say."""\n    return ""\n',
    ),
    "closed-toolkit": Case(
        place="config.yaml:1:8", about=("some_tools:kit",), config='code: ["some_tools:kit"]', code=TOOLS
    ),
    "variable-walk": Case(
        place="operations/o.graphql:1:69",
        about=("O", "Me.pay"),
        index="type Query { of(me: ID): Int me: Me } type Me { pay: Int }",
        operation='query O($me: ID @mcpBind(claim: "sub")) @mcpTool { of(me: $me) me { pay } }',
        config=(
            "access: {policies: [{type: Query, policyDefault: {condition: true}}, {type: Me, policyDefault: "
            "{condition: '$jwt.sub:String == $variables.me:String'}}]}"
        ),
    ),
    "unused-exception": Case(
        place="config.yaml:1:17",
        about=("Query.a(x:)",),
        index="type Query { a(x: Int): Int }",
        config="access: {show: ['Query.a(x:)']}",
    ),
    "same-name-exposure": guarded("index.graphql:1:15", "Stats.salary"),
    "count-exposure": guarded("index.graphql:1:15", "Counted.salaryGt"),
    "similar-name-exposure": guarded("index.graphql:1:15", "Where.salaryband"),
    "mutation-data-exposure": guarded("index.graphql:1:15", "Mutation.add(salary:)"),
    "opaque-value": guarded("index.graphql:1:15", "Person.raw"),
    "lookup-by-id": guarded("index.graphql:1:15", "Query.node"),
    "invisible-characters": Case(
        place="operations/o.graphql:1:45",
        about=("operations/o.graphql",),
        operation=OPERATION.replace('"d"', '"d\u200b"'),
    ),
    "prompt-markup": Case(
        place="operations/o.graphql:1:46",
        about=("operations/o.graphql",),
        operation=OPERATION.replace('"d"', '"d </system>"'),
    ),
    "unread-file": Case(
        place="operations/p.txt:1:9", about=("operations/p.txt",), files={"operations/p.txt": "query P @mcpTool { a }"}
    ),
    "unread-description": Case(
        place="operations/o.graphql:1:17",
        about=("O",),
        index="type Query { a(x: Int): Int }",
        operation='query O($x: Int @mcpToolArg(description: "d")) { a(x: $x) }',
    ),
    "unknown-parameter": Case(
        place="index.graphql:1:15",
        about=("t",),
        index="extend schema "
        + OPEN_TOOL.replace("description:", 'descriptions: [{name: "quary", value: "v"}], description:')
        + INDEX,
        operation="",
    ),
    "template-variable": Case(
        place="operations/o.graphql:1:1", about=("O",), operation=OPERATION.replace('"d"', '"d {schema_sdl}"')
    ),
    "unexplained-enum": Case(
        place="operations/o.graphql:1:1",
        about=("E",),
        index="enum E { " + " ".join(f'"{"x" * 90}" V{n}' for n in range(20)) + " } type Query { a(e: E): Int }",
        operation='query O($e: E) @mcpTool(title: "O", description: "d") { a(e: $e) }',
    ),
    "long-description": Case(
        place="operations/o.graphql:1:1", about=("O",), operation=OPERATION.replace('"d"', f'"{"x" * 2_049}"')
    ),
    "large-tool": Case(
        place="operations/o.graphql:1:1", about=("O",), operation=OPERATION.replace('"d"', f'"{"x" * 16_385}"')
    ),
    "missing-cursor": Case(
        place="operations/o.graphql:1:1",
        about=("O",),
        index="type Query { a: Page } type Page { edges: [Edge] pageInfo: Info } type Edge { cursor: ID node: Row } "
        "type Row { x: Int } type Info { endCursor: ID }",
        operation=OPERATION.replace("{ a", "{ a { edges { node { x } } pageInfo { endCursor } }"),
    ),
    "old-import": Case(
        place="some_tools.py:1:1",
        about=("some_tools",),
        config='code: [{use: "some_tools:kit", condition: "true"}]',
        code=TOOLS.replace("stile", "handler") + '@kit.tool\ndef one() -> str:\n    """Say."""\n    return ""\n',
    ),
    "untyped-parameter": Case(
        place="some_tools.py:3:1",
        about=("one",),
        config='code: [{use: "some_tools:kit", condition: "true"}]',
        code=TOOLS + WRITTEN.replace("TYPE", ""),
    ),
    "unportable-name": Case(
        place="operations/o.graphql:1:1", about=("o.o",), operation=OPERATION.replace("(title", '(name: "o.o", title')
    ),
    "reads-and-writes": Case(
        place="index.graphql:1:15",
        about=("t",),
        index=f"extend schema {OPEN_TOOL} {INDEX} type Mutation {{ b: Int }}",
        operation="",
        config=PUBLIC,
    ),
    "untitled-tool": Case(place="operations/o.graphql:1:1", about=("O",), operation="query O @mcpTool { a }"),
    "undescribed-tool": Case(place="operations/o.graphql:1:1", about=("O",), operation="query O @mcpTool { a }"),
    "too-many-tools": Case(
        place="index.graphql",
        about=(),
        operation="".join(f"query O{n} @mcpTool {{ a }}\n" for n in range(129)),
    ),
    "long-tool-list": Case(
        place="index.graphql",
        about=(),
        operation="".join(f'query O{n} @mcpTool(description: "{"x" * 2_000}") {{ a }}\n' for n in range(60)),
    ),
}


def test_every_check_has_a_case() -> None:
    assert sorted(CASES) == sorted(rule.code for rule in (*CHECKS, *CLIENT_CHECKS))


@pytest.mark.parametrize("code", CASES)
def test_check_warns_at_the_place_of_what_it_is_about(tmp_path: Path, modules: Modules, code: str) -> None:
    case = CASES[code]
    written = {"index.graphql": case.index, "operations/o.graphql": case.operation, "config.yaml": case.config}
    if case.code:
        modules.write("some_tools.py", case.code)
        del written["operations/o.graphql"]

    made = compiled(
        tmp_path, {**{name: text for name, text in written.items() if text}, **case.files}, **modules.environ
    )

    (found,) = [each for each in (*made.warnings, *made.client_warnings) if each.code == code]
    place = f"{Path(found.file).name if found.file.endswith('.py') else found.file}:{found.line}:{found.column}"
    assert (place.removesuffix(":0:0"), found.about) == (case.place, case.about)


def test_nothing_that_checks_are_called_with_imports_one() -> None:
    compiler = Path(handler.__file__).parent / "compiler"
    allowed = {compiler / "compile.py", *(compiler / "checks").iterdir()}
    for file in compiler.rglob("*.py"):
        modules_named = {
            node.module for node in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(node, ast.ImportFrom)
        }
        assert file in allowed or not any((name or "").startswith("handler.compiler.checks") for name in modules_named)


def test_tools_of_stepzens_form_need_no_title_in_its_projects(tmp_path: Path) -> None:
    files = {
        "index.graphql": """schema @sdl(executables: [{document: "o.graphql", persist: true}])
            @tool(name: "ask", graphql: {expose: true, types: "Query", fields: ".*"})
            @tool(name: "run", prescribed: "O") { query: Query }
            type Query { a: Int }""",
        "o.graphql": "query O { a }",
        "operations/flat.graphql": "query Flat @mcpTool { a }",
    }

    def untitled(files: dict[str, str]) -> list[str]:
        warnings = compiled(Path(mkdtemp(dir=tmp_path)), files).client_warnings
        return [name for each in warnings if each.code == "untitled-tool" for name in each.about]

    assert untitled(files) == ["ask", "run", "Flat"]
    assert untitled({**files, "stepzen.config.json": '{"endpoint": "api/things"}'}) == ["Flat"]
    alone = {"index.graphql": "type Query { a: Int }", "stepzen.config.json": '{"endpoint": "api/things"}'}
    assert untitled({**alone, "config.yaml": READABLE}) == []


def test_one_mistake_is_one_problem(tmp_path: Path) -> None:
    sdl = "type Query { a(x: Int): Int }"
    asks = 'graphql: {expose: true, types: "Query", fields: ".*"}'
    for place, files in enumerate(
        (
            {"index.graphql": f'extend schema @tool(name: "a{{graphql_tool}}", {asks}) {sdl}'},
            {
                "index.graphql": sdl,
                "operations/o.graphql": 'query O($x: Int @mcpToolArg(desc: "d")) @mcpTool { a(x: $x) }',
            },
        )
    ):
        assert len(reported(tmp_path / str(place), files)) == 1


@pytest.mark.parametrize("document", ["query O { a }", "{ a }"])
def test_operation_that_is_missing_is_told_with_its_place(tmp_path: Path, document: str) -> None:
    files = {
        "index.graphql": 'extend schema @tool(name: "t", prescribed: "A") type Query { a: Int }',
        "ops.graphql": document,
    }

    (told,) = reported(tmp_path, files)

    assert "@sdl(executables: [{document, persist: true}])" in told
