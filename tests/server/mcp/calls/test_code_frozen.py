"""Tools in Python as compiled: what of them works without their module, and what is found out with it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.code_tools.cases import case
from tests.support.endpoints import READABLE, compiled
from tests.support.function import running_function
from tests.support.modules import Modules, modules

__all__ = ["modules"]

KIT = """\
from stile import Toolkit

kit = Toolkit()


@kit.tool
def double(number: int) -> int:
    "Double a number."
    return number * 2


@kit.prompt
def ask(word: str) -> str:
    return word
"""
FILES = {
    "index.graphql": "type Query { a: Int }",
    "config.yaml": READABLE + 'code: [{use: "frozen_tools:kit", condition: true}]\ncatalog: {hidden: false}\n',
}
ALONE = {"config.yaml": 'access: {anonymous: allow}\ncode: [{use: "frozen_tools:kit", condition: true}]\n'}


@case("M-002")
def test_lists_come_from_the_bundle_and_import_no_module_of_an_author(tmp_path: Path, modules: Modules) -> None:
    modules.write("frozen_tools.py", KIT)
    made = compiled(tmp_path, FILES, **modules.environ)
    modules.forget()
    (modules.folder / "frozen_tools.py").unlink()

    with running_function(made, code_modules=("frozen_tools",)) as function:
        listed = function.request("tools/list").result["tools"]
        prompts = function.request("prompts/list").result["prompts"]

    assert [tool["name"] for tool in listed] == ["double", "catalog", "catalog-call", "catalog-call-mutation"]
    assert [prompt["name"] for prompt in prompts] == ["ask"]
    assert "frozen_tools" not in sys.modules


@case("M-003")
def test_code_that_differs_from_what_was_published_is_called_again_once_it_is_published_again(
    tmp_path: Path, modules: Modules
) -> None:
    modules.write("frozen_tools.py", KIT)
    before = compiled(tmp_path, FILES, **modules.environ)
    modules.forget()
    modules.write("frozen_tools.py", KIT.replace("number: int) -> int", "number: float) -> float"))

    with running_function(before, code_modules=("frozen_tools",)) as function:
        result = function.call("double", {"number": 2}).result
    after = compiled(tmp_path, FILES, **modules.environ)
    with running_function(after, code_modules=("frozen_tools",)) as function:
        again = function.call("double", {"number": 2.25}).result

    assert result["isError"] is True
    assert result["_meta"]["stile/code"] == "code-changed"
    assert again["content"][0]["text"] == "4.5"
    assert before.bundle.tools[0] != after.bundle.tools[0]


@case("M-003")
def test_code_whose_texts_alone_differ_is_called(tmp_path: Path, modules: Modules) -> None:
    modules.write("frozen_tools.py", KIT)
    before = compiled(tmp_path, FILES, **modules.environ)
    modules.forget()
    modules.write("frozen_tools.py", KIT.replace("Double a number", "Twice a number"))

    with running_function(before, code_modules=("frozen_tools",)) as function:
        assert function.call("double", {"number": 2}).result["content"][0]["text"] == "4"


GOING_ON = """\
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from stile import Async, Context, Err, Ok, Tool, Toolkit

kit = Toolkit()


class Search(Tool):
    async def call(self, query: str) -> Async:
        return Async("index", self.found(query))

    async def found(self, query: str) -> str:
        return query

    async def resume(self, tag: str, outcome: Ok | Err) -> str:
        return f"{tag} {outcome.value}"


class Rank(Search):
    async def resume(self, ctx: Context, tag: str, outcome: Ok | Err) -> str | Async:
        if tag == "index":
            return Async("rank", self.found(outcome.value * 2))
        return f"{tag} {outcome.value} {ctx.request_id != ''}"


class Static(Search):
    @staticmethod
    def resume(step, result):
        return f"{step} {result.value}"


kit.add(Search)
kit.add(Rank)
kit.add(Static())


