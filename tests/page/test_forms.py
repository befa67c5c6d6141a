"""A form for every kind of argument, filled in as a person does, sends the value that was meant."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.page.browser import Look, looking
from tests.page.endpoints import STATE_KEY, kinds
from tests.page.servers import serving
from tests.support.api import Api

Steps = list[tuple[str, ...]]

FORMS: dict[str, tuple[str, Steps, Any]] = {
    "an enum, and a list of enums": (
        "enums",
        [("enter", "/one", "RED"), ("add", "/many"), ("enter", "/many/0", "GREEN"), ("enter", "/hue", "BLUE")],
        {"one": "RED", "many": ["GREEN"], "hue": "BLUE"},
    ),
    "lists, and lists of lists": (
        "lists",
        [
            ("add", "/flat"), ("enter", "/flat/0", "3"), ("add", "/flat"), ("enter", "/flat/1", "-4"),
            ("add", "/deep"), ("add", "/deep/0"), ("enter", "/deep/0/0", "1"),
            ("add", "/texts"), ("enter", "/texts/0", "<b>"),
        ],
        {"flat": [3, -4], "deep": [[1]], "texts": ["<b>"]},
    ),
    "objects in objects and in lists": (
        "nested",
        [
            ("enter", "/order/customer/email", "a@b.example"), ("expand", "/order/customer/address"),
            ("enter", "/order/customer/address/street", "S"), ("enter", "/order/customer/address/zip", "1"),
            ("add", "/order/lines"), ("enter", "/order/lines/0/product", "p"),
            ("enter", "/order/lines/0/quantity", "2"), ("enter", "/order/rush", "true"),
        ],
        {
            "order": {
                "customer": {"email": "a@b.example", "address": {"street": "S", "zip": "1"}},
                "lines": [{"product": "p", "quantity": 2}],
                "rush": True,
            }
        },
    ),
    "an object that contains itself": (
        "recursive",
        [
            ("expand", "/where"), ("expand", "/where/not"), ("expand", "/where/not/name"),
            ("enter", "/where/not/name/eq", "x"), ("add", "/where/and"), ("expand", "/where/and/0/name"),
            ("enter", "/where/and/0/name/contains", "y"),
        ],
        {"where": {"not": {"name": {"eq": "x"}}, "and": [{"name": {"contains": "y"}}]}},
    ),
    "a zero, a false and what is left out": (
        "nullable",
        [("enter", "/number", "0"), ("enter", "/yes", "false")],
        {"number": 0, "yes": False},
    ),
    "one member of an object": (
        "oneof",
        [("choose", "/by", "email"), ("enter", "/by/email", "a@b.example")],
        {"by": {"email": "a@b.example"}},
    ),
    "one member that is an object": (
        "oneof",
        [("choose", "/by", "key"), ("enter", "/by/key/name", "n"), ("enter", "/by/key/value", "5")],
        {"by": {"key": {"name": "n", "value": 5}}},
    ),
    "custom scalars": (
        "scalars",
        [
            ("enter", "/when", "2026-01-31T09:30:00Z"), ("enter", "/day", "2026-01-31"), ("enter", "/url", "https://a.example/"),
            ("enter", "/uuid", "123e4567-e89b-12d3-a456-426614174000"), ("choose", "/big", "text"),
            ("fill", "/big", "9007199254740993"), ("enter", "/money", "12.50"), ("enter", "/price", "0.1"),
        ],
        {
            "when": "2026-01-31T09:30:00Z", "day": "2026-01-31", "url": "https://a.example/",
            "uuid": "123e4567-e89b-12d3-a456-426614174000", "big": "9007199254740993", "money": "12.50", "price": 0.1,
        },
    ),
}  # fmt: skip

PYTHON: dict[str, tuple[str, Steps, Any]] = {
    "a union by a discriminator": (
        "pay",
        [
            ("choose", "/by", "Transfer"), ("enter", "/by/iban", "DE00"), ("choose", "/amount", "text"),
            ("fill", "/amount", "12.50"), ("null", "/note"),
        ],
        {"by": {"kind": "transfer", "iban": "DE00", "on": None}, "amount": "12.50", "note": None},
    ),
    "a list of literals, a mapping and a tuple": (
        "choose",
        [
            ("add", "/choices/colours"), ("enter", "/choices/colours/0", "green"),
            ("property", "/choices/sizes", "wide"),
            ("enter", "/choices/sizes/wide", "4"), ("enter", "/choices/pair/0", "1"), ("enter", "/choices/pair/1", "b"),
        ],
        {"choices": {"colours": ["green"], "sizes": {"wide": 4}, "pair": [1, "b"]}, "anything": None},
    ),
}  # fmt: skip


def take(look: Look, step: tuple[str, ...]) -> None:
    """Do one step at a field."""
    kind, path, *value = step
    field = look.field(path)
    match kind:
        case "enter":
            look.enter(path, value[0])
        case "fill":
            field.locator("input:visible").last.fill(value[0])
        case "add":
            field.locator('[data-part="add-item"]').last.click()
        case "expand":
            field.locator('[data-part="expand"]').first.click()
        case "choose":
            field.locator("select").first.select_option(label=value[0])
        case "null":
            field.get_by_role("button", name="null").click()
        case "property":
            field.locator('[data-part="add-property"]').click()
            look.page.keyboard.type(value[0])


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Api]]:
    folder = tmp_path_factory.mktemp("forms")
    with (
        kinds(folder) as (_, api),
        serving("dev", str(folder), modules="page_tools", STILE_STATE_KEY=STATE_KEY) as server,
    ):
        yield f"{server.url}/shop/kinds", api


@pytest.fixture
def look(browser: Any, endpoint: tuple[str, Api]) -> Iterator[Look]:
    with looking(browser, endpoint[0]) as window:
        window.part("tool").first.wait_for()
        yield window


@pytest.mark.parametrize("what", FORMS)
def test_form_sends_what_was_meant(look: Look, endpoint: tuple[str, Api], what: str) -> None:
    tool, steps, sent = FORMS[what]
    look.open(tool)
    for step in steps:
        take(look, step)
    assert look.findings() == []
    look.send()
    got = endpoint[1].asked[-1].json["variables"]
    assert {name: got[name] for name in sent} == sent
    look.view("json")
    assert json.loads(look.part("json").input_value()).keys() >= sent.keys()


@pytest.mark.parametrize("what", PYTHON)
def test_form_of_a_tool_in_python_sends_what_was_meant(look: Look, what: str) -> None:
    tool, steps, answered = PYTHON[what]
    look.open(tool)
    for step in steps:
        take(look, step)
    assert look.findings() == []
    look.send()
    look.tab("model", bar="result-tabs")
    raw = look.part("raw").first.inner_text()
    assert json.loads(raw) == answered


def test_what_the_server_refuses_stands_beside_its_field(look: Look, endpoint: tuple[str, Api]) -> None:
    look.open("scalars")
    look.enter("/uuid", "12.9")
    before = len(endpoint[1].asked)
    look.send()
    look.field("/uuid").locator('[data-part="field-error"]').wait_for()
    assert len(endpoint[1].asked) == before


def test_errors_of_a_tool_in_python_are_shown_without_details_of_the_machine(look: Look) -> None:
    look.open("fail")
    look.enter("/how", "told")
    assert "There is nothing to say about <b>this</b>." in look.send()
    look.enter("/how", "unexpected")
    assert "a detail of the machine" not in look.send()


def test_results_of_several_blocks_are_shown(look: Look) -> None:
    look.open("two_blocks")
    told = look.send()
    assert "the first" in told
    assert "the <i>second</i>" in told
