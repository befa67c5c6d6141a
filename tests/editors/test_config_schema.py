"""The JSON Schema of config.yaml, held against the readers of the compiler in both directions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from handler.commands.editor import config_schema
from handler.compiler.compile import compile_endpoint
from handler.errors.authoring import CompileError, Problem
from tests.conftest import ROOT
from tests.docs.accepted_keys import ALIKE, accepted_keys
from tests.docs.reference import codes, page, tables
from tests.editors.configs import CONFIGS, SDL, changes, json_of_yaml, value_at
from tests.support.endpoints import write_endpoint
from tests.support.examples import FULL, SHARE
from tests.support.icons import SVG

SCHEMA = config_schema()
VALIDATOR = Draft7Validator(SCHEMA)

LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
ONE_OR_MORE = "identity"
"""A section whose keys are named without ``[]``: one mapping is the usual form."""

OF_THE_SHAPE = re.compile(
    r"expected (a mapping|a text|a number|true or false|a whole number|one of|operations|none)|unknown key"
    r"|expected (\w+)( or \w+)+, got"
)
"""Sentences about keys and kinds of values, which a JSON Schema can tell."""


DIFFERENCES = (
    # An empty mapping lacks keys, which the file of a stage may have.
    ("the compiler alone", ("upstream", "auth", "sigv4"), None),
)
"""Configurations on which the schema and the compiler disagree."""


def _keys(schema: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield each key of a schema, as ``accepted_keys`` names it, with the schema of its value."""
    forms = (schema, *schema.get("anyOf", ()))
    items = [each["items"] for each in forms if "items" in each and path != ONE_OR_MORE]
    if items:  # a single item, which may stand without the list, has no names of its own
        yield from _keys(items[0], f"{path}[]")
        return
    for each in forms:
        for key, below in each.get("properties", {}).items():
            if not below.get("deprecated"):
                name = f"{path}.{key}" if path else key
                yield name, below
                yield from _keys(below, name) if name != ALIKE else ()
        if isinstance(each.get("additionalProperties"), dict):
            yield from _keys(each["additionalProperties"], f"{path}.NAME")


KEYS = dict(_keys(SCHEMA, ""))


def _problems(folder: Path, config: Any) -> tuple[Problem, ...]:
    operation = "query O($x: Money) { a(x: $x) list }"
    files = {"index.graphql": SDL, "config.yaml": json.dumps(config), "operations/o.graphql": operation}
    files["ui/orders.html"] = "<!doctype html>"
    files["a.svg"] = SVG
    try:
        compile_endpoint(write_endpoint(folder, files))
    except CompileError as exc:
        return exc.problems
    return ()


def test_schema_is_a_schema_of_the_draft_that_editors_read() -> None:
    Draft7Validator.check_schema(SCHEMA)

    assert SCHEMA["$schema"] == "http://json-schema.org/draft-07/schema#"


def test_keys_of_the_schema_are_those_that_the_compiler_takes(tmp_path: Path) -> None:
    known = set(accepted_keys(tmp_path))

    assert set(KEYS) - known == set()
    assert known - set(KEYS) == set()


def test_each_key_is_described_as_on_the_page_of_config_yaml() -> None:
    rows = [row for rows in tables(page("reference/config").text) if rows[0][0] == "key" for row in rows[1:]]
    told = {codes(row[0])[0]: LINK.sub(r"\1", row[3]).replace("\\|", "|") for row in rows}

    assert told == {key: schema["description"] for key, schema in KEYS.items()}


def test_bounds_of_numbers_are_those_of_the_page() -> None:
    rows = [row for rows in tables(page("reference/config").text) if rows[0][0] == "key" for row in rows[1:]]
    told = {codes(row[0])[0]: re.fullmatch(r"(number|integer), ([\d.]+) to ([\d.]+)", row[1]) for row in rows}
    bounds = {key: (found[1], float(found[2]), float(found[3])) for key, found in told.items() if found}

    assert len(bounds) > 5
    assert bounds == {
        key: ("integer" if "multipleOf" in KEYS[key] else "number", KEYS[key]["minimum"], KEYS[key]["maximum"])
        for key in bounds
    }


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: str(config)[:60])
def test_config_with_every_key_is_taken_by_both(tmp_path: Path, config: dict[str, Any]) -> None:
    assert _problems(tmp_path, config) == ()
    assert [error.message for error in VALIDATOR.iter_errors(config)] == []


def test_configs_have_every_key() -> None:
    found = {re.sub(r"\[\d+\]", "[]", key) for config in CONFIGS for key in _names(config, "")}
    named = {re.sub(r"^scalars\.\w+", "scalars.NAME", key) for key in found}
    named = {re.sub(r"^ui\.pages\.\w+", "ui.pages.NAME", key) for key in named}
    named = {re.sub(r"^identity\[\]", "identity", key) for key in named}
    missing = {key for key in KEYS if not key.startswith("code")} - named

    assert missing == set()


def _names(value: Any, path: str) -> Iterator[str]:
    match value:
        case dict():
            for key, below in value.items():
                name = f"{path}.{key}" if path else key
                yield name
                yield from _names(below, name)
        case list():
            for number, below in enumerate(value):
                yield from _names(below, f"{path}[{number}]")


FILES = sorted(
    path.relative_to(ROOT).as_posix()
    for folder in ("examples", "tests", "infra")
    for path in (ROOT / folder).rglob("config*.yaml")
    if not {"node_modules", "mistakes"} & set(path.relative_to(ROOT).parts)
)


@pytest.mark.parametrize("file", FILES)
def test_config_of_the_repository_fits(file: str) -> None:
    config = json_of_yaml((ROOT / file).read_text(encoding="utf-8"))

    assert [error.message for error in VALIDATOR.iter_errors(config)] == [], config


def test_files_with_mistakes_in_their_shape_do_not_fit() -> None:
    config = json_of_yaml((ROOT / "tests/mistakes/endpoints/shop/orders/config.yaml").read_text(encoding="utf-8"))

    assert list(VALIDATOR.iter_errors(config))


def test_compiler_refuses_all_that_the_schema_refuses_and_the_schema_each_wrong_key_and_kind(tmp_path: Path) -> None:
    unlike = []
    for path, changed in islice(changes(), 0, None, 1 if FULL else SHARE):
        problems = _problems(tmp_path, changed)
        refused = not VALIDATOR.is_valid(changed)
        of_shape = [each.sentence for each in problems if OF_THE_SHAPE.search(each.sentence)]
        if refused and not problems:
            unlike.append(("the schema alone", path, value_at(changed, path), ""))
        if of_shape and not refused:
            unlike.append(("the compiler alone", path, value_at(changed, path), of_shape[0]))

    assert [each[:3] for each in unlike if each[:3] not in DIFFERENCES] == [], unlike
