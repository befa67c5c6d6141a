"""Texts of callers, authors and APIs are shown, and never obeyed by the terminal."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from handler.commands.console import complain, one_line, say, show_json, show_table, track
from tests.commands.running import FILES, Stile
from tests.support.api import Reply, running_api
from tests.support.endpoints import write_endpoint

HOSTILE = "a\x1b[2Jb\x9b31m\u202ec\x07\r\u2028d\U000e0069"
SHOWN = r"a\x1b[2Jb\x9b31m\u202ec\x07\r\u2028d\U000e0069"
MARKUP = "[red]x[/red] [link=https://evil.example]y[/link] :smile:"


@pytest.mark.parametrize("show", [say, complain])
def test_lines_show_control_characters_as_escapes_and_markup_as_it_is(
    capsys: pytest.CaptureFixture[str], show: object
) -> None:
    assert callable(show)
    show(f"{HOSTILE} {MARKUP}")

    printed = capsys.readouterr()
    assert printed.out + printed.err == f"{SHOWN} {MARKUP}\n"


def test_lines_keep_their_own_breaks_and_what_scripts_and_emoji_are_written_with(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = "one\r\ntwo 👩‍💻 می‌خواهم ❤️"

    say(text)

    assert capsys.readouterr().out == f"{text}\n".replace("\r\n", "\n")


def test_cells_of_a_table_stay_on_their_line(capsys: pytest.CaptureFixture[str]) -> None:
    show_table("title\nforged", ("tool", "bytes"), [(f"{HOSTILE}\nforged {MARKUP}", 1)])

    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert lines[2].startswith(rf"{SHOWN}\nforged {MARKUP}")


def test_json_says_the_same_in_escapes(capsys: pytest.CaptureFixture[str]) -> None:
    value = {"name": f"{HOSTILE}\n", "fine": "👩‍💻 é"}

    show_json(value)

    printed = capsys.readouterr().out
    assert json.loads(printed) == value
    assert printed.replace("\n", "").isascii() is False
    assert all(each.isprintable() or each in "\n\u200d" for each in printed)


def test_text_of_one_line_has_no_breaks() -> None:
    assert one_line("a\nb\tc\x1b") == r"a\nb\tc\x1b"


def test_answer_of_an_api_is_escaped_by_stile_call(workplace: Path, stile: Stile) -> None:
    with running_api(lambda _: Reply({"data": {"a": HOSTILE}})) as api:
        config = FILES["config.yaml"].replace("https://things.example/graphql", api.url)
        write_endpoint(workplace, {**FILES, "config.yaml": config})
        done = stile("call", ".", "a")

    assert json.loads(done.out) == {"data": {"a": HOSTILE}}
    assert done.out.replace("\n", "").isprintable()


def test_error_of_an_api_is_escaped_by_stile_call(workplace: Path, stile: Stile) -> None:
    with running_api(lambda _: Reply({"errors": [{"message": HOSTILE}], "data": None})) as api:
        config = FILES["config.yaml"].replace("https://things.example/graphql", api.url)
        write_endpoint(workplace, {**FILES, "config.yaml": config})
        done = stile("call", ".", "a")

    assert (done.out + done.err).replace("\n", "").isprintable()


def test_bar_shows_names_as_they_are() -> None:
    terminal = StringIO()
    console = Console(force_terminal=True, width=200, file=terminal)
    names = ["[link=https://evil.example]x[/link]", "[red]y", HOSTILE]

    assert list(track(names, "Compiling", console, name=str)) == names

    shown = terminal.getvalue()
    assert "\x1b]8;" not in shown
    assert "\x1b[2Jb" not in shown
