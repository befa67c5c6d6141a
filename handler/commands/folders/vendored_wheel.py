"""The wheel that a new repository gets: the one of this installation, or one that the author names."""

from __future__ import annotations

import hashlib
import json
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit
from zipfile import BadZipFile, ZipFile

from handler import __version__

WHEEL = f"stile_mcp-{__version__}-py3-none-any.whl"
FILES = "handler/commands/new_repository/"
"""Where the wheel has the files of a new repository."""

EXPECTED = f"expected {WHEEL}, which `make dist` in a clone of Stile writes into dist/"


class WheelRefused(Exception):
    """No wheel of this release was found, as a sentence."""


def read_wheel(named: Path | None) -> tuple[bytes, dict[str, bytes]]:
    """Return the bytes of the wheel, and the files of a new repository in it by their paths.

    Raises:
        WheelRefused: there is no such file, or it is another one.
    """
    file = named or _installed_wheel()
    if file is None:
        raise WheelRefused(f"--wheel is missing: {EXPECTED}")
    if file.name != WHEEL:
        raise WheelRefused(f"--wheel {file}: {EXPECTED}")
    try:
        content = file.read_bytes()
        with ZipFile(file) as archive:
            names = [name for name in archive.namelist() if name.startswith(FILES) and not name.endswith("/")]
            files = {name.removeprefix(FILES): archive.read(name) for name in names}
    except (OSError, BadZipFile) as exc:
        raise WheelRefused(f"--wheel {file}: it cannot be read ({exc}); {EXPECTED}") from exc
    if "template.yaml" not in files or not all(map(_stays_inside, files)):
        raise WheelRefused(f"--wheel {file}: it lacks the files of a repository; {EXPECTED}")
    return content, files


def _stays_inside(name: str) -> bool:
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts


def _installed_wheel() -> Path | None:
    """Return the file that this package was installed from, if it is there and unchanged.

    Source: PEP 610, "direct_url.json".
    """
    try:
        origin = json.loads(distribution("stile-mcp").read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        return None
    url = urlsplit(origin.get("url", ""))
    file = Path(unquote(url.path))
    if url.scheme != "file" or not file.is_file():
        return None
    digest = origin.get("archive_info", {}).get("hashes", {}).get("sha256")
    return file if digest == hashlib.sha256(file.read_bytes()).hexdigest() else None
