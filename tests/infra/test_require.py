from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.support.require import requires


def test_what_is_there_is_required_in_silence() -> None:
    requires("sam", True, "unused")


def test_what_is_missing_skips_the_test_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STILE_REQUIRE", raising=False)

    with pytest.raises(pytest.skip.Exception, match=r"^sam is missing: `make sam-setup` installs it$"):
        requires("sam", None, "`make sam-setup` installs it")


def test_what_is_missing_fails_the_test_where_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STILE_REQUIRE", "moto,sam")

    with pytest.raises(pytest.fail.Exception, match=r"^sam is missing: `make sam-setup` installs it"):
        requires("sam", None, "`make sam-setup` installs it")


def test_a_name_that_only_begins_alike_is_not_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STILE_REQUIRE", "sam-cli")

    with pytest.raises(pytest.skip.Exception):
        requires("sam", None, "`make sam-setup` installs it")


@pytest.mark.parametrize(("target", "stamp"), [("conformance", "node-conformance"), ("clients", "node")])
@pytest.mark.parametrize(("require", "code"), [("", 0), ("moto,nodes", 0), ("moto,node", 2)])
def test_without_npm_the_suites_of_others_are_skipped_in_sight_or_fail_where_node_is_required(
    tmp_path: Path, target: str, stamp: str, require: str, code: int
) -> None:
    programs, suite = tmp_path / "bin", tmp_path / "tests" / target
    programs.mkdir()
    for name in ("bash", "uname"):
        (programs / name).symlink_to(str(shutil.which(name)))
    suite.mkdir(parents=True)
    for name in ("package.json", "package-lock.json"):
        (suite / name).touch()

    done = subprocess.run(
        [str(shutil.which("make")), "-f", ROOT / "Makefile", f".stile/{stamp}/.stamp"],
        cwd=tmp_path,
        env={"PATH": str(programs), "STILE_REQUIRE": require},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == code, done.stderr
    assert f"npm is missing: `make {target}` skips what it would install with it." in done.stderr
    assert not (tmp_path / ".stile").exists()


@pytest.mark.parametrize("target", ["conformance", "clients"])
def test_ci_skips_none_of_the_suites_of_others(target: str) -> None:
    (line,) = re.findall(rf"^ *step .* make {target}$", (ROOT / ".ci" / "run").read_text("utf-8"), re.MULTILINE)

    assert re.search(r'STILE_REQUIRE="\$STILE_REQUIRE,node[,"]', line)
