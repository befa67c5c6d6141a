"""Manifests of persisted queries as operations: what they become, and places of what is not valid in them."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from handler.bundle.tools import PrescribedTool
from tests.support.diagnostics import Reported
from tests.support.endpoints import compiled, reported
from tests.support.examples import examples

APOLLO = "operations/persisted-query-manifest.json"
RELAY = "operations/web/persisted_queries.json"
FILES = {
    "index.graphql": "type Query { a(n: Int): A } type A { id: ID next: A } type Mutation { b: Int }",
    "config.yaml": "tools: operations\n",
}
READ_A = "# Reads a.\nquery ReadA($n: Int) {\n  a(n: $n) { ...Parts }\n}\nfragment Parts on A { id }"


def digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def entry(body: str = READ_A, **values: Any) -> dict[str, Any]:
    return {"id": digest(body), "body": body, "name": "ReadA", "type": "query", **values}


def apollo(*entries: Any, **values: Any) -> dict[str, str]:
    top = {"format": "apollo-persisted-query-manifest", "version": 1, "operations": list(entries), **values}
    return FILES | {APOLLO: json.dumps(top, indent=2)}


def relay(**texts: Any) -> dict[str, str]:
    return FILES | {RELAY: json.dumps(texts, indent=2)}


def test_apollos_operations_are_tools_with_their_texts(tmp_path: Path) -> None:
    made = compiled(tmp_path, apollo(entry(), entry("query Next { a { next { id } } }", name="Next", clientName=None)))

    tools = [each.tool for each in made.made if isinstance(each.tool, PrescribedTool)]
    assert [(tool.name, tool.operation.sha256) for tool in tools] == [
        ("ReadA", digest(READ_A)),
        ("Next", digest("query Next { a { next { id } } }")),
    ]
    assert tools[0].entry["description"] == "Reads a."
    assert [each.id for each in made.documents] == [f"sha256:{tool.operation.sha256}" for tool in tools]


def test_relays_texts_are_tools_and_documents_by_their_ids(tmp_path: Path) -> None:
    made = compiled(
        tmp_path, relay(**{"0f8e": READ_A, f"sha256:{digest('query B { a { id } }')}": "query B { a { id } }"})
    )

    assert [each.tool.name for each in made.made] == ["ReadA", "B"]
    assert [each.id for each in made.documents] == ["0f8e", f"sha256:{digest('query B { a { id } }')}"]


def test_without_tools_in_config_they_are_persisted_documents_only(tmp_path: Path) -> None:
    made = compiled(tmp_path, apollo(entry()) | {"config.yaml": "default_tool: false\n"})

    assert made.made == ()
    assert [each.operations for each in made.documents] == [("ReadA",)]


def test_mistake_in_a_text_has_its_place_in_the_manifest(tmp_path: Path) -> None:
    text = '{"1":\n  "query ReadA {\\n\\ta { \\u0069d # \\ud83d\\ude00 \\/\\n nope } }"}'

    assert reported(tmp_path, FILES | {RELAY: text}) == [
        f"{RELAY}:2:{text.splitlines()[1].index('nope') + 1} unknown-field"
    ]


def test_text_that_cannot_be_parsed_has_its_place_in_the_manifest(tmp_path: Path) -> None:
    text = '{"1":\n  "query ReadA {\\n  a { id \\"x"}'

    assert reported(tmp_path, FILES | {RELAY: text}) == [f"{RELAY}:2:31 syntax-error"]


def test_left_out_operation_of_a_manifest_has_its_place(tmp_path: Path) -> None:
    made = compiled(tmp_path, apollo(entry(), entry("mutation B { b }", name="B", type="mutation")))

    assert [Reported(each) for each in made.warnings if each.code == "left-out-operation"] == [
        f"{APOLLO}:13:16 left-out-operation: B"
    ]


def test_operation_in_a_file_and_in_a_manifest_is_refused(tmp_path: Path) -> None:
    files = {**apollo(entry()), "operations/a.graphql": READ_A}

    assert reported(tmp_path, files) == [f"{APOLLO}:7:28 duplicate-operation: operations/a.graphql:2:1"]


def test_text_of_a_manifest_takes_no_fragments_of_files(tmp_path: Path) -> None:
    files = {**relay(a="query A { a { ...Parts } }"), "operations/parts.graphql": "fragment Parts on A { id }"}

    assert f"{RELAY}:2:26 unknown-fragment" in reported(tmp_path, files)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (relay(**{"id with space": READ_A}), f"{RELAY}:2:20 invalid-manifest: printable"),
        (relay(**{"x" * 257: READ_A}), f"{RELAY}:2:264 invalid-manifest: 256"),
        (relay(a={"text": READ_A}), f'{RELAY}:2:8 invalid-manifest: "a"'),
        (relay(**{"sha256:" + "0" * 64: READ_A}), f"{RELAY}:2:78 invalid-manifest: SHA-256"),
        (relay(a="query { a }\ud800"), f"{RELAY}:2:8 invalid-manifest: half a character"),
        (
            FILES | {RELAY: '{"a": "query A { a { id } }",\n "a": "query B { a { id } }"}'},
            f"{RELAY}:2:7 duplicate-key: a",
        ),
        (FILES | {RELAY: "[" * 100_000}, f"{RELAY} invalid-manifest: nested too deeply"),
        (FILES | {RELAY: "[" * 500 + "]" * 500}, f"{RELAY} invalid-manifest: nested too deeply"),
        (FILES | {RELAY: json.dumps([0] * 200_001)}, f"{RELAY} invalid-manifest: 200,000"),
        (FILES | {RELAY: '{"a": 1e999}'}, f"{RELAY} invalid-manifest: invalid JSON"),
        (FILES | {RELAY: ""}, f"{RELAY}:1:1 invalid-manifest: invalid JSON"),
        (FILES | {RELAY: "7"}, f"{RELAY}:1:1 invalid-manifest: Apollo & Relay"),
        (FILES | {RELAY: " " * 8_000_001}, f"{RELAY} unreadable-file: 8000001 bytes"),
        (apollo(version=True), f"{APOLLO}:3:14 invalid-manifest: expected 1"),
        (apollo(format="apollo"), f"{APOLLO}:2:13 invalid-manifest: apollo-persisted-query-manifest"),
        (apollo(format=None), f"{APOLLO}:2:13 invalid-manifest: apollo-persisted-query-manifest"),
        (
            FILES | {APOLLO: '{"operations": []}'},
            f'{APOLLO}:1:1 invalid-manifest: "format" is missing & apollo-persisted-query-manifest',
        ),
        (apollo(operations=None), f"{APOLLO}:4:17 invalid-manifest: a list"),
        (apollo([]), f"{APOLLO}:5:5 invalid-manifest: an object"),
        (apollo(entry(), entry(name="Other")), f"{APOLLO}:12:13 duplicate-id: {digest(READ_A)}"),
        (apollo(entry(id=7)), f'{APOLLO}:6:13 invalid-manifest: "id"'),
        (apollo({"id": "1", "body": READ_A, "type": "query"}), f'{APOLLO}:5:5 invalid-manifest: "name"'),
        (apollo(entry(type="fragment")), f"{APOLLO}:9:15 invalid-manifest: query or mutation or subscription"),
        (apollo(entry(type="mutation")), f'{APOLLO}:7:28 invalid-manifest: mutation "ReadA"'),
        (apollo(entry(name="B")), f'{APOLLO}:7:28 invalid-manifest: query "B"'),
        (apollo(entry(READ_A + " query C { a { id } }")), f'{APOLLO}:7:28 invalid-manifest: query "ReadA"'),
        (apollo(entry("fragment P on A { id }")), f"{APOLLO}:7:16 no-operation"),
        (apollo(entry("")), f"{APOLLO}:7:16 no-operation"),
    ],
)
def test_hostile_manifest_is_refused_at_its_place(tmp_path: Path, files: dict[str, str], expected: str) -> None:
    assert expected in reported(tmp_path, files)


@pytest.mark.parametrize("mode", ["documentId", "apollo"])
def test_id_that_is_not_the_digest_is_a_warning_where_the_api_gets_the_digest(tmp_path: Path, mode: str) -> None:
    known = {"config.yaml": f"tools: operations\nupstream: {{documents: {mode}}}\n"}

    made = compiled(tmp_path, relay(**{"0f8e": READ_A, digest("query B { a { id } }"): "query B { a { id } }"}) | known)

    assert [Reported(each) for each in made.warnings if each.code == "foreign-document-id"] == [
        f"{RELAY}:2:11 foreign-document-id: SHA-256"
    ]


def test_json_with_operations_under_another_name_is_a_warning(tmp_path: Path) -> None:
    files = {**apollo(entry()), "operations/queries.json": '{"a": "query A { a { id } }"}', "operations/v.json": "{}"}

    assert [Reported(each) for each in compiled(tmp_path, files).warnings if each.code == "unread-file"] == [
        "operations/queries.json unread-file: persisted-query-manifest.json & persisted_queries.json"
    ]


def test_large_manifest_is_read(tmp_path: Path) -> None:
    count = examples(2_000)
    entries = [entry(f"query Q{n} {{ a(n: {n}) {{ id }} }}", name=f"Q{n}") for n in range(count)]

    assert len(compiled(tmp_path, apollo(*entries)).made) == count
