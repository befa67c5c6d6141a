"""The table of diagnostic codes, held against the code that reports them, in both directions."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from graphql import NoDeprecatedCustomRule, NoUnusedVariablesRule, specified_rules
from graphql.validation.specified_rules import specified_sdl_rules

import handler
from handler.compiler.checks import CHECKS, CLIENT_CHECKS
from handler.compiler.codes import CODES
from handler.compiler.problems import Place, Problems
from handler.compiler.schema.schema_building import CODE_OF_RULE, OTHER
from handler.errors.authoring import CompileError
from tests.support.endpoints import problems_of

SOURCES = Path(handler.__file__).parent

POSITIONS = {"check": slice(1), "with_code": slice(1, None), "checked": slice(1, None)}
"""The arguments of a function that are codes without a keyword."""

OF_ERRORS = ("add", "with_code", "fault", "checked", "expecting")
"""The functions that report errors, or make keys whose values can have them."""


def texts_in(node: ast.expr) -> Iterator[str]:
    yield from (each.value for each in ast.walk(node) if isinstance(each, ast.Constant) and isinstance(each.value, str))


def reported() -> Iterator[tuple[str, str]]:
    """Every code that stands in a call, with the name of what is called."""
    for folder in ("audience", "compiler", "commands"):
        for file in (SOURCES / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call):
                    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                    codes = [each.value for each in node.keywords if each.arg == "code"]
                    codes += node.args[POSITIONS[name]] if name in POSITIONS else []
                    yield from ((name, text) for code in codes for text in texts_in(code))


@cache
def codes_by_kind() -> tuple[set[str], set[str], set[str]]:
    """The codes of errors, those of warnings, and those of problems that code makes by itself."""
    found = list(reported())
    errors = {code for name, code in found if name in OF_ERRORS} | {*CODE_OF_RULE.values(), OTHER}
    warnings = {code for name, code in found if name in ("warn", "check")}
    return errors, warnings, {code for name, code in found if name == "Problem"}


def test_every_reported_code_is_in_the_table() -> None:
    assert set().union(*codes_by_kind()) - CODES.keys() == set()


def test_every_code_of_the_table_is_reported_somewhere() -> None:
    assert CODES.keys() - set().union(*codes_by_kind()) == set()


def test_a_code_is_that_of_errors_or_that_of_warnings() -> None:
    errors, warnings, by_themselves = codes_by_kind()

    assert {code for code in errors if CODES[code].is_warning} == set()
    assert {code for code in warnings if not CODES[code].is_warning} == set()
    assert sorted(by_themselves) == ["duplicate-endpoint", "unused-ignore"]


def test_codes_are_in_kebab_case_and_their_texts_are_sentences() -> None:
    for code, known in CODES.items():
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", code)
        assert re.fullmatch(r"\S.*\.", known.meaning), code
        assert re.fullmatch(r"[A-Z].*", known.remedy), code


def test_every_rule_of_graphql_has_a_code() -> None:
    rules = {rule.__name__ for rule in (*specified_rules, *specified_sdl_rules)}

    assert rules - {NoUnusedVariablesRule.__name__, NoDeprecatedCustomRule.__name__} == CODE_OF_RULE.keys()


def test_every_check_has_a_code_of_its_own() -> None:
    codes = [rule.code for rule in (*CHECKS, *CLIENT_CHECKS)]

    assert len(codes) == len(set(codes))


@pytest.mark.parametrize(
    ("operation", "code", "line", "column"),
    [
        ("query A { nothing }", "unknown-field", 1, 11),
        ("query A { a(x: 1) }", "unknown-argument", 1, 13),
        ("query A { a ...F } fragment F on Query { a ...F }", "fragment-cycle", 1, 44),
        ("query A { a: a a: b }", "conflicting-fields", 1, 11),
        ("query A { ... on Other { c } }", "impossible-fragment", 1, 11),
        ("query A { a", "syntax-error", 1, 12),
        ("{ a } query B { a }", "anonymous-operation", 1, 1),
    ],
)
def test_rules_of_graphql_give_their_code(tmp_path: Path, operation: str, code: str, line: int, column: int) -> None:
    index = "type Query { a: Int b: Int } type Other { c: Int }"

    found = problems_of(tmp_path, {"index.graphql": index, "operations/a.graphql": operation})

    assert (code, line, column) in [(each.code, each.line, each.column) for each in found]


def test_rules_of_schemas_give_their_code(tmp_path: Path) -> None:
    found = problems_of(tmp_path, {"index.graphql": "type Query { a: Nothing }\nextend type Other { b: Int }"})

    assert [(each.code, each.line) for each in found] == [("unknown-type", 1), ("impossible-extension", 2)]


def test_problems_keep_their_code_and_what_they_are_about() -> None:
    problems = Problems()
    problems.warn(Place("a"), "one", code="deprecated", about=["Query.a"])
    problems.add(Place("a"), "two", code="unknown-field")

    with pytest.raises(CompileError) as raised:
        problems.raise_if_any()

    assert [(each.code, each.about) for each in problems.warnings] == [("deprecated", ("Query.a",))]
    assert [each.code for each in raised.value.problems] == ["unknown-field"]
