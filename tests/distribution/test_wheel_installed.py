"""The wheel in an empty environment, with the packages of its lock and nothing of this repository."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from handler import __version__
from handler.commands import MISSING_PACKAGE
from tests.commands.apis import SHOP
from tests.distribution.environments import empty_environment, install, install_lock, pip, run


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of an environment with the wheel and the packages of the command."""
    programs = empty_environment(tmp_path_factory.mktemp("installed"))
    install_lock(programs, "cli.txt")
    install(programs, "--no-index", str(wheel))
    return programs


def test_lock_of_the_command_has_all_that_the_wheel_asks_for(installed: Path) -> None:
    checked = pip(installed, "check")

    assert (checked.returncode, checked.stdout) == (0, "No broken requirements found.\n")


def test_command_goes_from_a_schema_to_an_endpoint_without_problems(installed: Path, tmp_path: Path) -> None:
    stile = str(installed / "stile")
    (tmp_path / "shop.graphql").write_text(SHOP, encoding="utf-8")
    source = ("--from", "shop.graphql", "--url", "https://api.example.com/graphql", "--access", "open")

    version = run(stile, "--version", cwd=tmp_path)
    made = run(stile, "init", "shop/products", *source, cwd=tmp_path)
    checked = run(stile, "check", "shop", cwd=tmp_path)

    assert version.stdout == f"stile {__version__}\n"
    assert (made.returncode, made.stderr) == (0, "")
    assert (checked.returncode, checked.stdout.splitlines()[-1]) == (0, "No problems in 1 endpoint")


def test_tools_in_python_are_imported_from_the_installed_package(installed: Path, tmp_path: Path) -> None:
    program = "import stile, handler; from stile import Field, Toolkit; print(stile.__file__, handler.__file__)"

    done = run(str(installed / "python"), "-c", program, cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert all(str(installed.parent) in path for path in done.stdout.split())


def test_wheel_that_was_installed_goes_into_a_new_repository(installed: Path, wheel: Path, tmp_path: Path) -> None:
    made = run(str(installed / "stile"), "new", "repository", cwd=tmp_path)

    assert (made.returncode, made.stderr) == (0, "")
    assert (tmp_path / "repository" / "vendor" / wheel.name).read_bytes() == wheel.read_bytes()


def test_wheel_without_its_packages_says_what_to_install(wheel: Path, tmp_path: Path) -> None:
    programs = empty_environment(tmp_path / "bare")
    install(programs, "--no-index", str(wheel))

    done = run(str(programs / "stile"), "check", ".", cwd=tmp_path)

    names = [name for name in sys.stdlib_module_names if f"({name} is missing)" in done.stderr]
    assert (done.returncode, done.stdout, names) == (2, "", [])
    assert done.stderr.splitlines()[1:] == MISSING_PACKAGE.splitlines()[1:]
