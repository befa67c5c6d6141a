"""Commands on terminals of several widths, in pipes, without colour and without UTF-8."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from rich.cells import cell_len

from tests.commands.running import CONFIG, FILES, ran, ran_on_terminal
from tests.support.endpoints import write_endpoint
from tests.support.examples import FULL

ROOTS = ", ".join(f"field{number}: Int" for number in range(40))
WIDE = {
    "index.graphql": f"""
extend schema @tool(name: "a-tool-of-a-rather-long-name", graphql: [{{expose: true, types: "Query", fields: ".*"}}])
type Query {{ größe: String, {ROOTS} }}
""".replace("größe", "size"),
    "config.yaml": CONFIG.replace("condition: true}", 'condition: "?$jwt"}') + "# größe\n",
}
COMMANDS = (
    ("check", "--help"),
    ("check", ".", "--strict"),
    ("explain", ".", "--as", "anonymous"),
    ("explain", "api", "--field", "Query.b"),
    ("find", "api", "größe of the fields"),
    ("editor", "api"),
    ("call", "api", "b"),
    ("publish", "api", "out", "--create"),
    ("publish", "api", "my-bucket/of/a/rather/long/name/for/a/narrow/terminal"),
)
ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
SETTINGS: Mapping[str, Mapping[str, str]] = {
    "colour": {},
    "NO_COLOR": {"NO_COLOR": "1"},
    "dumb": {"TERM": "dumb"},
    "ascii": {"PYTHONIOENCODING": "ascii"},
    "LANG=C": {"LANG": "C", "LC_ALL": "C"},
}


@pytest.fixture
def folder(workplace: Path) -> Path:
    write_endpoint(workplace, FILES, name="api/small")
    write_endpoint(workplace, WIDE, name="api/wide")
    write_endpoint(workplace / "größe" / "wrong", {**FILES, "config.yaml": "upstrem: {}\n"})
    return workplace


@pytest.mark.parametrize("words", COMMANDS if FULL else COMMANDS[::3], ids=" ".join)
@pytest.mark.parametrize(("name", "columns"), [("colour", 60), ("dumb", 60), ("NO_COLOR", 80), ("ascii", 100)])
def test_lines_fit_the_terminal_and_places_stay_whole(
    folder: Path, words: tuple[str, ...], name: str, columns: int
) -> None:
    code, shown = ran_on_terminal(*words, columns=columns, **SETTINGS[name])

    assert code in (0, 1, 2)
    assert "Traceback" not in shown
    assert name != "NO_COLOR" or "\x1b" not in shown
    if name == "ascii":
        assert shown.isascii()
    for line in _kept_lines(shown):
        fits = cell_len(line) <= columns or not re.search(r"\S\s+\S", line) or line.lstrip().startswith(('"', "type "))
        assert fits, line
        assert not re.search(r"config\.ya$|\.graph$|\.yaml:$", line), line


@pytest.mark.parametrize("name", [name for name in SETTINGS if name != "colour"])
@pytest.mark.parametrize("words", [("check", ".")])
def test_output_has_no_escapes_of_a_terminal(folder: Path, name: str, words: tuple[str, ...]) -> None:
    done = ran(*words, **SETTINGS[name])

    assert "Traceback" not in done.err
    assert "\x1b" not in done.out + done.err
    if name in ("NO_COLOR", "dumb"):
        _, shown = ran_on_terminal(*words, columns=80, **SETTINGS[name])
        assert "\x1b" not in shown


def test_table_of_check_keeps_every_column_at_each_width(folder: Path) -> None:
    for columns in (60, 80, 120):
        _, shown = ran_on_terminal("check", "api/wide", columns=columns)
        words = " ".join(_kept_lines(shown)).split()

        for heading in ("kind", "runs", "types", "bytes", "~tokens", "listed", "anonymous"):
            assert words.count(heading) >= 1, (columns, heading)
        assert "a-tool-of-a-rather-long-name" in words


def _kept_lines(shown: str) -> list[str]:
    """The lines that stay on the terminal, without the progress bar that is drawn over."""
    kept = re.sub(r"\x1b\[\?25l.*?\x1b\[\?25h(\r?\x1b\[1A\x1b\[2K)?", "", shown, flags=re.DOTALL)
    return [ANSI.sub("", line).rstrip("\r") for line in kept.split("\n")]
