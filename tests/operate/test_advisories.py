"""The audit of the locks: what was not audited is never a success, and no advisory is lost."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.operate.programs import program
from tests.support.api import Asked, Reply, running_api
from tests.support.require import requires

ADVISORIES = program("advisories")
PYTHON = ROOT / ".stile" / "advisories" / "bin" / "python"
LOCKS = {
    "run.txt": "urllib3==2.8.0 \\\n    --hash=sha256:00\nold-thing==1.0 ; python_full_version < '3.5' \\\n",
    "dev.txt": "old-thing==2.0\n",
}
SKIPPED = "Dependency not found on PyPI and could not be audited: urllib3 (2.8.0)"
VULNERABLE = {"id": "PYSEC-1", "fix_versions": ["1.1"], "aliases": [], "description": ""}


@pytest.fixture
def locks(tmp_path: Path) -> Path:
    """A project with two locks, which hold two versions of one package."""
    folder = tmp_path / "requirements"
    folder.mkdir()
    for name, text in LOCKS.items():
        (folder / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_every_version_is_audited_whatever_its_marker_and_each_package_once_in_a_file(locks: Path) -> None:
    pins = ADVISORIES.pins_of(locks / "requirements")
    batches = ADVISORIES.batches(sorted(pins))

    assert pins == {
        ("urllib3", "2.8.0"): ["run.txt"],
        ("old-thing", "1.0"): ["run.txt"],
        ("old-thing", "2.0"): ["dev.txt"],
    }
    assert sorted(pin for batch in batches for pin in batch) == sorted(pins)
    assert all(len({name for name, _ in batch}) == len(batch) for batch in batches)


@pytest.mark.parametrize(
    "answer",
    [
        "ConnectionError: no way",
        {"dependencies": [{"name": "urllib3", "skip_reason": SKIPPED}]},
        {"dependencies": []},
        {},
    ],
    ids=str,
)
def test_service_that_did_not_audit_is_told_so(answer: Any) -> None:
    assert ADVISORIES.unaudited(answer)


def test_audited_package_is_told_so() -> None:
    assert ADVISORIES.unaudited({"dependencies": [{"name": "urllib3", "version": "2.8.0", "vulns": []}]}) == ""


@pytest.mark.parametrize(
    ("advised", "not_audited", "code"), [([], [], 0), (["a"], [], 1), ([], ["b"], 3), (["a"], ["b"], 1)]
)
def test_exit_code_tells_advisories_from_a_whole_audit_and_both_from_none(
    advised: list[str], not_audited: list[str], code: int
) -> None:
    findings = ADVISORIES.Findings(advised=advised, not_audited=not_audited)

    assert findings.exit_code == code
    assert [f"ADVISORY: {each}" in ADVISORIES.report(findings) for each in advised] == [True] * len(advised)
    assert [f"NOT AUDITED: {each}" in ADVISORIES.report(findings) for each in not_audited] == [True] * len(not_audited)


def test_report_has_the_age_of_the_certificates_of_authorities(tmp_path: Path) -> None:
    lock = tmp_path / "run.txt"
    lock.write_text("certifi==2026.10.18 \\\n    --hash=sha256:00\n")

    sentence = ADVISORIES.age_of_certificates(lock, date(2026, 11, 28))

    assert "of 2026-10-18, 41 days old" in sentence
    assert sentence in ADVISORIES.report(ADVISORIES.Findings(certificates=sentence))
    assert ADVISORIES.age_of_certificates(ROOT / "requirements" / "run.txt", date(2026, 11, 28))
    assert ADVISORIES.age_of_certificates(tmp_path / "none.txt", date(2026, 11, 28)) == ""


def test_package_that_one_answer_skips_is_not_audited() -> None:
    findings = ADVISORIES.Findings()
    packages = [{"name": "Urllib3", "version": "2.8.0", "vulns": [VULNERABLE]}, {"name": "b", "skip_reason": SKIPPED}]
    ADVISORIES.note_python(findings, {"dependencies": packages}, {("urllib3", "2.8.0"): ["run.txt"]})
    ADVISORIES.note_python(findings, "Traceback", {})

    assert findings.advised == ["Urllib3 2.8.0 (run.txt): PYSEC-1, fixed in 1.1"]
    assert findings.not_audited == [SKIPPED, "Traceback"]
    assert findings.audited == 1


NPM = {
    "vulnerabilities": {
        "a": {"via": [{"name": "a", "range": "<2", "url": "https://github.com/advisories/GHSA-1", "severity": "high"}]},
        "b": {"via": ["a"]},
    },
    "metadata": {"dependencies": {"total": 7}},
}


@pytest.mark.parametrize(
    ("printed", "advised", "not_audited"),
    [
        (NPM, ["a <2 (tests/one): GHSA-1, high"], 0),
        ({"message": "405 Method Not Allowed", "statusCode": 405}, [], 1),
        ({"error": {"summary": ""}}, [], 1),
        ("not JSON", [], 1),
    ],
    ids=str,
)
def test_answer_of_npm_is_read(tmp_path: Path, printed: Any, advised: list[str], not_audited: int) -> None:
    lock = tmp_path / "tests" / "one" / "package-lock.json"
    lock.parent.mkdir(parents=True)
    lock.write_text("{}", "utf-8")
    npm = tmp_path / "npm"
    (tmp_path / "answer").write_text(printed if isinstance(printed, str) else json.dumps(printed), "utf-8")
    npm.write_text(f"#!/bin/sh\ncat {tmp_path / 'answer'}\nexit 1\n", "utf-8")
    npm.chmod(0o755)
    findings = ADVISORIES.Findings()

    ADVISORIES.audit_npm(findings, [lock], str(npm), set())

    assert findings.advised == advised
    assert len(findings.not_audited) == not_audited
    ignoring = ADVISORIES.Findings()
    ADVISORIES.audit_npm(ignoring, [lock], str(npm), {"GHSA-1"})
    assert ignoring.advised == []


def test_npm_that_is_missing_is_not_audited(tmp_path: Path) -> None:
    findings = ADVISORIES.Findings()
    ADVISORIES.audit_npm(findings, [tmp_path / "package-lock.json"], "/nowhere/npm", set())

    assert findings.exit_code == 3


# pip-audit itself, which asks a service on loopback


@pytest.fixture
def service() -> Iterator[Any]:
    requires("advisories", PYTHON.exists(), "`make advisories` installs pip-audit")

    def answered(asked: Asked) -> Reply:
        package = asked.json
        if package["package"]["name"] != "old-thing" or package["version"] != "1.0":
            return Reply({})
        affected = [{"package": package["package"], "ranges": [{"type": "ECOSYSTEM", "events": [{"fixed": "1.1"}]}]}]
        return Reply({"vulns": [{"id": "PYSEC-1", "summary": "s", "details": "d", "affected": affected}]})

    with running_api(answered) as api:
        yield api


def audited(locks: Path, url: str, *more: str) -> subprocess.CompletedProcess[str]:
    command = [
        str(PYTHON),
        "infra/advisories.py",
        "--locks",
        str(locks),
        "--npm",
        "",
        "--service",
        "osv",
        "--osv-url",
        url,
    ]
    return subprocess.run([*command, *more], cwd=ROOT, capture_output=True, text=True, check=False)


def test_audit_finds_the_advisory_of_one_version_and_ignores_it_if_told(locks: Path, service: Any) -> None:
    found, ignoring = audited(locks, service.url), audited(locks, service.url, "--ignore", "PYSEC-1")

    assert found.stdout == (
        "ADVISORY: old-thing 1.0 (run.txt): PYSEC-1, fixed in 1.1\n"
        "3 packages audited, 1 advisories, 0 packages or locks not audited.\n"
    )
    assert (found.returncode, ignoring.returncode) == (1, 0)


def test_service_that_cannot_be_reached_is_asked_once_and_is_no_success(locks: Path, service: Any) -> None:
    service.answer = lambda _: Reply({}, status=503)
    refused = audited(locks, service.url)
    asked = len(service.asked)
    away = audited(locks, "http://127.0.0.1:9/query")

    assert (refused.returncode, away.returncode) == (3, 3)
    assert asked <= 2
    for done in (refused, away):
        assert done.stdout.startswith("NOT AUDITED: 3 packages of requirements/*.txt: ")
        assert done.stdout.endswith("0 packages audited, 0 advisories, 1 packages or locks not audited.\n")
