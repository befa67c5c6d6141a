"""Options stand before, between and after what stands for itself, and ``--`` ends them.

Source: POSIX.1-2017, Utility Syntax Guidelines 10 (``--``); GNU, Program Argument Syntax Conventions: "Options and
their arguments can be interspersed".
"""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path

import pytest

from handler.commands import COMMANDS
from tests.commands.running import CONFIG, FILES, Stile
from tests.support.endpoints import write_endpoint

FIND = """\
query Find($text: String, $n: Int) @mcpTool(name: "find", title: "Find") { find(text: $text, n: $n) }
"""
ECHO = {
    "index.graphql": "type Query { find(text: String, n: Int): String }\n",
    "operations/find.graphql": FIND,
    "config.yaml": CONFIG,
    "config.t.yaml": "limits: {max_depth: 3}\n",
}


@pytest.fixture
def folder(workplace: Path) -> str:
    return write_endpoint(workplace, ECHO).relative_to(workplace).as_posix()


def told(stile: Stile, *words: str) -> list[str]:
    """What the tool says of its arguments: the names that it does not know, as each word names one."""
    done = stile("call", *words)
    assert (done.code, done.out) == (1, ""), done.out
    return re.findall(r"/(\S+): unknown name", done.err)


def test_options_stand_anywhere(folder: str, stile: Stile) -> None:
    stage, json_, rest = ("--stage", "t"), ("--json",), ((folder,), ("find",), ("x=1",), ("y=2",))
    for places in itertools.product(range(len(rest) + 1), repeat=2):
        words: list[tuple[str, ...]] = list(rest)
        for place, option in zip(sorted(places, reverse=True), (stage, json_), strict=True):
            words.insert(place, option)

        done = stile("call", *itertools.chain(*words))

        assert (done.code, done.err) == (1, ""), words
        (block,) = json.loads(done.out)["content"]
        assert "/x: unknown name" in block["text"]
        assert "/y: unknown name" in block["text"]


@pytest.mark.parametrize("command", ["check", "explain", "build", "publish", "manifest"])
def test_every_command_takes_options_on_both_sides(folder: str, stile: Stile, command: str) -> None:
    more = ["built", "--create"] if command == "publish" else []
    sides = [[folder, *more, "--stage", "t"], ["--stage", "t", folder, *more], [folder, "--stage", "t", *more]]

    stile(command, *sides[0])  # so that all of them find what was written
    done = [stile(command, *words) for words in sides]

    assert len({(each.code, each.out, each.err) for each in done}) == 1
    assert "unrecognized" not in done[0].err


def test_what_begins_with_a_dash_is_an_argument_behind_two(folder: str, stile: Stile) -> None:
    assert told(stile, folder, "find", "--", "-x=1", "--yes=2") == ["-x", "--yes"]
    assert told(stile, "--stage", "t", "--", folder, "find", "-x=1") == ["-x"]
    assert told(stile, folder, "--", "find", "x=--", "y=-1") == ["x", "y"]


def test_options_end_behind_two_dashes(folder: str, stile: Stile) -> None:
    done = stile("call", folder, "find", "--", "--json")

    assert (done.code, done.out) == (2, "")
    assert done.err.endswith("stile call: error: argument K=V: '--json': expected K=V\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["find", "-x=1"],
            "unrecognized arguments: -x=1; put words that begin with - but are not options after --",
        ),
        (["find", "x=1", "--jsn"], "unrecognized arguments: --jsn; did you mean --json?"),
        (["--stgae=t", "find"], "unrecognized arguments: --stgae=t; did you mean --stage?"),
        (["find", "--stage"], "argument --stage: expected one argument"),
        (["find", "--stage", ""], 'argument --stage: expected the name of a stage, such as prod, got ""'),
        (["find", "-1"], "unrecognized arguments: -1"),
        (["find", "x"], "argument K=V: 'x': expected K=V"),
        ([], "the following arguments are required: TOOL"),
        (["--stage", "t"], "the following arguments are required: TOOL"),
    ],
)
def test_what_does_not_fit_is_wrong_usage(folder: str, stile: Stile, words: list[str], said: str) -> None:
    done = stile("call", folder, *words)

    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("usage: stile call [-h] [--stage STAGE]")
    assert done.err.endswith(f"stile call: error: {said}\n")


def test_values_may_begin_with_dashes(folder: str, stile: Stile) -> None:
    assert told(stile, folder, "find", "x=-1", "y=--stage", "z=a -b") == ["x", "y", "z"]


def test_too_many_folders_are_wrong_usage(folder: str, stile: Stile) -> None:
    done = stile("check", folder, "--json", folder)

    assert done.code == 2
    assert done.err.endswith(f"stile check: error: unrecognized arguments: {folder}; expected stile check FOLDER\n")


@pytest.mark.parametrize("name", COMMANDS)
def test_help_is_told_wherever_it_is_asked_for(stile: Stile, name: str) -> None:
    plain = stile(name, "-h")

    assert plain.code == 0
    assert stile(name, "whatever", "--help") == plain


def test_a_tool_that_no_endpoint_declares_is_told(workplace: Path, stile: Stile) -> None:
    files = {**FILES, "config.yaml": f"{CONFIG}default_tool: false\n"}
    del files["operations/a.graphql"]
    write_endpoint(workplace, files)

    done = stile("call", ".", "a")

    assert (done.code, done.err) == (2, 'There is no tool "a": no tool is declared.\n')


TOKEN = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl"


@pytest.mark.parametrize(
    "words",
    [
        ["find", "--token", TOKEN],
        ["find", "--token", "an-opaque-token"],
        ["find", "--as", TOKEN],
        ["find", TOKEN],
        ["find", f"--tokn={TOKEN}"],
        ["find", "--api-token=an-opaque-token"],
        ["find", f"--stage=Bearer {TOKEN}", "--as", f"Bearer {TOKEN}"],
        [TOKEN],
    ],
)
def test_credentials_in_a_wrong_place_are_not_repeated(folder: str, stile: Stile, words: list[str]) -> None:
    done = stile("call", folder, *words)

    assert done.code != 0
    assert TOKEN not in done.err
    assert "opaque" not in done.err


def test_option_of_another_command_names_the_command(folder: str, stile: Stile) -> None:
    assert stile("check", folder, "--host", "x").err.endswith("--host; --host is an option of `stile serve`\n")


def test_option_in_place_of_a_pair_shows_the_pair(folder: str, stile: Stile) -> None:
    assert stile("call", folder, "find", "--text", "a").err.endswith("K=V is written without dashes: text=VALUE\n")


@pytest.mark.parametrize("command", ["check", "dev", "pull", "explain"])
def test_url_in_place_of_a_folder_is_shown_without_secrets(stile: Stile, command: str) -> None:
    done = stile(command, "https://ada:hidden@api.example.com/graphql?key=hidden")

    assert "https://api.example.com/graphql is a URL: expected a folder" in done.err
    assert "hidden" not in done.err


@pytest.mark.parametrize("words", [["build", "--out"], ["publish"]])
def test_bundles_are_not_stored_among_sources(folder: str, stile: Stile, words: list[str]) -> None:
    done = stile(words[0], folder, *words[1:], folder)

    assert (done.code, done.err.splitlines()[-1]) == (
        2,
        f"{folder} holds the sources of endpoints: bundles belong in another folder",
    )
