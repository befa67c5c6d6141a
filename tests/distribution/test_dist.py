"""`make dist` builds a wheel and an sdist: the same bytes each time, of nothing but the package."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from zipfile import ZipFile

from handler import __version__
from handler.commands.new import FILES
from tests.distribution.builds import SDIST, WHEEL, copy_tree, make_dist, tracked

REPOSITORY = {
    "infra/agentcore.yaml",
    "infra/build_artifact.sh",
    "infra/build_settings.py",
    "infra/deferred_imports.py",
    "infra/domain.yaml",
    "infra/find_python.sh",
    "infra/hash_certificates.py",
    "infra/iam_door.yaml",
    "infra/network.yaml",
    "infra/observability.yaml",
    "infra/pack_modules.py",
    "infra/publish.sh",
    "infra/publisher.yaml",
    "infra/publisher_policy.json",
    "infra/release.py",
    "infra/remove_versions.sh",
    "infra/storage.yaml",
    "infra/waf.yaml",
    "requirements/cli.txt",
    "requirements/run-code.txt",
    "requirements/run-jwt.txt",
    "requirements/run.txt",
    "samconfig.toml",
    "template.yaml",
}
"""Files of this repository that `stile new` writes into another one."""

INFO = f"stile_mcp-{__version__}.dist-info"


def digests(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


def test_bytes_are_the_same_from_another_folder_at_another_time(built: Path, tmp_path: Path) -> None:
    tree = copy_tree(tmp_path / "elsewhere" / "tree")
    for number, name in enumerate(sorted(tracked("handler"))):
        os.utime(tree / name, (number, number))
        (tree / name).chmod(0o600)
    (tree / "handler" / "__pycache__").mkdir()
    (tree / "handler" / "__pycache__" / "left.cpython-311.pyc").write_bytes(b"")

    again = make_dist(tree, PYTHONHASHSEED="1", TZ="Asia/Tokyo", LC_ALL="C")

    assert digests(again) == digests(built)
    assert set(digests(built)) == {WHEEL, SDIST}


def test_another_time_of_the_commit_is_told_by_the_bytes(built: Path, tmp_path: Path) -> None:
    again = make_dist(copy_tree(tmp_path), SOURCE_DATE_EPOCH="1600000000")

    assert all(digests(again)[name] != digest for name, digest in digests(built).items())


def test_archive_without_its_commit_can_be_built(tmp_path: Path) -> None:
    """As the archive of a commit is downloaded, which has no `.git`."""
    assert set(digests(make_dist(copy_tree(tmp_path), SOURCE_DATE_EPOCH=""))) == {WHEEL, SDIST}


def test_wheel_holds_the_two_packages_and_the_licence(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        names = set(archive.namelist())

    own = {name.removeprefix("infra/new/") for name in tracked("infra/new")}
    about = {f"{INFO}/{name}" for name in ("METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE")}
    assert names == about | set(tracked("handler", "stile")) | {f"{FILES}{name}" for name in REPOSITORY | own}
    assert {"handler/py.typed", "stile/py.typed"} <= names


def test_sdist_holds_what_the_wheel_is_built_from(built: Path) -> None:
    with tarfile.open(built / SDIST) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}

    beside = {"LICENSE", "README.md", "pyproject.toml", "PKG-INFO", ".gitignore"}
    assert names == beside | set(tracked("handler", "stile")) | REPOSITORY | set(tracked("infra/new"))


def test_wheel_of_the_sdist_is_the_wheel(built: Path, tmp_path: Path) -> None:
    shutil.unpack_archive(built / SDIST, tmp_path, filter="data")
    (source,) = tmp_path.iterdir()

    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path / "built")],
        cwd=source,
        env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"},
        capture_output=True,
        check=True,
    )

    assert digests(tmp_path / "built")[WHEEL] == digests(built)[WHEEL]


def test_metadata_name_the_distribution_its_licence_and_its_commands(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        head = archive.read(f"{INFO}/METADATA").decode("utf-8").partition("\n\n")[0]
        scripts = archive.read(f"{INFO}/entry_points.txt").decode("utf-8")

    assert "\nName: stile-mcp\n" in head
    assert "\nLicense-Expression: Apache-2.0\n" in head
    assert f"\nVersion: {__version__}\n" in head
    assert "\nProvides-Extra: " not in head
    assert re.findall(r"^(\S+) = handler.__main__:main$", scripts, re.MULTILINE) == ["stile", "stile-mcp"]
