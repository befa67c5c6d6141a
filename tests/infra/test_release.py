"""Names of releases: digests of what was built, and a warning of a name that was used before."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "infra").mkdir()
    for name in ("release.py", "build_settings.py"):
        shutil.copy(ROOT / "infra" / name, tmp_path / "infra" / name)
    built = tmp_path / "artifact"
    (built / "handler").mkdir(parents=True)
    (built / "handler" / "a.py").write_text("a = 1\n", "utf-8")
    configure(tmp_path)
    return tmp_path


def configure(repository: Path, *, release: str = "", hosts: str = "") -> None:
    overrides = f'UpstreamHosts = "{hosts}"\n' + (f'Release = "{release}"\n' if release else "")
    text = f"version = 0.1\n[default.global.parameters.parameter_overrides]\n{overrides}"
    (repository / "samconfig.toml").write_text(text, "utf-8")


def ran(repository: Path, *arguments: str) -> tuple[int, str, str]:
    command = [sys.executable, "infra/release.py", *arguments]
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout.strip(), done.stderr


def test_digest_is_that_of_names_and_bytes(repository: Path) -> None:
    digest = ran(repository, "artifact")[1]
    assert len(digest) == 12
    assert ran(repository, "artifact")[1] == digest

    (repository / "artifact" / "handler" / "a.py").rename(repository / "artifact" / "handler" / "b.py")
    renamed = ran(repository, "artifact")[1]
    (repository / "artifact" / "handler" / "b.py").write_text("a = 2\n", "utf-8")
    assert len({digest, renamed, ran(repository, "artifact")[1]}) == 3


def test_name_changes_with_the_code_and_with_the_parameters(repository: Path) -> None:
    code, _, said = ran(repository)
    assert (code, "sam build" in said) == (1, True)

    built = repository / ".aws-sam" / "build" / "StileFunction" / "handler" / "build.json"
    built.parent.mkdir(parents=True)
    names = []
    for digest, hosts in (("a" * 12, ""), ("b" * 12, ""), ("b" * 12, "api.example.com")):
        built.write_text(json.dumps({"release": digest}), "utf-8")
        configure(repository, hosts=hosts)
        code, name, said = ran(repository)
        assert (code, name.startswith(f"{digest}-"), said) == (0, True, "")
        names.append(name)
    assert len(set(names)) == 3


@pytest.mark.parametrize("change", ["code", "parameters"])
def test_used_name_in_the_file_is_named_with_what_to_do(repository: Path, change: str) -> None:
    configure(repository, release="one")
    assert ran(repository, "artifact")[2] == ""
    assert ran(repository, "artifact")[2] == ""

    if change == "code":
        (repository / "artifact" / "handler" / "a.py").write_text("a = 2\n", "utf-8")
    else:
        configure(repository, release="one", hosts="api.example.com")
    code, digest, said = ran(repository, "artifact")
    assert (code, len(digest)) == (0, 12)
    assert 'Release is "one"' in said
    assert "infra/release.py" in said
    configure(repository, release="two")
    assert ran(repository, "artifact")[2] == ""


def test_build_without_the_file_has_a_digest(repository: Path) -> None:
    (repository / "samconfig.toml").unlink()

    assert ran(repository, "artifact")[::2] == (0, "")


@pytest.mark.parametrize("damaged", ["[1]", "5", '"text"', "{", ""])
def test_damaged_file_of_a_build_ends_in_a_sentence_or_is_written_anew(repository: Path, damaged: str) -> None:
    built = repository / ".aws-sam" / "build" / "StileFunction" / "handler" / "build.json"
    known = repository / ".stile" / "releases.json"
    for file in (built, known):
        file.parent.mkdir(parents=True)
        file.write_text(damaged, "utf-8")
    configure(repository, release="one")

    code, _, said = ran(repository)
    assert (code, "sam build" in said, "Traceback" in said) == (1, True, False)
    code, digest, said = ran(repository, "artifact")
    assert (code, said) == (0, "")
    assert json.loads(known.read_text("utf-8"))["one"].startswith(digest)
