"""Hold every lock against the known vulnerabilities of its packages: `make advisories`.

pip-audit and `npm audit` ask services of others. pip-audit ends with 0 if the service does not know a package, and so
also where an index of its own stands in for PyPI. Such a package counts as not audited here, with an exit code of its
own. Each service is first asked for one package or lock, and for no other one if that could not be audited.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
ADVISED, NOT_AUDITED = 1, 3
"""Exit codes: a package has an advisory; a package was not audited, and none that was has an advisory."""

PROBE = "urllib3"
"""The package that is asked for first: every index has it, and the function needs it."""

PINNED = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", re.MULTILINE)

Pin = tuple[str, str]
Runs = Sequence[str]


@dataclass
class Findings:
    """Advisories, and what could not be audited, as lines for a reader."""

    advised: list[str] = field(default_factory=list)
    not_audited: list[str] = field(default_factory=list)
    audited: int = 0
    certificates: str = ""

    @property
    def exit_code(self) -> int:
        """The program's exit code."""
        return ADVISED if self.advised else NOT_AUDITED if self.not_audited else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Audit all locks, and print what was found and what was not audited."""
    parser = argparse.ArgumentParser(prog="make advisories", description=__doc__)
    parser.add_argument("--locks", type=Path, default=ROOT, help="the folder with requirements/ and package-lock.json")
    parser.add_argument("--ignore", action="append", default=[], metavar="ID", help="an advisory that was judged")
    parser.add_argument("--service", default="pypi", choices=["pypi", "osv"], help="whom pip-audit asks")
    parser.add_argument("--osv-url", default="", help="another address of the service osv")
    parser.add_argument("--npm", default="npm", help="the program; empty: package-lock.json files are left out")
    options = parser.parse_args(arguments)
    findings = Findings()
    service = ["--vulnerability-service", options.service]
    service += ["--osv-url", options.osv_url] if options.osv_url else []
    audit_python(findings, options.locks / "requirements", [*service, *ignored(options.ignore)])
    findings.certificates = age_of_certificates(options.locks / "requirements" / "run.txt", date.today())
    if options.npm:
        audit_npm(findings, sorted(package_locks(options.locks)), options.npm, set(options.ignore))
    sys.stdout.write(report(findings))
    return findings.exit_code


def ignored(ids: Iterable[str]) -> list[str]:
    """Return the options of pip-audit that leave out advisories."""
    return [each for advisory in ids for each in ("--ignore-vuln", advisory)]


def report(findings: Findings) -> str:
    """Return what a reader is told."""
    lines = [f"ADVISORY: {each}" for each in sorted(findings.advised)]
    lines += [f"NOT AUDITED: {each}" for each in sorted(findings.not_audited)]
    lines += [findings.certificates] if findings.certificates else []
    lines.append(
        f"{findings.audited} packages audited, {len(findings.advised)} advisories, "
        f"{len(findings.not_audited)} packages or locks not audited."
    )
    return "\n".join(lines) + "\n"


# Python


def age_of_certificates(lock: Path, today: date) -> str:
    """Return the age of the function's certificates of authorities, by the version of certifi; empty without them."""
    pinned = re.search(
        r"^certifi==(\d+)\.(\d+)\.(\d+)", lock.read_text("utf-8") if lock.is_file() else "", re.MULTILINE
    )
    if not pinned:
        return ""
    released = date(*map(int, pinned.groups()))
    return (
        f"The function's certificates of authorities are of {released}, {(today - released).days} days old. A newer "
        "certifi in pyproject.toml and `make lock` renew them."
    )


def audit_python(findings: Findings, folder: Path, options: Runs) -> None:
    """Audit every version that a lock names, whatever its marker says of this machine."""
    pins = pins_of(folder)
    probe = [pin for pin in pins if pin[0] == PROBE][:1] or sorted(pins)[:1]
    reason = unaudited(pip_audit(probe, options))
    if reason:
        findings.not_audited.append(f"{len(pins)} packages of requirements/*.txt: {reason}")
        return
    for batch in batches(sorted(pins)):
        note_python(findings, pip_audit(batch, options), pins)


def pins_of(folder: Path) -> dict[Pin, list[str]]:
    """Return each name and version with the locks that hold it."""
    found: dict[Pin, list[str]] = {}
    for lock in sorted(folder.glob("*.txt")):
        for name, version in PINNED.findall(lock.read_text("utf-8")):
            found.setdefault((name.lower(), version), []).append(lock.name)
    return found


