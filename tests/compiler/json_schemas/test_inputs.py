"""What is hidden from everybody cannot be given to a prescribed tool either."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from handler.bundle.tools import PrescribedTool
from handler.errors.calls import InvalidArguments
from handler.policy.evaluation import HIDDEN
from handler.server.endpoints.arguments_validator import ArgumentsValidator
from tests.support.endpoints import compiled, doubted, prescribed_tool

SDL = """
type Query { employees(where: EmployeeFilter, orderBy: EmployeeOrder, key: Key, note: Note, page: Page): [Employee!] }
type Employee { name: String salary: Int }
input EmployeeFilter { name: String salaryGt: Int and: [EmployeeFilter!] since: Since }
enum EmployeeOrder { "by name" NAME "by salary" SALARY_ASC }
input Key @oneOf { id: ID name: String }
input Note { text: String! about: Key }
input Since { year: Int! }
input Page { size: Int = 10, order: EmployeeOrder = NAME }
"""


def files_of(operation: str, hide: str, *, sdl: str = SDL) -> dict[str, str]:
    config = f"access: {{policies: [{{type: Query, policyDefault: {{condition: true}}}}], hide: [{hide}]}}"
    return {"index.graphql": sdl, "operations/o.graphql": operation, "config.yaml": config}


def tool_of(folder: Path, operation: str, hide: str, *, sdl: str = SDL) -> PrescribedTool:
    return prescribed_tool(compiled(folder, files_of(operation, hide, sdl=sdl)), "E")


def violations_of(tool: PrescribedTool, arguments: dict[str, Any]) -> list[str]:
    try:
        ArgumentsValidator(tool.name, tool.arguments).check(arguments)
    except InvalidArguments as exc:
        return list(exc.violations)
    return []


WHERE = "query E($w: EmployeeFilter) @mcpTool { employees(where: $w) { name } }"
ORDER = "query E($o: EmployeeOrder) @mcpTool { employees(orderBy: $o) { name } }"


@pytest.mark.parametrize("hide", ["EmployeeFilter.salaryGt", "Employee.salary"])
def test_hidden_input_field_is_neither_shown_nor_taken(tmp_path: Path, hide: str) -> None:
    tool = tool_of(tmp_path, WHERE, hide)

    assert set(tool.entry["inputSchema"]["properties"]["w"]["properties"]) == {"name", "and", "since"}
    assert violations_of(tool, {"w": {"salaryGt": 5}}) == [
        "/w/salaryGt: unknown name; known here: name, and, since",
    ]
    assert violations_of(tool, {"w": {"and": {"salaryGt": 5}}}) != []
    assert violations_of(tool, {"w": {"and": {"name": "a"}}}) == []


@pytest.mark.parametrize("hide", ["EmployeeOrder.SALARY_ASC", "Employee.salary"])
def test_hidden_enum_value_is_neither_shown_nor_described_nor_taken(tmp_path: Path, hide: str) -> None:
    tool = tool_of(tmp_path, ORDER, hide)

    assert tool.entry["inputSchema"]["properties"]["o"] == {
        "type": "string",
        "enum": ["NAME"],
        "description": "- NAME: by name",
    }
    assert violations_of(tool, {"o": "SALARY_ASC"}) == ['/o: expected one of "NAME", null, got string "SALARY_ASC"']
    assert violations_of(tool, {"o": "NAME"}) == []


def test_variables_below_variables_take_nothing_hidden_either(tmp_path: Path) -> None:
    sdl = 'extend schema @tool(name: "E", prescribed: "E")' + SDL
    tool = tool_of(tmp_path, WHERE.replace("@mcpTool", ""), "EmployeeFilter.salaryGt", sdl=sdl)

    assert "salaryGt" not in str(tool.entry)
    assert violations_of(tool, {"variables": {"w": {"salaryGt": 5}}}) != []


@pytest.mark.parametrize(
    "sdl",
    [
        SDL.replace("salaryGt: Int", "salaryGt: Int @inaccessible"),
        SDL.replace("salary: Int", "salary: Int @inaccessible"),
    ],
)
def test_inaccessible_input_is_neither_shown_nor_taken(tmp_path: Path, sdl: str) -> None:
    tool = tool_of(tmp_path, WHERE, "", sdl=sdl)

    assert "salaryGt" not in str(tool.entry)
    assert violations_of(tool, {"w": {"salaryGt": 5}}) != []


def test_what_a_scope_hides_is_neither_shown_nor_taken(tmp_path: Path) -> None:
    patterns = '{expose: true, types: "Query", fields: ".*"}, {expose: false, types: "Employee", fields: "salary"}'
    scope = f'@sdl(files: "staff.graphql", visibility: [{patterns}])'
    files = {**files_of(WHERE, "", sdl=f"extend schema {scope}"), "staff.graphql": SDL}
    tool = prescribed_tool(compiled(tmp_path, files), "E")

    assert "salaryGt" not in str(tool.entry)
    assert violations_of(tool, {"w": {"salaryGt": 5}}) != []


def test_what_a_policy_guards_is_still_shown(tmp_path: Path) -> None:
    rules = "[{condition: false, fields: [salary]}]"
    config = f"""
