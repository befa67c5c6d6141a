from __future__ import annotations

import sys
from pathlib import Path

import pytest
from graphql import FieldNode, Visitor, parse, visit

from benchmarks.call import CALLS, in_process, in_turns
from benchmarks.container import ContainerFailed, Function
from benchmarks.functions.cases import HELLO, QUERY
from benchmarks.requests import PRESCRIBED, Case, text_of


def function(folder: Path, name: str, code: str, *, expects: str = "result") -> Function:
    (folder / f"{name}.py").write_text(code, encoding="utf-8")
    event = b'{"body": "number __anew__"}'
    return Function(
        name=name, python=Path(sys.executable), folder=folder, handler=f"{name}.handler", event=event, expects=expects
    )


def test_query_has_about_thirty_fields() -> None:
    class Fields(Visitor):
        count = 0

        def enter_field(self, _node: FieldNode, *_: object) -> None:
            self.count += 1

    fields = Fields()
    visit(parse(QUERY), fields)
    assert 30 <= fields.count <= 40


def test_each_round_calls_the_handler_in_its_process_with_another_number_each_time(tmp_path: Path) -> None:
    code = "def handler(event, _):\n    print('a log')\n    return {'result': event['body']}\n"
    echo = function(tmp_path, "echo", code, expects=f"number {3 * CALLS}")
    with pytest.raises(ContainerFailed, match=f"number {CALLS}"):
        in_process([echo], rounds=2)  # the first of three rounds

    (us,) = in_process([function(tmp_path, "echo", code)], rounds=1).values()
    assert us > 0


def test_error_of_a_tool_is_not_measured(tmp_path: Path) -> None:
    code = """def handler(event, _):\n    return {"body": '{"result":{"isError":true}}'}\n"""

    with pytest.raises(ContainerFailed, match="isError"):
        in_process([function(tmp_path, "wrong", code)], rounds=1)


def test_calls_take_turns_and_the_first_round_is_thrown_away() -> None:
    called: list[str] = []

    def call(name: str) -> float:
        called.append(name)
        return len(called)

    taken = in_turns({"a": lambda: call("a"), "b": lambda: call("b")}, rounds=2)

    assert "".join(called) == "baabba"
    assert taken == {"a": [3, 6], "b": [4, 5]}


def test_row_has_ratios_and_goals() -> None:
    def case(name: str, **goals: float) -> Case:
        made = Function(name=name, python=Path(), folder=Path(), handler="", event=b"")
        return Case(function=made, **goals)

    compared = [case(HELLO), case("ping", goal_hello=5), case(PRESCRIBED), case("GraphQL", goal_prescribed=2)]
    found = {HELLO: 30.0, "ping": 180.0, PRESCRIBED: 600.0, "GraphQL": 1500.0}

    assert text_of(compared, found, rounds=9, python=Path(sys.executable)).splitlines()[-4:] == [
        f"| {HELLO} | 30 | 1.0 |  |  |  |",
        "| ping | 180 | 6.0 | 5 |  |  |",
        f"| {PRESCRIBED} | 600 | 20.0 |  |  |  |",
        "| GraphQL | 1500 | 50.0 |  | 2.50 | 2 |",
    ]