@kit.tool(resume=partial(lambda prefix, tag, outcome: f"{prefix} {tag} {outcome.value}", "done"))
def compute() -> Async:
    with ThreadPoolExecutor() as executor:
        return Async("sum", executor.submit(sum, [3, 4]))


@kit.tool(input_schema={})
def ping() -> str:
    return "pong"
"""


@pytest.mark.parametrize("modern", [True, False])
def test_whatever_form_of_resume_the_compiler_took_runs(tmp_path: Path, modules: Modules, modern: bool) -> None:
    modules.write("frozen_tools.py", GOING_ON)
    made = compiled(tmp_path, ALONE, **modules.environ)
    modules.forget()

    with running_function(made, code_modules=("frozen_tools",)) as function:
        answers = {
            tool.name: function.request(
                "tools/call", {"name": tool.name, "arguments": {"query": "a"}}, modern=modern
            ).text
            for tool in made.bundle.tools
        }

    assert answers == {
        "search": "index a",
        "rank": "rank aa True",
        "static": "index a",
        "compute": "done sum 7",
        "ping": "pong",
    }


OTHERS_STYLE = """\
import functools
from dataclasses import dataclass, field
from typing import NamedTuple

from stile import Context, Toolkit, tool

kit = Toolkit()


@dataclass(frozen=True, slots=True)
class Node:
    name: str
    below: list["Node"] = field(default_factory=list)


class Pair(NamedTuple):
    left: int
    right: int


def traced(function):
    @functools.wraps(function)
    async def wrapper(*args, **kwargs):
        return await function(*args, **kwargs)

    return wrapper


@traced
@kit.tool(title="Stacked")
@traced
@tool(name="stacked", timeout=5)
async def anything(name: str = "a", *, ctx: Context) -> Node:
    return Node(name, [Node("b")])


@functools.cache
@kit.tool
def cached() -> str:
    return "once"


def power(base: int, exponent: int = 2) -> int:
    return base**exponent


kit.add(functools.partial(power, 3), name="square")
kit.add(functools.partial(functools.partial(power, exponent=3), base=2), name="cube")


class Greeter:
    def __init__(self, greeting):
        self.greeting = greeting

    async def __call__(self, name: str = "you") -> str:
        return f"{self.greeting} {name}"

    def pair(self) -> Pair:
        return Pair(1, 2)

    @staticmethod
    @kit.tool
    def still() -> None: ...


kit.add(Greeter("hello"), name="greet")
kit.add(Greeter("").pair)
kit.add(lambda: [Node("c")], name="nodes")
"""


def test_functions_in_other_peoples_style_are_taken_and_called(tmp_path: Path, modules: Modules) -> None:
    modules.write("frozen_tools.py", OTHERS_STYLE)
    made = compiled(tmp_path, ALONE, **modules.environ)
    modules.forget()

    with running_function(made, code_modules=("frozen_tools",)) as function:
        answers = {tool.name: function.call(tool.name, {}).result for tool in made.bundle.tools}

    texts = {name: answer["content"][0]["text"] for name, answer in answers.items() if answer["content"]}
    assert not any("isError" in answer for answer in answers.values())
    assert texts == {
        "stacked": '{"name":"a","below":[{"name":"b","below":[]}]}',
        "cached": "once",
        "square": "9",
        "cube": "8",
        "greet": "hello you",
        "pair": "[1,2]",
        "nodes": '[{"name":"c","below":[]}]',
    }
    assert answers["still"] == {"content": []}


def test_an_endpoint_without_a_schema_is_served(tmp_path: Path, modules: Modules) -> None:
    modules.write("frozen_tools.py", KIT)
    made = compiled(tmp_path, ALONE, **modules.environ)

    with running_function(made, code_modules=("frozen_tools",)) as function:
        listed = function.request("tools/list").result["tools"]
        result = function.call("double", {"number": 4}).result
        asked = function.graphql({"query": "{ a }"})

    assert made.bundle.index == ""
    assert [tool["name"] for tool in listed] == ["double"]
    assert result["structuredContent"] == {"result": 8}
    assert asked.status == 404
