from __future__ import annotations

from pathlib import Path

import pytest

from handler.bundle.model import Bundle
from handler.compiler.compile import compile_endpoint
from handler.compiler.source.files import env_fault, parse_env
from handler.errors.authoring import CompileError
from tests.support.diagnostics import Reported, reported_by
from tests.support.endpoints import write_endpoint

CONFIG = "upstream:\n  url: STEPZEN_URL\n"


def bundle_of(folder: Path, config: str, env: str | None = None, **environ: str) -> Bundle:
    files = {"index.graphql": "type Query { a: Int }", "config.yaml": config}
    files |= {} if env is None else {".env": env}
    return compile_endpoint(write_endpoint(folder, files), environ=environ).bundle


def refused(folder: Path, config: str, env: str | None = None, **environ: str) -> list[Reported]:
    with pytest.raises(CompileError) as caught:
        bundle_of(folder, config, env, **environ)
    return reported_by(caught.value)


def test_value_that_names_a_variable_is_what_the_environment_says(tmp_path: Path) -> None:
    assert bundle_of(tmp_path, CONFIG, STEPZEN_URL="https://a.b/").upstream.url == "https://a.b/"


def test_value_that_names_a_variable_is_what_env_beside_the_config_says(tmp_path: Path) -> None:
    assert bundle_of(tmp_path, CONFIG, "STEPZEN_URL=https://a.b/\n").upstream.url == "https://a.b/"


def test_environment_wins_over_env(tmp_path: Path) -> None:
    bundle = bundle_of(tmp_path, CONFIG, "STEPZEN_URL=https://a.b/", STEPZEN_URL="https://c.d/")

    assert bundle.upstream.url == "https://c.d/"


def test_variables_stand_for_any_kind_of_value(tmp_path: Path) -> None:
    config = "limits: {max_depth: STEPZEN_D}\nupstream: {headers: {x-a: STEPZEN_A}}\ndefault_tool: STEPZEN_T\n"

    bundle = bundle_of(tmp_path, config, STEPZEN_D="3", STEPZEN_A="b", STEPZEN_T="false")

    assert (bundle.limits.max_depth, bundle.upstream.headers, bundle.tools) == (3, {"x-a": "b"}, ())


@pytest.mark.parametrize("value", ["xSTEPZEN_A", "STEPZEN_A-b", "STEPZEN_", "stepzen_a", "OTHER_A", "$STEPZEN_A"])
def test_value_that_only_contains_a_variable_is_taken_as_it_stands(tmp_path: Path, value: str) -> None:
    config = f"upstream: {{headers: {{x-a: {value}}}}}"

    assert bundle_of(tmp_path, config, STEPZEN_A="b", OTHER_A="c").upstream.headers == {"x-a": value}


@pytest.mark.parametrize("environ", [{}, {"STEPZEN_URL": "https://\udcff/"}])
def test_variable_that_is_not_set_is_reported_where_it_is_named(tmp_path: Path, environ: dict[str, str]) -> None:
    assert refused(tmp_path, CONFIG, "OTHER=1", **environ) == ["config.yaml:2:8 unset-variable: STEPZEN_URL"]


def test_value_of_a_variable_is_judged_and_not_shown(tmp_path: Path) -> None:
    assert refused(tmp_path, CONFIG, STEPZEN_URL="ftp://a.b/secret") == [
        "config.yaml:2:8 invalid-value: \"upstream.url\" & 'STEPZEN_URL'"
    ]


def test_env_is_not_read_unless_a_value_asks_for_it(tmp_path: Path) -> None:
    one = bundle_of(tmp_path / "1", "limits: {}", "STEPZEN_URL=1")
    other = bundle_of(tmp_path / "2", "limits: {}", "STEPZEN_URL=2")

    assert one.sources == other.sources


def test_env_that_cannot_be_read_is_reported(tmp_path: Path) -> None:
    folder = write_endpoint(tmp_path, {"index.graphql": "type Query { a: Int }", "config.yaml": CONFIG})
    (folder / ".env").write_bytes(b"A=\xff")

    with pytest.raises(CompileError) as caught:
        compile_endpoint(folder)

    assert reported_by(caught.value) == [
        ".env unreadable-file: UTF-8",
        "config.yaml:2:8 unset-variable: STEPZEN_URL",
    ]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("A=b", "b"),
        ("  A = b c  ", "b c"),
        ("export A=b", "b"),
        ('A="b # c" # d', "b # c"),
        ("A='b'", "b"),
        ("A=b # c", "b"),
        ("A=b#c", "b#c"),
        ("A=", ""),
        ("A=#b", ""),
        ("A=1\nnothing here\n# A=2\nA=3", "3"),
        ("A=https://a.b/?c=d", "https://a.b/?c=d"),
    ],
)
def test_env_is_read_as_such_files_are(text: str, value: str) -> None:
    assert parse_env(text) == {"A": value}


def test_env_of_blanks_without_end_is_read_at_once() -> None:
    assert parse_env("A=" + " " * 1_000_000 + "b") == {"A": "b"}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("# keys\nA: b\n", "2: the line has no = behind the name: expected A=VALUE on one line"),
        ("export A b", "1: the line has no = behind the name: expected A=VALUE on one line"),
        ('A="b\nc"\n', "1: the value has several lines, and one is read: expected A=VALUE on one line"),
        ("A = 'b", "1: the value has several lines, and one is read: expected A=VALUE on one line"),
        ("AB: c\nB=A\n", ""),
        ("A=\n", ""),
        ("A=it's\n", ""),
        ('A="b" # c\n', ""),
    ],
)
def test_assignment_that_cannot_be_read_has_a_line_and_a_fault(text: str, fault: str) -> None:
    assert env_fault(text, "A") == fault
    assert not fault or "A" not in parse_env(text)
