from __future__ import annotations

import base64
import hashlib
import io
import json
import sys
import tarfile
from pathlib import Path

import pytest

from tests.corpora.downloads import HERE, NPM_LOCK, PYPI_LOCK, FetchError, NpmPackage, require_digest, run


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """A package as npm packs it."""
    path = tmp_path / "thing-1.0.0.tgz"
    with tarfile.open(path, "w:gz") as packed:
        for name in ("package/lib/b.js", "package/lib/deep/a.js", "package/package.json"):
            member = tarfile.TarInfo(name)
            member.size = len(name)
            packed.addfile(member, io.BytesIO(name.encode()))
    return path


def integrity_of(file: Path) -> str:
    return "sha512-" + base64.b64encode(hashlib.sha512(file.read_bytes()).digest()).decode()


def test_package_that_is_the_locked_one_is_taken(archive: Path) -> None:
    require_digest(archive, integrity_of(archive))


def test_package_that_is_another_one_is_refused_by_name(archive: Path) -> None:
    locked = integrity_of(archive)
    archive.write_bytes(archive.read_bytes() + b"\0")

    with pytest.raises(FetchError, match=r"^thing-1\.0\.0\.tgz is not what is locked: its digest is sha512-"):
        require_digest(archive, locked)


def test_files_of_a_package_come_in_the_order_of_their_paths_from_all_folders(archive: Path) -> None:
    assert NpmPackage(archive).texts("lib/*.js") == ["package/lib/b.js", "package/lib/deep/a.js"]


def test_program_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(FetchError, match=r"^no-such-program is missing$"):
        run(["no-such-program"], cwd=tmp_path)


def test_program_that_fails_is_told_by_its_last_words(tmp_path: Path) -> None:
    failing = "import sys; print('npm warn old', file=sys.stderr); sys.exit('no network')"

    with pytest.raises(FetchError, match=r"^python\S* failed: no network$"):
        run([sys.executable, "-c", failing], cwd=tmp_path)


@pytest.mark.parametrize("lock", [NPM_LOCK, HERE / "vendure" / "package-lock.json"])
def test_npm_locks_have_a_digest_for_every_package_and_say_no_place(lock: Path) -> None:
    content = json.loads(lock.read_text(encoding="utf-8"))
    packages = {name: facts for name, facts in content.get("packages", content).items() if name}

    assert packages
    assert all(facts["integrity"].startswith("sha512-") for facts in packages.values())
    assert not any("resolved" in facts for facts in packages.values())


def test_pypi_lock_pins_both_programs_with_digests() -> None:
    lock = PYPI_LOCK.read_text(encoding="utf-8")

    assert "dagster-graphql==1.13.28 \\\n    --hash=sha256:" in lock
    assert "ghstack==0.18.0 \\\n    --hash=sha256:" in lock
    assert "//" not in lock
