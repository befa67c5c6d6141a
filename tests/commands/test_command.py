"""The door: `stile` itself, and what happens where its packages are missing."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from handler import __version__
from handler.commands import COMMANDS, load_command
from handler.commands.command_line import EXIT_CODES
from tests.commands.running import FILES, Stile, ran
from tests.conftest import ROOT
from tests.support.endpoints import write_endpoint

WITHOUT = """
import runpy, sys
sys.modules[{missing!r}] = None  # how Python knows a module that cannot be imported
sys.argv = ["stile", *{arguments!r}]
runpy.run_module("handler", run_name="__main__")
"""


@pytest.mark.parametrize(
    ("missing", "command"), [("yaml", "check"), ("rich", "check"), ("uvicorn", "serve"), ("watchfiles", "dev")]
)
def test_without_a_package_it_says_what_to_install(missing: str, command: str) -> None:
    code = WITHOUT.format(missing=missing, arguments=[command, "."])

    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines() == [
        f"stile: the command needs packages that are not installed ({missing} is missing).",
        "Install the wheel of Stile with its packages, or run `make setup` in a clone: docs/install.md shows both.",
    ]


def test_the_version() -> None:
    done = ran("--version")

    assert (done.code, done.out, done.err) == (0, f"stile {__version__}\n", "")


def test_alone_it_says_which_commands_there_are_and_exits_2(stile: Stile) -> None:
    done = stile()

    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("usage: stile ")
    assert all(re.search(rf"^    {name}\b", done.err, re.MULTILINE) for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_explains_itself(stile: Stile, name: str) -> None:
    done = stile(name, "--help")

    assert (done.code, done.err) == (0, "")
    assert COMMANDS[name] in " ".join(done.out.split())


def test_a_name_that_ascii_output_cannot_show_is_no_crash(workplace: Path) -> None:
    write_endpoint(workplace / "größe", {**FILES, "config.yaml": "upstrem: {}\n"})

    done = ran("check", ".", PYTHONIOENCODING="ascii")

    assert done.code == 1
    assert done.out.startswith(r"gr\xf6\xdfe/api/things/config.yaml:1:1: ")


@pytest.mark.parametrize("name", COMMANDS)
def test_each_help_has_examples_of_known_options_and_the_exit_codes(stile: Stile, name: str) -> None:
    told = stile(name, "--help").out
    command = load_command(name)

    assert command.EXAMPLES
    for example in command.EXAMPLES:
        assert example in " ".join(told.split())
        program, command_name, *words = shlex.split(example.removeprefix('eval "$(').removesuffix(')"'))
        assert (program, command_name) == ("stile", name)
        assert {word for word in words if word.startswith("--")} <= set(
            re.findall(r"^  (--[\w-]+)", told, re.MULTILINE)
        )
    for code, meaning in {**EXIT_CODES, **command.EXIT_CODES}.items():
        assert f" {code} {meaning} " in " ".join([*told.split(), ""]), code


@pytest.mark.parametrize(
    ("words", "usage", "said"),
    [
        (["chekc"], "usage: stile [-h]", 'there is no command "chekc"; did you mean check?'),
        (["zzz"], "usage: stile [-h]", 'there is no command "zzz"; `stile --help` lists the commands'),
        (["--json", "check", "."], "usage: stile check [-h]", "--json stands behind the command: stile check --json"),
    ],
)
def test_slip_before_the_options_is_told(stile: Stile, words: list[str], usage: str, said: str) -> None:
    done = stile(*words)

    assert done.code == 2
    assert done.err.startswith(usage)
    assert done.err.endswith(f"error: {said}\n")


def test_help_of_all_names_the_beginning_the_documents_and_the_exit_codes(stile: Stile) -> None:
    told = stile("--help").out

    assert "begin with:\n  stile init " in told
    assert "docs/start.md" in told
    assert all(f"  {code:<4} {meaning}" in told for code, meaning in EXIT_CODES.items())
    assert all((ROOT / page).is_file() for page in re.findall(r"docs/\w+\.md", told))


HEAVY = {
    "boto3",
    "cryptography",
    "graphql",
    "jsonschema",
    "pydantic",
    "rich",
    "starlette",
    "urllib3",
    "uvicorn",
    "watchfiles",
    "yaml",
}


def test_help_of_all_loads_no_command_and_no_package_of_others() -> None:
    loaded = modules_after("--help")

    own = {name for name in loaded if name.startswith("handler.commands.")}
    assert own == {"handler.commands.command_line"}
    assert not HEAVY & {name.partition(".")[0] for name in loaded}


SERVING = ("aws", "code_tools", "http.client", "server.mcp", "server.outgoing", "server.upstream")


def test_check_of_an_endpoint_without_python_and_policy_tests_loads_nothing_that_serves(tmp_path: Path) -> None:
    demo = ROOT / "examples/endpoints/api/customers"
    folder = shutil.copytree(demo, tmp_path / "demo", ignore=shutil.ignore_patterns("policies.test.yaml"))

    loaded = modules_after("check", str(folder))

    assert "handler.compiler.compile" in loaded
    assert {name.partition(".")[0] for name in loaded} & HEAVY <= {"graphql", "rich", "yaml"}
    assert not {"rich.console", "rich.text"} & loaded  # rich.cells has the widths of characters
    assert not {name for name in loaded if name.startswith(tuple(f"handler.{room}" for room in SERVING))}


def modules_after(*arguments: str) -> set[str]:
    """The modules that a run of the command has loaded, in a process of its own."""
    program = (
        "import sys\nfrom handler.__main__ import main\n"
        f"main({list(arguments)!r})\nprint('\\n'.join(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(done.stderr.split())


WORDS = {
    "init": ("new", "--from", "https://api.example.com/graphql"),
    "new": ("new",),
    "call": ("folder", "a"),
    "find": ("folder", "a question"),
    "diff": ("folder", "folder"),
    "publish": ("folder", "out"),
    "published": ("out",),
    "rollback": ("out/api/things",),
    "remove": ("out/api/things",),
    "gc": ("out",),
    "manifest": ("folder", "--format", "apollo"),
    "key": ("ci",),
    "token": ("folder", "sub=ada"),
    "completion": ("bash",),
    "connect": ("cursor", "folder"),
}
"""The arguments of commands that take others than a folder."""


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_that_begins_in_a_deleted_folder_says_so(
    tmp_path: Path, stile: Stile, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    folder = write_endpoint(tmp_path / "endpoints", FILES)
    places = {"folder": str(folder), "out": str(tmp_path), "new": str(tmp_path / "new" / "one")}
    places["out/api/things"] = f"{tmp_path}/api/things"
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()

    done = stile(name, *(places.get(word, word) for word in WORDS.get(name, ("folder",))))

    assert (done.code, done.out) == (3 if name == "diff" else 2, "")
    assert done.err == (
        "The current folder cannot be used (No such file or directory): change to a folder that exists.\n"
    )
