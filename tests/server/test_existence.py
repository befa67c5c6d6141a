"""What a known caller may not use is, byte for byte, as what does not exist. The index is read for neither."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from handler.bundle.stored import bundle_key
from handler.storage.local import MemoryStorage
from handler.storage.storage import StoredObject
from tests.support.codes import graphql_errors, unknown_tool
from tests.support.endpoints import compiled
from tests.support.function import Answer, Function, running_function
from tests.support.identities import HOLDER, identified

CLAIMS = {"iss": "https://idp.example", "sub": "4711"}

CLOSED = "query Closed { closed }\n"
FILES: Mapping[str, str] = {
    "index.graphql": """
        extend schema
          @sdl(executables: [{document: "closed.graphql", persist: true}])
          @tool(name: "all", graphql: [{expose: true, types: "Query", fields: ".*"}])
          @tool(name: "invisible", graphql: [{expose: true, types: "Query", fields: "closed"}], scopes: ["a"])
          @tool(name: "unlisted", graphql: [{expose: true, types: "Query", fields: "closed"}], aliases: ["oldalias"])
        type Query { open: Item closed: Int node(closed: Int, order: Order): Item }
        type Item { id: ID! closed: Int }
        type Shut { id: ID! }
        enum Order { ASC }
    """,
    "closed.graphql": CLOSED,
    "operations/prescribed.graphql": 'query P @mcpTool(name: "prescribed" scopes: ["a"]) { closed }',
    "config.yaml": """
        graphql: {mode}
        access:
          anonymous: allow
          policies:
            - {{type: Query, rules: [{{condition: false, fields: [closed]}}], policyDefault: {{condition: true}}}}
            - {{type: Item, rules: [{{condition: false, fields: [closed]}}], policyDefault: {{condition: true}}}}
    """,
}


class CountingStorage(MemoryStorage):
    """Keeps the key of every read."""

    def __init__(self) -> None:
        super().__init__()
        self.reads: list[str] = []

    def read(self, key: str, *, etag: str | None = None, timeout_s: float = 0) -> StoredObject | None:
        self.reads.append(key)
        return super().read(key, etag=etag, timeout_s=timeout_s)


@contextmanager
def serving(folder: Path, mode: str = "on") -> Iterator[tuple[Function, CountingStorage]]:
    storage = CountingStorage()
    endpoint = compiled(folder, {**FILES, "config.yaml": FILES["config.yaml"].format(mode=mode)})
    with running_function(identified(endpoint, CLAIMS, issuers=["https://idp.example"]), storage=storage) as function:
        yield function, storage


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Function, CountingStorage]]:
    with serving(tmp_path) as serving_one:
        yield serving_one


def told(answer: Answer, word: str) -> tuple[int, Any, bytes]:
    """All that an answer tells, but for the word that the caller wrote."""
    return answer.status, sorted(answer.headers.items()), answer.body.replace(word.encode(), b"*")


def unknown(name: str) -> str:
    """A name of the same length that nothing has."""
    return name[:-1] + "_"


INVISIBLE = ["invisible", "unlisted", "oldalias", "prescribed"]


@pytest.mark.parametrize("arguments", [{}, {"query": "{ open { id } }"}, {"nonsense": 1}], ids=str)
@pytest.mark.parametrize("modern", [False, True])
@pytest.mark.parametrize("name", INVISIBLE)
def test_invisible_tool_is_called_as_one_that_does_not_exist(
    served: tuple[Function, CountingStorage], name: str, modern: bool, arguments: dict[str, Any]
) -> None:
    function, storage = served
    answers = [
        function.request("tools/call", {"name": each, "arguments": arguments}, modern=modern, headers=HOLDER)
        for each in (name, unknown(name))
    ]

    assert answers[0].json["error"] == unknown_tool(name)
    assert told(answers[0], name) == told(answers[1], unknown(name))
    assert [key for key in storage.reads if ".index" in key] == []


@pytest.mark.parametrize("modern", [False, True])
@pytest.mark.parametrize("name", INVISIBLE)
def test_schema_of_an_invisible_tool_is_read_as_that_of_one_that_does_not_exist(
    served: tuple[Function, CountingStorage], name: str, modern: bool
) -> None:
    function, storage = served
    answers = [
        function.request(
            "resources/read", {"uri": f"stile://api/things/tools/{each}.graphql"}, modern=modern, headers=HOLDER
        )
        for each in (name, unknown(name))
    ]

    assert answers[0].json["error"]["code"] == (-32602 if modern else -32002)
    assert told(answers[0], name) == told(answers[1], unknown(name))
    assert [key for key in storage.reads if ".index" in key] == []


@pytest.mark.parametrize("parameters", [{"query": "{ open { id } }"}, {"query": "{"}, {"documentId": "sha256:0"}, {}])
@pytest.mark.parametrize("name", INVISIBLE)
def test_invisible_tool_has_no_route_as_one_that_does_not_exist(
    served: tuple[Function, CountingStorage], name: str, parameters: dict[str, str]
) -> None:
    function, storage = served
    for ask in (function.graphql, function.get):
        answers = [ask(parameters, f"/tools/{each}/graphql", headers=HOLDER) for each in (name, unknown(name))]

        assert answers[0].status == 404
        assert told(answers[0], name) == told(answers[1], unknown(name))
    assert [key for key in storage.reads if ".index" in key] == []


@pytest.mark.parametrize("name", INVISIBLE)
def test_anonymous_callers_are_challenged_for_an_invisible_tool_as_for_one_that_does_not_exist(
    served: tuple[Function, CountingStorage], name: str
) -> None:
    function, storage = served
    asked = {"query": "{ open { id } }"}

    def answers(tool: str) -> list[Answer]:
        path = f"/tools/{tool}/graphql"
        return [function.call(tool, asked), function.graphql(asked, path), function.get(asked, path)]

    for invisible, missing in zip(answers(name), answers(unknown(name)), strict=True):
        assert invisible.status == 401
        assert invisible.headers["www-authenticate"].startswith('Bearer realm="api/things", resource_metadata=')
        assert told(invisible, name) == told(missing, unknown(name))
    assert [key for key in storage.reads if ".index" in key] == []


@pytest.mark.parametrize("name", INVISIBLE)
def test_anonymous_callers_are_not_sent_for_a_credential_where_there_is_none(tmp_path: Path, name: str) -> None:
    endpoint = compiled(tmp_path, {**FILES, "config.yaml": FILES["config.yaml"].format(mode="on")})
    with running_function(endpoint) as function:
        for each in (name, unknown(name)):
            routed = function.graphql({"query": "{ open { id } }"}, f"/tools/{each}/graphql")

            assert function.call(each, {}).json["error"] == unknown_tool(each)
            assert (routed.status, routed.json) == (404, graphql_errors("there is no such tool", "tool-not-found"))


def test_prescribed_tool_that_an_anonymous_caller_may_use_has_no_route_for_anybody(tmp_path: Path) -> None:
    files = {**FILES, "operations/o.graphql": 'query O @mcpTool(name: "mine") { open { id } }'}
    endpoint = compiled(tmp_path, {**files, "config.yaml": FILES["config.yaml"].format(mode="on")})
    with running_function(identified(endpoint, CLAIMS)) as function:
        for headers in ({}, HOLDER):
            assert function.graphql({"query": "{ open { id } }"}, "/tools/mine/graphql", headers=headers).status == 404


def test_tools_that_are_there_need_the_index_to_run_a_document(served: tuple[Function, CountingStorage]) -> None:
    function, storage = served
    function.query(
        "all",
        "{ open { id } }",
    )
    function.graphql({"query": "{ open { id } }"}, "/tools/all/graphql", headers=HOLDER)

    assert len([key for key in storage.reads if ".index" in key]) == 1


@pytest.mark.parametrize("mode", ["on", "persisted"])
@pytest.mark.parametrize("operation", [None, "Closed", "P", "Other"])
@pytest.mark.parametrize("text", [CLOSED, FILES["operations/prescribed.graphql"]])
def test_document_of_which_nothing_is_open_is_as_one_that_does_not_exist(
    tmp_path: Path, mode: str, operation: str | None, text: str
) -> None:
    denied = f"sha256:{sha256(text.encode()).hexdigest()}"
    missing = f"sha256:{'0' * 64}"
    with serving(tmp_path, mode) as (function, storage):
        answers = [
            function.graphql({"documentId": each, "operationName": operation}, headers=HOLDER)
            for each in (denied, missing)
        ]
        kept = storage.read(bundle_key("api/things"))

    assert kept is not None
    assert denied.encode() in kept.body
    assert answers[0].status == 400
    assert told(answers[0], denied) == told(answers[1], missing)
    assert [key for key in storage.reads if ".index" in key] == []


# What is denied, and what is not in the schema: as long, and as near to the names that are open.
COORDINATES = [
    ("{ closed }", "{ clozed }"),
    ("{ open { closed } }", "{ open { clozed } }"),
    ("{ open { closed(a: 1) { b } } }", "{ open { clozed(a: 1) { b } } }"),
    ("{ node(closed: 1) { id } }", "{ node(clozed: 1) { id } }"),
    ("{ open { ...F } } fragment F on Item { closed }", "{ open { ...F } } fragment F on Item { clozed }"),
    ("{ ... on Shut { id } }", "{ ... on Shup { id } }"),
    ('{ __type(name: "Query") { name } closed }', '{ __type(name: "Query") { name } clozed }'),
]


@pytest.mark.parametrize(("denied", "unknown"), COORDINATES)
def test_denied_field_is_refused_as_one_that_does_not_exist(
    served: tuple[Function, CountingStorage], denied: str, unknown: str
) -> None:
    function, _ = served
    for path in ("/graphql", "/tools/all/graphql"):
        for ask in (function.graphql, function.get):
            answers = [ask({"query": query}, path, headers=HOLDER) for query in (denied, unknown)]

            assert answers[0].status == 400
            assert _told_but_names(answers[0]) == _told_but_names(answers[1])
    calls = [function.call("all", {"query": query}, headers=HOLDER) for query in (denied, unknown)]
    assert calls[0].result["isError"] is True
    assert _told_but_names(calls[0]) == _told_but_names(calls[1])


def _told_but_names(answer: Answer) -> tuple[int, Any, bytes]:
    status, headers, body = told(answer, "closed")
    for name in (b"clozed", b"Shut", b"Shup"):
        body = body.replace(name, b"*")
    return status, headers, body


def test_introspection_says_nothing_of_a_denied_type_or_field(served: tuple[Function, CountingStorage]) -> None:
    function, _ = served
    for path in ("/graphql", "/tools/all/graphql"):
        answers = [
            function.graphql(
                {"query": f'{{ __type(name: "{name}") {{ name fields {{ name }} }} }}'}, path, headers=HOLDER
            )
            for name in ("Shut", "Shup")
        ]
        whole = function.graphql({"query": "{ __schema { types { name fields { name } } } }"}, path, headers=HOLDER)

        assert answers[0].body == answers[1].body == b'{"data":{"__type":null}}'
        assert (whole.status, b"closed" in whole.body, b"Shut" in whole.body) == (200, False, False)
