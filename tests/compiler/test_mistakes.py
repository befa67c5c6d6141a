"""Endpoint folders full of mistakes, each numbered by a comment; the code and place of each lies beside them.

``orders`` is judged to its end. In ``returns`` some files cannot be read, and what is marked as hidden there is told
only once they can be.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from handler.compiler.compile import compile_endpoint
from handler.errors.authoring import CompileError, Problem
from tests.commands.running import ran
from tests.conftest import ROOT
from tests.support.diagnostics import Reported, reported_by

MISTAKES = ROOT / "tests" / "mistakes"
SHOP = MISTAKES / "endpoints" / "shop"
NUMBER = re.compile(r"# (\d+): ")


def problems_of(endpoint: str) -> tuple[Problem, ...]:
    with pytest.raises(CompileError) as caught:
        compile_endpoint(SHOP / endpoint)
    return caught.value.problems


def expected(endpoint: str) -> list[str]:
    return (MISTAKES / f"{endpoint}.txt").read_text(encoding="utf-8").splitlines()


def numbered_lines(endpoint: str) -> dict[int, tuple[str, int]]:
    """Number -> the file and the line of the comment that gives it."""
    found: dict[int, tuple[str, int]] = {}
    for file in sorted(path for path in (SHOP / endpoint).rglob("*") if path.is_file()):
        for line, text in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
            for number in map(int, NUMBER.findall(text)):
                assert number not in found
                found[number] = (file.relative_to(SHOP / endpoint).as_posix(), line)
    return found


@pytest.mark.parametrize("endpoint", ["orders", "returns"])
def test_every_mistake_is_told_in_one_run_with_its_file_line_and_column(endpoint: str) -> None:
    assert list(map(Reported, problems_of(endpoint))) == expected(endpoint)


@pytest.mark.parametrize(("endpoint", "count"), [("orders", 45), ("returns", 10)])
def test_each_mistake_is_told_once_and_in_file_order(endpoint: str, count: int) -> None:
    places = [(problem.file, problem.line, problem.column) for problem in problems_of(endpoint)]

    assert len(places) == len(set(places)) == count
    assert places == sorted(places)


@pytest.mark.parametrize(("endpoint", "count"), [("orders", 45), ("returns", 10)])
def test_each_mistake_stands_where_its_comment_is_or_on_the_next_line(endpoint: str, count: int) -> None:
    numbered = numbered_lines(endpoint)

    assert sorted(numbered) == list(range(1, count + 1))
    for number, problem in enumerate(problems_of(endpoint), start=1):
        file, line = numbered[number]
        assert problem.file == file, problem
        assert (problem.line or 1) in (line, line + 1), problem  # 0: the whole file


def test_mistakes_of_tools_in_python_are_told_with_file_and_line(monkeypatch: pytest.MonkeyPatch) -> None:
    code = MISTAKES / "code"
    monkeypatch.syspath_prepend(code)

    with pytest.raises(CompileError) as caught:
        compile_endpoint(code / "endpoints" / "shop" / "tools", environ={"STILE_CODE_MODULES": "mistaken_tools"})

    assert reported_by(caught.value) == [f"{code.as_posix()}/{line}" for line in expected("code")]
    for number, problem in enumerate(caught.value.problems, start=1):
        file = Path(problem.file)
        numbered = {
            int(found[1]): at for at, line in enumerate(_lines(file), start=1) if (found := NUMBER.search(line))
        }
        assert numbered[number] == problem.line, problem


def _lines(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").splitlines()


def test_command_prints_every_mistake_and_no_traceback() -> None:
    done = ran("check", str(SHOP))

    *told, summary = done.out.splitlines()
    assert told == [
        f"{SHOP.as_posix()}/{endpoint}/{each.file}:{each.line or 1}:{each.column or 1}: {each.sentence} [{each.code}]"
        for endpoint in ("orders", "returns")
        for each in problems_of(endpoint)
    ]
    assert summary == "55 problems in 2 of 2 endpoints"
    assert (done.code, done.err) == (1, "")