access:
  policies:
    - {{type: Query, policyDefault: {{condition: true}}}}
    - {{type: Employee, rules: {rules}, policyDefault: {{condition: true}}}}
"""
    tool = prescribed_tool(compiled(tmp_path, {**files_of(WHERE, ""), "config.yaml": config}), "E")

    assert violations_of(tool, {"w": {"salaryGt": 5}}) == []


def test_hidden_field_of_a_one_of_input_is_no_choice(tmp_path: Path) -> None:
    tool = tool_of(tmp_path, "query E($k: Key!) @mcpTool { employees(key: $k) { name } }", "Key.id")

    assert violations_of(tool, {"k": {}}) == ["/k: expected exactly one of name, got none"]
    assert violations_of(tool, {"k": {"id": 1}}) == ["/k/id: unknown name; known here: name"]


def test_field_of_an_input_without_its_required_field_is_gone(tmp_path: Path) -> None:
    tool = tool_of(tmp_path, WHERE, "Since.year")

    assert violations_of(tool, {"w": {"since": {}}}) == ["/w/since: unknown name; known here: name, salaryGt, and"]


@pytest.mark.parametrize(
    ("hide", "known"), [("Key.id, Key.name", "text"), ("Key", "text")], ids=["every field", "the type"]
)
def test_field_of_an_input_of_which_nothing_is_left_is_gone(tmp_path: Path, hide: str, known: str) -> None:
    tool = tool_of(tmp_path, "query E($n: Note) @mcpTool { employees(note: $n) { name } }", hide)

    assert "about" not in str(tool.entry)
    assert violations_of(tool, {"n": {"text": "a", "about": None}}) == [f"/n/about: unknown name; known here: {known}"]


@pytest.mark.parametrize("type_", ["EmployeeOrder", "EmployeeOrder!"])
def test_nobody_can_call_what_takes_a_variable_that_can_be_given_nothing(tmp_path: Path, type_: str) -> None:
    operation = ORDER.replace("EmployeeOrder)", f"{type_})")
    files = files_of(operation, "EmployeeOrder.NAME, EmployeeOrder.SALARY_ASC")

    assert tool_of(tmp_path / "1", operation, "EmployeeOrder.NAME, EmployeeOrder.SALARY_ASC").mask >= HIDDEN
    assert doubted(tmp_path / "2", files) == ['operations/o.graphql:1:1 uncallable-tool: "E"']


def test_variable_that_is_never_used_and_can_be_given_nothing_is_gone(tmp_path: Path) -> None:
    operation = ORDER.replace("(orderBy: $o)", "")
    tool = tool_of(tmp_path, operation, "EmployeeOrder.NAME, EmployeeOrder.SALARY_ASC")

    assert tool.entry["inputSchema"] == {"type": "object", "properties": {}}
    assert violations_of(tool, {"o": "NAME"}) == ["/o: unknown name; known here: none"]


def test_nobody_can_call_what_takes_an_input_without_its_required_field(tmp_path: Path) -> None:
    operation = "query E($n: Note) @mcpTool { employees(note: $n) { name } }"

    assert tool_of(tmp_path, operation, "Note.text").mask >= HIDDEN


@pytest.mark.parametrize(
    "variable",
    ["$w: EmployeeFilter = {salaryGt: 5}", "$w: EmployeeFilter @mcpBind(value: {and: [{salaryGt: 5}]})"],
)
def test_nobody_can_call_what_gives_something_hidden_itself(tmp_path: Path, variable: str) -> None:
    operation = WHERE.replace("$w: EmployeeFilter", variable)
    tool = tool_of(tmp_path, operation, "EmployeeFilter.salaryGt")

    assert tool.mask >= HIDDEN
    assert "salaryGt" not in str(tool.entry)


def test_default_that_is_hidden_leaves_its_field_which_is_then_required(tmp_path: Path) -> None:
    tool = tool_of(tmp_path, "query E($p: Page) @mcpTool { employees(page: $p) { name } }", "EmployeeOrder.NAME")

    page = tool.entry["inputSchema"]["properties"]["p"]
    assert set(page["properties"]) > {"size"}
    (required,) = page["required"]
    assert "default" not in page["properties"][required]
    assert "NAME" not in page["properties"][required]["enum"]


def test_hidden_value_cannot_come_from_a_header(tmp_path: Path) -> None:
    operation = ORDER.replace("EmployeeOrder)", 'EmployeeOrder @mcpBind(header: "x-order"))')
    tool = tool_of(tmp_path, operation, "EmployeeOrder.SALARY_ASC")

    assert ArgumentsValidator("E", tool.bound).misfits({"o": "SALARY_ASC"}) == ["o"]
    assert ArgumentsValidator("E", tool.bound).misfits({"o": "NAME"}) == []
