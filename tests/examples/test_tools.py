"""The demo's tools in Python: in memory, and through the function against the demo's API."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from customer_tools import kit
from customer_tools.chart import BAR, GAP, HEIGHT, bar_chart

from handler.bundle.tools import CodeTool
from handler.compiler.compile import Compiled, compile_endpoint
from stile.testing import TestClient
from tests.conftest import DEMO
from tests.support.demo_code import MODULES, demo_with_code
from tests.support.function import Function, running_function
from tests.support.upstream import Upstream

ADA = "ada@example.com"


def operation(name: str, variables: Mapping[str, Any]) -> dict[str, Any]:
    if variables["email"] != ADA:
        return {"customer": None}
    if name == "CustomerLookup":
        return {"customer": {"name": "Ada", "address": None}}
    orders = [
        {"number": "SO-3", "status": "PENDING", "total": "1.50"},
        {"number": "SO-2", "status": "CANCELLED", "total": "100.00"},
        {"number": "SO-1", "status": "PAID", "total": "2.25"},
    ]
    return {"customer": {"orders": {"totalCount": 3, "edges": [{"node": each} for each in orders]}}}


def test_a_summary_joins_two_operations() -> None:
    answer = TestClient(kit, operation=operation).call("customer_summary", email=ADA)

    assert answer.data == {"name": "Ada", "city": None, "orders": 3, "spent": "3.75", "last_order": "SO-3"}


def test_a_summary_of_nobody_is_an_error_that_the_model_reads() -> None:
    answer = TestClient(kit, operation=operation).call("customer_summary", email="eve@example.com")

    assert answer.is_error
    assert answer.text == "There is no customer with the email address eve@example.com."


def test_customers_are_found_by_what_the_schema_lets_through() -> None:
    asked: list[Any] = []

    def graphql(_query: str, variables: Mapping[str, Any]) -> dict[str, Any]:
        asked.append(variables)
        return {"customers": {"edges": [{"node": {"name": "Ada", "email": ADA}}]}}

    client = TestClient(kit, graphql=graphql)

    assert client.call("find_customers", state="CA").data == {"result": [f"Ada <{ADA}>"]}
    assert asked == [{"filter": {"state": "CA"}}]
    for wrong in ({}, {"state": "California"}, {"salary": 1}):
        assert client.call("find_customers", **wrong).is_error
    assert len(asked) == 1


def graphql(_query: str, variables: Mapping[str, Any]) -> dict[str, Any]:
    days = ["2026-02-01T10:00:00+00:00", "2026-02-28T10:00:00+00:00", "2025-03-01T10:00:00+00:00"]
    orders = {"edges": [{"node": {"placedAt": day}} for day in days]}
    return {"customer": {"orders": orders} if variables["email"] == ADA else None}


def test_a_chart_is_an_image_with_its_numbers_beside_it() -> None:
    answer = TestClient(kit, graphql=graphql).call("orders_chart", email=ADA, year=2026)

    text, image = answer.json["content"]
    assert text["text"].startswith("Orders in 2026: Jan 0, Feb 2, Mar 0")
    assert image["mimeType"] == "image/png"
    assert base64.b64decode(image["data"]) == bar_chart([0, 2, *[0] * 10])


def test_a_chart_of_nobody_is_an_error_that_the_model_reads() -> None:
    assert TestClient(kit, graphql=graphql).call("orders_chart", email="eve@example.com", year=2026).is_error


def pixels_of(png: bytes) -> list[bytes]:
    """The rows of a PNG of one byte a pixel; every checksum is checked."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    at, chunks = 8, {}
    while at < len(png):
        size, name = struct.unpack(">I4s", png[at : at + 8])
        chunks[name] = png[at + 8 : at + 8 + size]
        assert struct.unpack(">I", png[at + 8 + size : at + 12 + size])[0] == zlib.crc32(name + chunks[name])
        at += 12 + size
    assert list(chunks) == [b"IHDR", b"PLTE", b"IDAT", b"IEND"]
    width, height = struct.unpack(">II", chunks[b"IHDR"][:8])
    raw = zlib.decompress(chunks[b"IDAT"])
    assert len(raw) == height * (width + 1)
    return [raw[row * (width + 1) + 1 : (row + 1) * (width + 1)] for row in range(height)]


def test_bars_are_as_high_as_their_numbers() -> None:
    rows = pixels_of(bar_chart([2, 0, 1]))

    assert len(rows) == HEIGHT + 1
    middles = [GAP + number * (BAR + GAP) + BAR // 2 for number in range(3)]
    assert [sum(row[middle] == 1 for row in rows) for middle in middles] == [HEIGHT, 0, HEIGHT // 2]


def test_no_orders_are_a_chart_without_bars() -> None:
    assert not any(1 in row for row in pixels_of(bar_chart([0] * 12)))


@pytest.fixture(scope="module")
def served(upstream: Upstream, tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    """The demo's stage with tools in Python, asking the running upstream."""
    return demo_with_code(tmp_path_factory.mktemp("code"), upstream)


@pytest.fixture
def served_function(served: Compiled) -> Iterator[Function]:
    with running_function(served, code_modules=MODULES) as running:
        yield running


def test_the_stage_adds_three_tools_and_no_doubt(served: Compiled) -> None:
    tools = [tool for tool in served.bundle.tools if isinstance(tool, CodeTool)]

    assert [tool.name for tool in tools] == ["customer_summary", "find_customers", "orders_chart"]
    assert [str(each) for each in served.warnings if "code" in each.file] == []
    assert compile_endpoint(Path(DEMO)).bundle.code == ()


def test_the_function_runs_all_three(served_function: Function) -> None:
    found = served_function.call("find_customers", {"city": "Seattle"}).result["structuredContent"]["result"]
    email = found[0].partition("<")[2].rstrip(">")

    summary = served_function.call("customer_summary", {"email": email}).result["structuredContent"]
    chart = served_function.call("orders_chart", {"email": email, "year": 2025}).result["content"]

    assert summary["city"] == "Seattle"
    assert found[0].startswith(summary["name"])
    assert base64.b64decode(chart[1]["data"]).startswith(b"\x89PNG")
