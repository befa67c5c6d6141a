"""Codes of diagnostics on the command line: printed, explained, and ignored where an author has judged a warning."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from handler.compiler.codes import CODES
from tests.commands.running import CONFIG, FILES, Stile
from tests.support.endpoints import write_endpoint
from tests.support.jobs import files_of

UNTITLED = {**FILES, "operations/a.graphql": 'query A @mcpTool(name: "a", description: "It is.") { a }\n'}


def checked(stile: Stile, *options: str) -> Any:
    return json.loads(stile("check", ".", "--json", *options).out)["endpoints"][0]


def codes(found: list[dict[str, Any]]) -> list[str]:
    return [each["code"] for each in found]


def ignoring(*entries: str, config: str = CONFIG) -> str:
    return f"{config}\nchecks:\n  ignore:\n" + "".join(f"    - {entry}\n" for entry in entries)


def test_a_code_stands_at_the_end_of_the_line_and_in_json(workplace: Path, stile: Stile) -> None:
    write_endpoint(workplace, {**UNTITLED, "operations/b.graphql": "query B { aa }"})

    (problem,) = checked(stile)["problems"]

    assert problem["code"] == "unknown-field"
    assert "[" not in problem["sentence"]
    line = next(line for line in stile("check", ".").out.splitlines() if "aa" in line)
    assert line.endswith(" [unknown-field]")


def test_a_warning_names_what_it_is_about(workplace: Path, stile: Stile) -> None:
    write_endpoint(workplace, UNTITLED)

    (warning,) = checked(stile)["warnings"]

    assert (warning["code"], warning["coordinates"]) == ("untitled-tool", ["a"])


def test_every_code_is_explained(stile: Stile) -> None:
    for code, known in CODES.items():
        done = stile("check", "--explain", code)

        assert (done.code, done.err) == (0, "")
        first, meaning, remedy, *silence = done.out.splitlines()
        assert first == f"{code} ({'warning' if known.is_warning else 'error'})"
        assert (meaning, remedy) == (f"  {known.meaning}", f"  What to do: {known.remedy}")
        assert len(silence) == (known.is_warning and code != "unused-ignore")


@pytest.mark.parametrize(
    "words", [("--json", "--explain", "matches-nothing"), ("--explain", "answer-misfit", "--json")]
)
def test_a_program_gets_one_document_on_a_code(stile: Stile, words: tuple[str, ...]) -> None:
    done = stile("check", *words)

    assert (done.code, done.err) == (0, "")
    assert list(json.loads(done.out)) == ["code", "kind", "meaning", "remedy"]


def test_a_code_is_explained_as_it_was_printed_and_without_an_endpoint(tmp_path: Path, stile: Stile) -> None:
    done = stile("check", str(tmp_path), "--explain", "[unknown-field]")

    assert (done.code, done.out.splitlines()[0]) == (0, "unknown-field (error)")


def test_the_nearest_of_an_unknown_code_is_named(stile: Stile) -> None:
    done = stile("check", "--explain", "unknown-feild")

    assert done.code == 2
    assert 'there is no code "unknown-feild"; did you mean unknown-field?' in done.err


@pytest.mark.parametrize(
    "entry",
    [
        "{code: untitled-tool, reason: our clients show names}",
        "{code: untitled-tool, coordinates: [a], reason: our clients show names}",
        "{code: untitled-tool, coordinates: a, reason: our clients show names}",
    ],
)
def test_an_ignored_warning_does_not_fail_the_strict_check(workplace: Path, stile: Stile, entry: str) -> None:
    write_endpoint(workplace, UNTITLED)
    assert stile("check", ".", "--strict").code == 1

    write_endpoint(workplace, {**UNTITLED, "config.yaml": ignoring(entry)})

    assert stile("check", ".", "--strict").code == 0
    assert checked(stile)["warnings"] == []


def test_an_entry_that_silences_nothing_is_a_warning_itself(workplace: Path, stile: Stile) -> None:
    entries = (
        "{code: untitled-tool, coordinates: [b], reason: no}",
        "{code: policy-bypass, reason: no}",
    )
    write_endpoint(workplace, {**UNTITLED, "config.yaml": ignoring(*entries)})

    warnings = checked(stile)["warnings"]

    assert codes(warnings) == ["unused-ignore", "unused-ignore", "untitled-tool"]
    assert [each["sentence"] for each in warnings[:2]] == [
        'checks.ignore: there is no warning "untitled-tool" about these coordinates',
        'checks.ignore: there is no warning "policy-bypass"',
    ]
    assert [each["file"].rpartition("/")[2] for each in warnings[:2]] == ["config.yaml"] * 2
    assert stile("check", ".", "--strict").code == 1


def test_a_warning_about_several_names_is_silenced_by_all_of_them(workplace: Path, stile: Stile) -> None:
    second = UNTITLED["operations/a.graphql"].replace("A @", "B @").replace('"a"', '"b"')
    files = {**UNTITLED, "operations/b.graphql": second}

    write_endpoint(workplace, {**files, "config.yaml": ignoring("{code: untitled-tool, coordinates: [a], reason: no}")})
    assert codes(checked(stile)["warnings"]) == ["unused-ignore", "untitled-tool"]

    all_of_them = "{code: untitled-tool, coordinates: [a, b], reason: no}"
    write_endpoint(workplace, {**files, "config.yaml": ignoring(all_of_them)})
    assert checked(stile)["warnings"] == []


@pytest.mark.parametrize(
    ("entry", "code", "part"),
    [
        ("{code: untitled-tol, reason: no}", "unknown-code", '"untitled-tol"; did you mean untitled-tool?'),
        ("{code: unknown-field, reason: no}", "not-ignorable", '"unknown-field"'),
        ("{code: untitled-tool}", "invalid-value", "checks.ignore[0].reason"),
        ("{code: untitled-tool, reason: ' '}", "invalid-value", "checks.ignore[0].reason"),
        ("{code: untitled-tool, coordinates: [], reason: no}", "invalid-value", "checks.ignore[0].coordinates"),
        ("{code: untitled-tool, because: no, reason: no}", "unknown-key", '"checks.ignore[0].because"'),
    ],
)
def test_an_entry_that_says_too_little_is_an_error(
    workplace: Path, stile: Stile, entry: str, code: str, part: str
) -> None:
    write_endpoint(workplace, {**UNTITLED, "config.yaml": ignoring(entry)})

    (problem,) = checked(stile)["problems"]

    assert problem["code"] == code
    assert part in problem["sentence"]


def test_a_stage_has_a_list_of_its_own(workplace: Path, stile: Stile) -> None:
    stage = "checks: {ignore: [{code: untitled-tool, reason: not here}]}\n"
    write_endpoint(workplace, {**UNTITLED, "config.test.yaml": stage})

    assert codes(checked(stile)["warnings"]) == ["untitled-tool"]
    assert checked(stile, "--stage", "test")["warnings"] == []


def test_a_project_of_stepzen_ignores_alike(workplace: Path, stile: Stile) -> None:
    files = {**UNTITLED, "stepzen.config.json": '{"endpoint": "api/things"}'}
    config = ignoring("{code: untitled-tool, reason: no}", "{code: ignored-section, reason: StepZen reads it}")
    write_endpoint(workplace, {**files, "config.yaml": f"configurationset: []\n{config}"})

    assert checked(stile)["warnings"] == []


def test_warnings_that_the_command_adds_are_silenced_too(
    workplace: Path, stile: Stile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("STILE_STATE_KEY", raising=False)
    asking = 'query A @mcpTool(name: "a", title: "A", description: "It is.", confirm: required) { a }\n'
    config = ignoring("{code: no-upstream, reason: not yet}", config="access: {anonymous: allow}\n")
    write_endpoint(workplace, {**FILES, "operations/a.graphql": asking, "config.yaml": config})

    assert "no-upstream" not in codes(checked(stile)["warnings"])
    assert codes(checked(stile)["warnings"]) == ["needs-state-key"]


def test_tool_that_starts_jobs_needs_a_state_key(
    workplace: Path, stile: Stile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("STILE_STATE_KEY", raising=False)
    write_endpoint(workplace, files_of("https://jobs.example.com/graphql", options='title: "Export"'))

    warnings = checked(stile)["warnings"]
    assert [each["sentence"][:24] for each in warnings if each["code"] == "needs-state-key"] == [
        "tool export starts jobs,"
    ]
    assert "gives no ids to ask about jobs" in stile("publish", "api/things", "store", "--create", "--allow-open").out
