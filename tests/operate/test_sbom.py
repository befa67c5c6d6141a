"""The list of the function's packages: whole, reproducible, and with permissive licences alone."""

from __future__ import annotations

import json
import subprocess
from hashlib import sha256
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.operate.programs import program
from tests.support.require import requires

SBOM = program("sbom")
ADVISORIES = program("advisories")
PYTHON = ROOT / ".stile" / "sbom" / "bin" / "python"
FUNCTION = ROOT / ".stile" / "function" / "bin" / "python"


@pytest.mark.parametrize(
    "licence",
    [
        "MIT", "MIT License", "Apache-2.0 OR BSD-3-Clause", "Apache-2.0 OR GPL-3.0-only", "(MIT OR GPL-2.0)",
        "MIT AND BSD-3-Clause", "MIT License; MIT No Attribution License (MIT-0)", "PSF-2.0", "ISC License (ISCL)",
    ],
)  # fmt: skip
def test_permissive_licence_is_taken(licence: str) -> None:
    assert SBOM.is_permissive(licence)


@pytest.mark.parametrize(
    "licence",
    [
        "", "UNKNOWN", "unknown", "GPL-3.0-only", "LGPL-2.1-or-later", "AGPL-3.0", "MPL-2.0", "MIT AND GPL-3.0-only",
        "MIT; GNU General Public License (GPL)", "(MIT OR GPL-2.0) AND GPL-3.0", "Proprietary",
        "Other/Proprietary License",
        "Apache-2.0 WITH LLVM-exception", "BUSL-1.1", "mit-ish", "SSPL-1.0",
    ],
)  # fmt: skip
def test_other_licence_is_refused(licence: str) -> None:
    assert not SBOM.is_permissive(licence)


@pytest.mark.parametrize(
    ("name", "licence", "allowed"),
    [
        ("certifi", "MPL-2.0", True), ("certifi", "Mozilla Public License 2.0 (MPL 2.0)", True),
        ("certifi", "GPL-3.0-only", False), ("other", "Mozilla Public License 2.0 (MPL 2.0)", False),
    ],
)  # fmt: skip
def test_licence_of_data_is_allowed_for_its_package_alone(name: str, licence: str, allowed: bool) -> None:
    assert SBOM.is_allowed(SBOM.Part(name, "1", licence)) is allowed


PROGRAM = b"var editor = 1"


def write_vendored(folder: Path, *, licence: str = "@codemirror/state 6.7.6 (MIT)") -> None:
    """Write a program, its manifest, which names one package, and the line of its licence."""
    packages = {"@codemirror/state@6.7.6": "sha512-x"}
    manifest = {"file": "editor.js", "sha256": sha256(PROGRAM).hexdigest(), "packages": packages}
    (folder / "LICENSES.txt").write_text(f"{licence}\nCopyright (C) somebody\n", "utf-8")
    (folder / "editor.json").write_text(json.dumps(manifest), "utf-8")
    (folder / "editor.js").write_bytes(PROGRAM)


def test_vendored_javascript_is_listed_by_its_manifest(tmp_path: Path) -> None:
    write_vendored(tmp_path)
    (part,) = SBOM.vendored_parts(tmp_path)

    assert (part.purl, part.licence) == ("pkg:npm/%40codemirror/state@6.7.6", "MIT")
    assert list(SBOM.vendored_parts(tmp_path / "nothing")) == []


@pytest.mark.parametrize("name", ["editor.js", "other.js", "more/worker.mjs", "old.cjs", "engine.wasm"])
def test_program_that_no_manifest_accounts_for_is_refused(tmp_path: Path, name: str) -> None:
    write_vendored(tmp_path)
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_bytes(b"changed")
    refused = [part.name for part in SBOM.vendored_parts(tmp_path) if not SBOM.is_permissive(part.licence)]

    assert refused == [Path(name).name]


@pytest.mark.parametrize(
    "line",
    ["", "@codemirror/state 6.7.6 (GPL-3.0)", "@codemirror/state 6.7.5 (MIT)", "@codemirror/view 6.7.6 (MIT)"],
)
def test_vendored_package_without_a_permissive_licence_of_its_version_is_refused(tmp_path: Path, line: str) -> None:
    write_vendored(tmp_path, licence=line)
    (part,) = SBOM.vendored_parts(tmp_path)

    assert not SBOM.is_permissive(part.licence)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """What two runs have written."""
    requires("sbom", PYTHON.exists() and FUNCTION.exists(), "`make sbom` installs what lists packages")
    folders = [tmp_path_factory.mktemp("first"), tmp_path_factory.mktemp("second")]
    for folder in folders:
        command = [str(PYTHON), "infra/sbom.py", "--python", str(FUNCTION), "--out", str(folder)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    return folders


def test_files_are_the_same_bytes_each_time_and_name_no_machine(written: list[Path]) -> None:
    first, second = ({file.name: file.read_bytes() for file in folder.iterdir()} for folder in written)

    assert first == second
    assert set(first) == {"function.cdx.json", "licences.md"}
    assert str(ROOT).encode() not in b"".join(first.values())


def test_vendored_javascript_of_this_repository_has_permissive_licences() -> None:
    parts = list(SBOM.vendored_parts(ROOT / SBOM.VENDORED))

    assert parts
    assert [part for part in parts if not SBOM.is_permissive(part.licence)] == []


def test_list_has_each_package_of_the_function_s_locks_that_is_for_its_python(written: list[Path]) -> None:
    bom = json.loads((written[0] / "function.cdx.json").read_text("utf-8"))
    purls = {part["purl"].partition("?")[0] for part in bom["components"]}
    listed = {purl.removeprefix("pkg:pypi/") for purl in purls if purl.startswith("pkg:pypi/")}
    vendored = {part.purl for part in SBOM.vendored_parts(ROOT / SBOM.VENDORED)}
    locks = [ROOT / "requirements" / f"run{extra}.txt" for extra in ("", "-code", "-jwt")]
    pins = {
        f"{name.lower()}@{version}" for lock in locks for name, version in ADVISORIES.PINNED.findall(lock.read_text())
    }
    of_other_pythons = {pin for pin in pins if pin.partition("@")[0] in ("importlib-metadata", "exceptiongroup")}

    assert bom["bomFormat"] == "CycloneDX"
    assert listed == pins - of_other_pythons
    assert {purl for purl in purls if not purl.startswith("pkg:pypi/")} == vendored != set()
    assert all(part["licenses"] for part in bom["components"])


def test_distributions_of_the_artefact_are_on_the_list(written: list[Path], artifact: Path) -> None:
    bom = json.loads((written[0] / "function.cdx.json").read_text("utf-8"))
    listed = {(part["name"].lower().replace("_", "-"), part["version"]) for part in bom["components"]}
    folders = [folder.name.removesuffix(".dist-info").rpartition("-") for folder in artifact.glob("*.dist-info")]

    assert folders
    assert {(name.lower().replace("_", "-"), version) for name, _, version in folders} <= listed
