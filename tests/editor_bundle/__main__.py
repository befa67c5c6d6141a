"""``python -m tests.editor_bundle``: make the editor's bundle anew from the published modules that the lock names.

npm fetches the modules and compares their hashes with the lock's. esbuild joins them into one file without a change of
their code. ``--check`` compares the file with the vendored one; without it, the file replaces the vendored one.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).parent
VENDOR = SOURCE.parents[1] / "handler" / "page" / "vendor"
BUNDLE = VENDOR / "codemirror-graphql.js"
FACTS = VENDOR / "codemirror-graphql.json"
LICENSES = VENDOR / "LICENSES.txt"

LOCK = SOURCE / "package-lock.json"

GRANT = "Permission is hereby granted"
"""The beginning of the terms of the MIT licence, below the notice of copyright."""

OPTIONS = (
    "--bundle",
    "--minify",
    "--format=iife",
    "--global-name=editorParts",
    "--target=es2022",
    '--define:process.env.NODE_ENV="production"',
    "--legal-comments=none",  # LICENSES.txt has the licences
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.editor_bundle", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; end with 1 if the vendored file differs")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        made = _made(Path(scratch))
        licenses = joined_licenses(_licenses(Path(scratch)))
    texts = {BUNDLE: made, FACTS: facts(made), LICENSES: licenses}
    if options.check:
        differing = [file.name for file, text in texts.items() if file.read_text(encoding="utf-8") != text]
        told = [f"{name} differs from what the published modules give" for name in differing] or ["Equal."]
        sys.stdout.write("\n".join([*told, ""]))
        return 1 if differing else 0
    for file, text in texts.items():
        file.write_text(text, encoding="utf-8")
    sys.stdout.write(f"{BUNDLE.name}: {len(made.encode())} bytes, sha256 {_sha256(made)}\n")
    return 0


def facts(bundle: str) -> str:
    """Return the bundle's versions and hashes as JSON. ``integrity`` is the hash of a published package."""
    locked = locked_packages()
    shipped = {name: part for name, part in locked.items() if not part.get("dev")}
    plain = {
        "file": BUNDLE.name,
        "sha256": _sha256(bundle),
        "made_by": f"esbuild {locked['esbuild']['version']} {' '.join(OPTIONS)}",
        "packages": {f"{name}@{part['version']}": part["integrity"] for name, part in shipped.items()},
    }
    return f"{json.dumps(plain, indent=2)}\n"


def locked_packages() -> Mapping[str, Mapping[str, Any]]:
    """Return the packages of the lock by name."""
    packages = json.loads(LOCK.read_text(encoding="utf-8"))["packages"]
    return {path.removeprefix("node_modules/"): part for path, part in packages.items() if path}


def _made(folder: Path) -> str:
    for name in ("package.json", "package-lock.json", "entry.js"):
        shutil.copy(SOURCE / name, folder)
    quiet = ("--no-audit", "--no-fund", "--loglevel", "error")
    subprocess.run(("npm", "ci", "--ignore-scripts", *quiet), cwd=folder, check=True)
    esbuild = folder / "node_modules" / ".bin" / "esbuild"
    subprocess.run((esbuild, "entry.js", *OPTIONS, "--outfile=made.js", "--log-level=error"), cwd=folder, check=True)
    return (folder / "made.js").read_text(encoding="utf-8")


def joined_licenses(licenses: Iterable[tuple[str, str]]) -> str:
    """Return the notices of packages, given with the texts of their licences, above each licence that they share."""
    packages: dict[str, list[str]] = {}
    terms: dict[str, str] = {}
    for package, text in licenses:
        title, grant, rest = text.partition(GRANT)
        notice = "\n".join(line for line in title.splitlines() if line and "MIT License" not in line)
        key = " ".join(rest.split())  # their lines end at different words
        packages.setdefault(key, []).append(f"{package}\n{notice}\n")
        terms.setdefault(key, f"{grant}{rest}\n")
    return "\n".join("\n".join([*packages[key], terms[key]]) for key in packages)


def _licenses(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield each shipped package with the text of its licence."""
    for name, part in locked_packages().items():
        if not part.get("dev"):
            of_package = folder / "node_modules" / name
            file = next(each for each in sorted(of_package.iterdir()) if each.name.lower().startswith("licen"))
            yield f"{name} {part['version']} ({part['license']})", file.read_text(encoding="utf-8").strip()


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


if __name__ == "__main__":
    raise SystemExit(main())
