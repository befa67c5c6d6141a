"""Answers of an API that cost, to a request by each way that has them."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from typing import Any

from tests.work.documents import call, sent
from tests.work.genomes import MAX_ANSWER_BYTES, Case, Family, Gene, Genome, json_of
from tests.work.values import DOCUMENT_ID

QUERY = "query Q0 { everything { __typename ... on Account { id name color amounts parent { id } } } }"
REQUESTS = (
    call("everything", {}),
    call("ask", {"query": QUERY}),
    sent(QUERY, 2),
    call("pass_on", {"query": QUERY}),
    Case(
        path="/api/things/graphql", body=json.dumps({"documentId": DOCUMENT_ID, "operationName": "Everything"}).encode()
    ),
    call("search", {"text": "x"}),
)
TEXTS = ("x", " ", "\n", "\\", "é", "did you mean ")
TYPES = ("application/json", "text/html", "application/graphql-response+json", "application/json; charset=x", "", "a/b")
KINDS = (
    "objects",
    "numbers",
    "texts",
    "letters",
    "levels",
    "members",
    "errors",
    "paths",
    "digits",
    "junk",
    "type",
    "zip",
    "request",
    "nested lists",
    "wide objects",
    "long integers",
    "small numbers",
    "empty values",
    "half pairs",
)
LOOSE = "query Q0 { loose cubes }"
LOOSE_REQUESTS = (
    call("loose", {}),
    call("ask", {"query": LOOSE}),
    sent(LOOSE, 2),
    call("pass_on", {"query": LOOSE}),
    sent(LOOSE, 4),
    call("everything", {}),
)
"""For answers of any JSON (``loose``), and of lists in lists (``cubes``)."""
LOOSE_KINDS = frozenset(KINDS[-6:])


ACCOUNT: dict[str, Any] = {
    "__typename": "Account",
    "id": "1",
    "name": "x",
    "color": None,
    "amounts": [],
    "parent": None,
}
OBJECTS: tuple[Any, ...] = (
    ACCOUNT,
    {},
    {"__typename": "Nothing"},
    {**ACCOUNT, "color": "X", "amounts": ["x"], "parent": {}},
    None,
    [],
)


def _answer(genome: Genome) -> bytes:
    content: dict[str, Any] = {}
    for gene in genome:
        _add(content, gene)
    if not content:
        content = {"data": {"everything": []}}
    escaped = any(gene.kind == "half pairs" or (gene.kind == "texts" and gene.variant > 2) for gene in genome)
    raw = json_of(content, ensure_ascii=escaped, separators=(",", ":"))
    junk = next((gene for gene in genome if gene.kind == "junk"), None)
    return raw if junk is None else _with_junk(raw, junk)


def _everything(content: dict[str, Any], more: list[Any]) -> None:
    """Put more values into the list that was asked for."""
    found = content.setdefault("data", {}).setdefault("everything", [])
    content["data"]["everything"] = [*(found if isinstance(found, list) else [found]), *more]


def _add(content: dict[str, Any], gene: Gene) -> None:
    count = min(gene.count, 400_000)
    match gene.kind:
        case "members":
            content.setdefault("data", {}).update({f"m{number}": [] for number in range(count)})
        case "errors":
            message = TEXTS[gene.variant] * 40 + "Did you mean x?"
            content.setdefault("errors", []).extend([{"message": message, "extensions": {"code": "X"}}] * count)
        case "paths":
            message = TEXTS[gene.variant] * gene.count + "x"
            content.setdefault("errors", []).append({"message": message, "path": ["a"] * min(count, 1_000)})
        case "nested lists":
            inner: Any = ([], [[]], [1], [[1]], [[None]], [[], []])[gene.variant]
            content.setdefault("data", {"loose": None})["cubes"] = [inner] * gene.count
        case kind if kind in LOOSE_KINDS:
            data = content.setdefault("data", {"cubes": []})
            data["loose"] = [_loose(gene), data["loose"]] if data.get("loose") else _loose(gene)
        case _:
            _everything(content, _values(gene, count))


def _loose(gene: Gene) -> Any:
    """What stands in a field of any JSON."""
    match gene.kind:
        case "wide objects":
            value: Any = (0, "", [], {}, 0, 0)[gene.variant]
            members = (0, 0, 0, 0, 16, 64)[gene.variant]
            names = [f"{number}" for number in range(gene.count)]
            size = members or len(names)
            objects = [dict.fromkeys(names[start : start + size], value) for start in range(0, len(names), size)]
            return objects if members else objects[0]
        case "long integers":
            digits = (4_000, 4_299, 1_000, 300, 20, 10)[gene.variant]
            return [int("9" * digits)] * min(gene.count, MAX_ANSWER_BYTES // digits)
        case "small numbers":
            return [(7e-317, 1e-300, 2.2250738585072011e-308, 1e300, 1e-05, 0.1)[gene.variant]] * gene.count
        case "empty values":
            return [({}, [], {"": {}}, "", [{}], {"a": 0, "b": 0})[gene.variant]] * gene.count
        case _:
            halves = ("\ud800", "\udc00", "\ud83d\ude00", "\ude00\ud83d", "\ud800x", "\ud800\u00e9")[gene.variant]
            return halves * gene.count if gene.count % 2 else [halves] * gene.count


def _values(gene: Gene, count: int) -> list[Any]:
    """What stands in the list that was asked for."""
    match gene.kind:
        case "objects":
            return [OBJECTS[gene.variant]] * count
        case "numbers":
            return [{**ACCOUNT, "amounts": [(1, 1.5, 1e300, "1", None, True)[gene.variant]] * gene.count}]
        case "texts":
            return [{**ACCOUNT, "name": "é<>&\u2028" * (1 + gene.variant)} for _ in range(count)]
        case "letters":
            return [{**ACCOUNT, "name": TEXTS[gene.variant] * gene.count}]
        case "levels":
            return [_nested(min(count, 900), in_lists=bool(gene.variant % 2))]
        case "digits":
            return [int("9" * min(gene.count, 4_000))]
        case _:
            return []


def _nested(levels: int, *, in_lists: bool) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value] if in_lists else {"a": value}
    return value


def _with_junk(raw: bytes, gene: Gene) -> bytes:
    count = gene.count
    match gene.variant:
        case 0:
            return raw + b" " * count
        case 1:
            return b"[" * count
        case 2:
            return b'{"data": {"everything": ' + b"9" * count + b"}}"
        case 3:
            return b'{"data": {"everything": "' + b"\\u0041" * count + b'"}}'
        case 4:
            return b"<html>" + b" " * count + b"did you mean" * 5
        case _:
            return b'{"data": {"everything": [' + b"1.0000000001," * count + b"1]}}"


def _answer_case(genome: Genome) -> Case:
    request = next((gene.variant for gene in genome if gene.kind == "request"), 0)
    requests = LOOSE_REQUESTS if any(gene.kind in LOOSE_KINDS for gene in genome) else REQUESTS
    kind = next((TYPES[gene.variant] for gene in genome if gene.kind == "type"), TYPES[0])
    content = _answer(genome)
    headers = {"content_type": kind}
    if any(gene.kind == "zip" for gene in genome):
        content, headers = gzip.compress(content, 1), {**headers, "content_encoding": "gzip"}
    return replace(requests[request], answer=content, answer_headers=headers)


ANSWERS = Family("answers", KINDS, _answer_case)