def batches(pins: Iterable[Pin]) -> list[list[Pin]]:
    """Share pins out into files in which no package stands twice, which pip-audit refuses."""
    found: list[dict[str, Pin]] = []
    for pin in pins:
        place = next((each for each in found if pin[0] not in each), None)
        if place is None:
            found.append(place := {})
        place[pin[0]] = pin
    return [list(each.values()) for each in found]


def pip_audit(pins: Sequence[Pin], options: Runs) -> Any:
    """Return pip-audit's answer; its last line of complaint as text if it gave none."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
        file.writelines(f"{name}=={version}\n" for name, version in pins)
        file.flush()
        command = [sys.executable, "-m", "pip_audit", "--requirement", file.name, "--no-deps", "--disable-pip"]
        command += ["--format", "json", "--progress-spinner", "off", *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - pip-audit
    return answered(done.stdout, done.stderr)


def answered(out: str, err: str) -> Any:
    """Return the JSON that a program printed, or the last line of its complaint."""
    try:
        return json.loads(out)
    except ValueError:
        return ([line for line in err.splitlines() if line.strip()] or ["no answer"])[-1].strip()


def unaudited(answer: Any) -> str:
    """Return why nothing was audited; empty if something was."""
    if not isinstance(answer, Mapping):
        return str(answer)
    packages = answer.get("dependencies", ())
    skipped = [each["skip_reason"] for each in packages if "skip_reason" in each]
    return skipped[0] if skipped else "" if packages else "the service answered with no package"


def note_python(findings: Findings, answer: Any, pins: Mapping[Pin, Sequence[str]]) -> None:
    """Note what pip-audit answered for one batch."""
    if not isinstance(answer, Mapping):
        findings.not_audited.append(str(answer))
        return
    for package in answer["dependencies"]:
        if "skip_reason" in package:
            findings.not_audited.append(package["skip_reason"])
            continue
        findings.audited += 1
        locks = ", ".join(pins.get((package["name"].lower(), package["version"]), ()))
        for each in package["vulns"]:
            fixed = ", ".join(each.get("fix_versions", ())) or "no version"
            findings.advised.append(f"{package['name']} {package['version']} ({locks}): {each['id']}, fixed in {fixed}")


# npm


def package_locks(folder: Path) -> list[Path]:
    """Return the locks of npm that the project holds."""
    found = (path for place in ("examples", "tests") for path in (folder / place).rglob("package-lock.json"))
    return [path for path in found if "node_modules" not in path.parts]


def audit_npm(findings: Findings, locks: Sequence[Path], npm: str, ignore: set[str]) -> None:
    """Audit locks up to the first that could not be audited."""
    for number, lock in enumerate(locks):
        answer = npm_audit(lock, npm) if shutil.which(npm) else "npm is missing"
        if not isinstance(answer, Mapping) or "vulnerabilities" not in answer:
            reason = answer.get("message", "no answer") if isinstance(answer, Mapping) else answer
            findings.not_audited.append(f"{len(locks) - number} files package-lock.json, from {place(lock)}: {reason}")
            return
        findings.audited += answer["metadata"]["dependencies"]["total"]
        findings.advised += advisories_of(answer, place(lock), ignore)


def npm_audit(lock: Path, npm: str) -> Any:
    """Return the answer of `npm audit` for a lock, without installing a package."""
    command = [npm, "audit", "--package-lock-only", "--json", "--fetch-retries=0"]
    done = subprocess.run(command, cwd=lock.parent, capture_output=True, text=True, check=False)  # noqa: S603 - npm
    return answered(done.stdout, done.stderr)


def advisories_of(answer: Mapping[str, Any], lock: str, ignore: set[str]) -> list[str]:
    """Return one line for each advisory; a package that is named only for what it depends on has none."""
    return [
        f"{via['name']} {via['range']} ({lock}): {via['url'].rpartition('/')[2]}, {via['severity']}"
        for package in answer["vulnerabilities"].values()
        for via in package["via"]
        if isinstance(via, Mapping) and via["url"].rpartition("/")[2] not in ignore
    ]


def place(lock: Path) -> str:
    """Return a lock's folder as a reader names it."""
    return "/".join(lock.parent.parts[-2:])


if __name__ == "__main__":
    sys.exit(main())
