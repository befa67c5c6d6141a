from __future__ import annotations

from pathlib import Path

import pytest

from handler.compiler.checks.client_rules import MAX_DESCRIPTION_BYTES, MAX_ENTRY_BYTES
from tests.support.diagnostics import Reported
from tests.support.endpoints import READABLE, doubted


def doubts(folder: Path, index: str, operation: str = "query O @mcpTool { a }") -> list[Reported]:
    files = {"index.graphql": index, "operations/o.graphql": operation, "config.yaml": READABLE}
    return doubted(folder, files)


def described(text: str) -> str:
    return f'"""{text}""" query O @mcpTool {{ a }}'


def test_description_that_clients_cut_is_a_warning_at_the_tool(tmp_path: Path) -> None:
    fitting = "é" * (MAX_DESCRIPTION_BYTES // 2)

    assert doubts(tmp_path, "type Query { a: Int }", described(fitting)) == []
    assert doubts(tmp_path, "type Query { a: Int }", described(fitting + "!")) == [
        'operations/o.graphql:1:1 long-description: "O" & 2049 & 2048'
    ]


def test_description_of_a_graphql_tool_that_clients_cut_is_a_warning_at_its_directive(tmp_path: Path) -> None:
    text = "x" * 2_049
    index = f"""type Query {{ a: Int }}
extend schema
  @tool(name: "t", description: "{text}", graphql: {{expose: true, types: "Query", fields: "a"}})"""

    assert doubts(tmp_path, index) == ['index.graphql:3:3 long-description: "t" & 2049 & 2048']


def test_list_entry_that_crowds_out_the_conversation_is_a_warning(tmp_path: Path) -> None:
    values = " ".join(f"VALUE_NUMBER_{n}" for n in range(1_000))
    files = {
        "index.graphql": f"enum Place {{ {values} }} type Query {{ a(place: Place): Int }}",
        "operations/o.graphql": "query O($p: Place) @mcpTool { a(place: $p) }",
        "config.yaml": READABLE + "limits: {max_schema_bytes: 0}\n",
    }

    (line,) = doubted(tmp_path, files)

    assert line == f'operations/o.graphql:1:1 large-tool: "O" & {MAX_ENTRY_BYTES} bytes'


def test_enum_whose_meanings_are_left_out_is_one_warning_for_all_tools(tmp_path: Path) -> None:
    values = " ".join(f'"number {n:02}" VALUE_{n:02}' for n in range(45))
    index = f"""
        extend schema @tool(name: "t", prescribed: "O")
        enum Place {{ {values} "xxx" LAST }} enum Other {{ "meant" A }}
        input In {{ place: Place, other: Other }} type Query {{ a(place: Place, in: In): Int }}
    """
    operation = "query O($p: Place, $in: In) @mcpTool { a(place: $p, in: $in) }"

    assert doubts(tmp_path / "1", index, operation) == [
        'operations/o.graphql:1:1 unexplained-enum: t, O & "Place" & 1001 & 1000'
    ]
    assert doubts(tmp_path / "2", index.replace("xxx", "xx"), operation) == []


def test_nothing_is_cut_silently(tmp_path: Path) -> None:
    text = "x" * 20_000

    assert len(doubts(tmp_path, "type Query { a: Int }", described(text))) == 2


PAGES = """
type Query { a: Page, bare: BarePage, b: Page, strict: StrictPage, me: Me } type Me { a: Page }
type Page { edges: [Edge] nodes: [Row] pageInfo: Info }
type BarePage { nodes: [Row] pageInfo: Info }
type StrictPage { edges: [Edge] nodes: [Row] pageInfo: StrictInfo }
type Edge { cursor: ID node: Row } type Row { x: Int } type Info { endCursor: ID } type StrictInfo { endCursor: ID! }
"""


@pytest.mark.parametrize(
    ("selection", "limits", "path"),
    [
        ("a { edges { node { x } } pageInfo { endCursor } }", "", "a"),
        ("me { b: a { nodes { x } pageInfo { end: endCursor } } }", "", "me.b"),
        ("a { edges { cursor node { x } } nodes { x } pageInfo { endCursor } }", "", None),
        ("a { edges { node { x } } }", "", None),
        ("a: bare { nodes { x } pageInfo { endCursor } }", "", None),
        ("a { nodes { x } pageInfo { endCursor } }", "max_result_bytes: 0", None),
        ("a { nodes { x } pageInfo { endCursor } }", "continue: true", None),
        ("strict { nodes { x } pageInfo { endCursor } }", "continue: true", "strict"),
    ],
)
def test_connection_that_cannot_be_shortened_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, selection: str, limits: str, path: str | None
) -> None:
    monkeypatch.setenv("STILE_STATE_KEY", "a-key-of-cursors-that-is-long-enough")
    files = {
        "index.graphql": PAGES,
        "operations/o.graphql": f"query O @mcpTool {{ {selection} }}",
        "config.yaml": READABLE + f"limits: {{{limits}}}\n",
    }

    expected = [f'operations/o.graphql:1:1 missing-cursor: "O" & {path}'] if path else []
    assert doubted(tmp_path, files) == expected
