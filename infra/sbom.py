"""List what the function and the command are made of, and judge their licences: `make sbom`.

Writes `function.cdx.json` and `command.cdx.json` (CycloneDX), and `licences.md`. All depend on the locks alone, and on
no clock. JavaScript that a page of Stile carries is listed too, by the manifest and the licences beside it.
"""

from __future__ import annotations

import argparse
import json
import re
import runpy
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
REFUSED = 1

PERMISSIVE = frozenset(
    {"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MIT-0", "PSF-2.0", "Python-2.0", "Unlicense"}
)
"""Licences by their SPDX ids that only ask for their text and a notice."""

DATA = frozenset({("certifi", "MPL-2.0")})
"""Packages of data: their licence asks that a changed copy of a file stays under it, and no certificate is changed."""

BY_NAME = {
    "Apache License, Version 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD-3-Clause",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "MIT No Attribution License (MIT-0)": "MIT-0",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
"""Names of classifiers and older metadata."""

VENDORED = "handler/page/vendor"
LICENCES = "LICENSES.txt"
LICENCE = re.compile(r"^(\S+) (\S+) \((.+)\)$", re.MULTILINE)
"""A package, its version and its licence, above its notice of copyright."""

PROGRAMS = frozenset({".cjs", ".js", ".mjs", ".wasm"})


@dataclass(frozen=True)
class Part:
    """A package. ``kind`` is the ecosystem, as in a package URL."""

    name: str
    version: str
    licence: str
    kind: str = "pypi"

    @property
    def purl(self) -> str:
        """The package URL."""
        return f"pkg:{self.kind}/{self.name.lower().replace('_', '-').replace('@', '%40')}@{self.version}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write all files; 1 if a licence is not permissive."""
    parser = argparse.ArgumentParser(prog="make sbom", description=__doc__)
    parser.add_argument(
        "environments", nargs="+", metavar="NAME=PYTHON", help="the Python of an environment with the packages of NAME"
    )
    parser.add_argument("--out", type=Path, required=True, help="the folder of the files")
    parser.add_argument("--root", type=Path, default=ROOT, help="the folder of the project")
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    vendored = list(vendored_parts(options.root / VENDORED))
    lists: dict[str, list[Part]] = {}
    for name, _, python in (each.partition("=") for each in options.environments):
        parts = [*installed_parts(Path(python)), *vendored]
        lists[name] = sorted(parts, key=lambda part: (part.kind, part.name.lower()))
        bom = bill_of_materials(Path(python), options.root, vendored)
        (options.out / f"{name}.cdx.json").write_text(json.dumps(bom, indent=2, sort_keys=True) + "\n", "utf-8")
    (options.out / "licences.md").write_text(page_of(lists), "utf-8")
    listed = sorted({part for parts in lists.values() for part in parts}, key=lambda part: part.purl)
    refused = [part for part in listed if not is_allowed(part)]
    for part in refused:
        sys.stderr.write(
            f"{part.name} {part.version}: the licence is not on the list of infra/sbom.py: {part.licence}\n"
        )
    data = [part.name for part in listed if is_allowed(part) and not is_permissive(part.licence)]
    excepted = f" (beside data under MPL-2.0: {', '.join(data)})" if data else ""
    print(f"{len(listed)} packages, {len(refused)} licences that are not permissive{excepted}: {options.out}")
    return REFUSED if refused else 0


def installed_parts(python: Path) -> Iterator[Part]:
    """Yield the packages of an environment, with the licences that their metadata declare."""
    command = ["piplicenses", "--python", str(python), "--from=mixed", "--format=json", "--with-system"]
    for package in json.loads(run(command)):
        yield Part(package["Name"], package["Version"], package["License"])


def bill_of_materials(python: Path, root: Path, vendored: Sequence[Part]) -> dict[str, Any]:
    """Return the CycloneDX document of an environment and of vendored JavaScript."""
    command = ["cyclonedx_py", "environment", "--output-reproducible", "--mc-type", "application"]
    bom: dict[str, Any] = json.loads(run([*command, "--pyproject", str(root / "pyproject.toml"), str(python)]))
    bom["metadata"]["component"]["version"] = runpy.run_path(str(root / "handler" / "__init__.py"))["__version__"]
    bom["components"] += [
        {
            "bom-ref": part.purl,
            "licenses": [{"license": {"id": part.licence}}],
            "name": part.name,
            "purl": part.purl,
            "type": "library",
            "version": part.version,
        }
        for part in vendored
    ]
    return bom


def run(command: Sequence[str]) -> str:
    """Run a module of this environment, and return what it printed."""
    command = [sys.executable, "-m", *command]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - locked programs
    if done.returncode:
        sys.exit(f"{command[2]} failed: {done.stderr.strip()}")
    return done.stdout


def vendored_parts(folder: Path) -> Iterator[Part]:
    """Yield the JavaScript packages of a folder, as the manifest beside each program names them.

    A manifest is JSON with ``file``, ``sha256`` and ``packages``, whose keys are NAME@VERSION. Their licences stand in
    ``LICENSES.txt``. A program that no manifest accounts for, byte for byte, has no known licence, and neither has a
    package without a line there: the check refuses both.
    """
    notices = folder / LICENCES
    text = notices.read_text("utf-8") if notices.exists() else ""
    licences = {f"{name}@{version}": licence for name, version, licence in LICENCE.findall(text)}
    told = set()
    for manifest in (json.loads(file.read_text("utf-8")) for file in sorted(folder.glob("*.json"))):
        told.add((manifest["file"], manifest["sha256"]))
        for package in manifest["packages"]:
            name, _, version = package.rpartition("@")
            yield Part(name, version, licences.get(package, "unknown"), "npm")
    for file in sorted(folder.rglob("*")):
        found = (file.relative_to(folder).as_posix(), sha256(file.read_bytes()).hexdigest()) if file.is_file() else None
        if found and file.suffix in PROGRAMS and found not in told:
            yield Part(file.name, "unknown", "unknown", "generic")


def is_allowed(part: Part) -> bool:
    """Tell if a part's licence is permissive, or that of data which is carried as it is."""
    return is_permissive(part.licence) or (part.name, spdx(part.licence)) in DATA


def is_permissive(licence: str) -> bool:
    """Tell if a licence is on the list: one of plain alternatives, and otherwise each licence that is named."""
    names = re.split(r"\s+(?:AND|OR)\s+|;", licence)
    enough = any if not re.search(r"\sAND\s|;", licence) else all
    return enough(spdx(name) in PERMISSIVE for name in names)


def spdx(name: str) -> str:
    """Return the SPDX id of a licence by its id or name; the name if it is not known."""
    name = name.strip()
    return BY_NAME.get(name) or name.strip("()")


def page_of(lists: Mapping[str, Sequence[Part]]) -> str:
    """Return the lists of licences as a page."""
    page = "# Licences of packages\n\n`make sbom`, by the locks; the function with the extras code, jwt and page.\n"
    for name, parts in lists.items():
        rows = [f"| {part.name} | {part.version} | {part.licence} | {part.kind} |\n" for part in parts]
        page += f"\n## {name.capitalize()}\n\n| package | version | licence | from |\n| --- | --- | --- | --- |\n"
        page += "".join(rows)
    return page


if __name__ == "__main__":
    sys.exit(main())
