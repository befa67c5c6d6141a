"""Packages from the registries, at pinned versions with their digests checked, through npm and pip."""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
import sys
import tarfile
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
HERE = Path(__file__).resolve().parent

NPM_LOCK = HERE / "npm.json"
"""Package -> version and digest, written as npm's own lock writes it."""

PYPI_LOCK = ROOT / "requirements" / "corpora.txt"


class FetchError(Exception):
    """A package could not be had as it is locked; the message says why."""


class NpmPackage:
    """One package as the registry has it, without what it depends on."""

    def __init__(self, archive: Path) -> None:
        self._archive = archive

    def text(self, name: str) -> str:
        """A file's text, by its path in the package."""
        (text,) = self.texts(name)
        return text

    def texts(self, pattern: str) -> list[str]:
        """The texts of the files whose path matches, in the order of their paths. ``*`` goes across folders."""
        with tarfile.open(self._archive) as archive:
            members = [member for member in archive if fnmatchcase(member.name, f"package/{pattern}")]
            files = [archive.extractfile(member) for member in sorted(members, key=lambda member: member.name)]
            return [file.read().decode() for file in files if file]

    def unpack(self, folder: Path) -> Path:
        """Write all files below ``folder``; give the package's own."""
        with tarfile.open(self._archive) as archive:
            archive.extractall(folder, filter="data")
        return folder / "package"


def npm_packages(names: Sequence[str], folder: Path) -> dict[str, NpmPackage]:
    """Download locked packages.

    Raises:
        FetchError: npm is missing or fails, or what came is not what is locked.
    """
    lock: Mapping[str, Mapping[str, str]] = json.loads(NPM_LOCK.read_text(encoding="utf-8"))
    wanted = [f"{name}@{lock[name]['version']}" for name in names]
    packed = json.loads(run(["npm", "pack", "--json", "--ignore-scripts", *wanted], cwd=folder))
    # npm 12 maps names to what older ones list.
    facts = packed.values() if isinstance(packed, dict) else packed
    archives = {each["name"]: folder / each["filename"] for each in facts}
    for name in names:
        require_digest(archives[name], lock[name]["integrity"])
    return {name: NpmPackage(archives[name]) for name in names}


def npm_tree(project: Path, folder: Path) -> Path:
    """Install a folder's ``package-lock.json`` below another one, without running what its packages bring."""
    for name in ("package.json", "package-lock.json"):
        (folder / name).write_bytes((project / name).read_bytes())
    run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=folder)
    return folder / "node_modules"


def pypi_packages(folder: Path) -> Path:
    """Install ``requirements/corpora.txt`` into a folder of its own, which no environment knows of."""
    options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-compile", "--only-binary=:all:"]
    target = folder / "site-packages"
    install = [sys.executable, "-m", "pip", "install", *options, "--require-hashes", f"--target={target}"]
    run([*install, f"--requirement={PYPI_LOCK}"], cwd=folder)
    return target


def require_digest(archive: Path, integrity: str) -> None:
    """Refuse a file that is not the one that was locked.

    Raises:
        FetchError: it is another one.

    Source: W3C Subresource Integrity, as npm's lock uses it.
    """
    algorithm, _, expected = integrity.partition("-")
    found = base64.b64encode(hashlib.new(algorithm, archive.read_bytes()).digest()).decode()
    if found != expected:
        raise FetchError(f"{archive.name} is not what is locked: its digest is {algorithm}-{found}")


def run(command: Sequence[str], *, cwd: Path, environ: Mapping[str, str] | None = None) -> str:
    """What a program prints.

    Raises:
        FetchError: it is missing, or it failed.
    """
    try:
        done = subprocess.run(command, cwd=cwd, env=environ, capture_output=True, text=True, check=True)
    except FileNotFoundError as exc:
        raise FetchError(f"{command[0]} is missing") from exc
    except subprocess.CalledProcessError as exc:
        lines = [line for line in exc.stderr.splitlines() if "warn" not in line.lower()] or ["no output"]
        raise FetchError(f"{Path(command[0]).name} failed: {lines[-1]}") from exc
    return done.stdout
