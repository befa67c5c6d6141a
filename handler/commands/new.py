"""``stile new``: a repository that deploys endpoints to AWS, with this release of Stile in it."""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import shlex
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, PackagePath, distribution
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile, ZipInfo

from handler import __version__
from handler.commands.command_line import REFUSED, CommandRefused
from handler.commands.console import say, show_json
from handler.commands.editor import write_editor_files
from handler.commands.folders.atomic_writes import new_folder
from handler.commands.folders.endpoints import find_endpoints

EXAMPLES = ("stile new ../shop-tools",)
EXIT_CODES = {REFUSED: "no repository was made"}

PLACES = {"gitignore": ".gitignore", "workflow.yml": ".github/workflows/stile.yml"}
"""Files whose names would have an effect where the wheel keeps them."""

LOCAL_SECTIONS = b"\n[default.local_"
"""The beginning of the last sections of samconfig.toml, which are for the demo of a clone."""

WHEEL = f"stile_mcp-{__version__}-py3-none-any.whl"
FILES = "handler/commands/new_repository/"
"""Where the wheel has the files of a new repository."""

ADDED_BY_INSTALLERS = frozenset({"INSTALLER", "RECORD", "REQUESTED", "direct_url.json", "uv_cache.json"})
"""Files beside the metadata of an installed package that its wheel does not have."""

EXPECTED = f"expected {WHEEL}, which `make dist` in a clone of Stile writes into dist/"
MISSING_WHEEL = f"--wheel is missing: {EXPECTED}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("target", type=Path, metavar="FOLDER", help="the folder to make")
    parser.add_argument(
        "--wheel", type=Path, metavar="FILE", help="the wheel of Stile (default: the one that was installed)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document instead")


def run(options: argparse.Namespace) -> int:
    target = options.target
    if os.path.lexists(target):
        raise CommandRefused(f"{target} exists already: nothing was written")
    try:
        wheel, files = _read_wheel(options.wheel) if options.wheel else _installed_wheel()
        repository = dict(_repository(wheel, files))
        with new_folder(target) as folder:
            for name, content in repository.items():
                file = folder / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content)
                if file.suffix == ".sh":
                    file.chmod(0o755)
            for endpoint in find_endpoints(folder):
                write_editor_files(endpoint)
    except OSError as exc:
        cause = f"it cannot be made ({exc.strerror or 'it exists already'}): name a folder that you can write to"
        raise CommandRefused(f"{target}: {cause}") from exc
    if options.json:
        show_json({"folder": target.as_posix(), "files": sorted(repository)})
        return 0
    say(f"{target}: a repository with Stile in vendor/ and one example endpoint", "green")
    say("\nNext:")
    say(
        f"  cd {shlex.quote(target.as_posix())} && git init && make test\n"
        "      install Stile from vendor/, check the endpoint, replay an event"
    )
    say("  .venv/bin/stile init endpoints/FOLDER/NAME --from URL\n      make an endpoint of your own API")
    say("  sam build && sam deploy\n      make the stack, as README.md says")
    return 0


def _read_wheel(file: Path) -> tuple[bytes, dict[str, bytes]]:
    """Return the bytes of the wheel, and the files of a new repository in it by their paths.

    Raises:
        CommandRefused: there is no such file, or it is another one.
    """
    if file.name != WHEEL:
        raise CommandRefused(f"--wheel {file}: {EXPECTED}")
    try:
        content = file.read_bytes()
        files = _repository_files(content)
    except (OSError, BadZipFile) as exc:
        raise CommandRefused(f"--wheel {file}: it cannot be read ({exc}); {EXPECTED}") from exc
    paths = [PurePosixPath(name) for name in files]
    if "template.yaml" not in files or any(path.is_absolute() or ".." in path.parts for path in paths):
        raise CommandRefused(f"--wheel {file}: it lacks the files of a repository; {EXPECTED}")
    return content, files


def _repository_files(wheel: bytes) -> dict[str, bytes]:
    with ZipFile(io.BytesIO(wheel)) as archive:
        names = [name for name in archive.namelist() if name.startswith(FILES) and not name.endswith("/")]
        return {name.removeprefix(FILES): archive.read(name) for name in names}


def _installed_wheel() -> tuple[bytes, dict[str, bytes]]:
    """Return the wheel that this package was installed from, or one of its installed files, as ``_read_wheel`` does.

    Raises:
        CommandRefused: the package is not installed from a wheel, or an installed file was changed.
    """
    try:
        package = distribution("stile-mcp")
    except PackageNotFoundError as exc:
        raise CommandRefused(MISSING_WHEEL) from exc
    origin = _origin(package)
    if origin is not None:
        return _read_wheel(origin)
    wheel = _wheel_of_installed_files(package)
    return wheel, _repository_files(wheel)


def _origin(package: Distribution) -> Path | None:
    """Return the file that the package was installed from, if it is there and unchanged.

    Source: PEP 610, "direct_url.json".
    """
    try:
        origin = json.loads(package.read_text("direct_url.json") or "{}")
    except ValueError:
        return None
    url = urlsplit(origin.get("url", ""))
    file = Path(unquote(url.path))
    if url.scheme != "file" or not file.is_file():
        return None
    digest = origin.get("archive_info", {}).get("hashes", {}).get("sha256")
    return file if digest == hashlib.sha256(file.read_bytes()).hexdigest() else None


def _wheel_of_installed_files(package: Distribution) -> bytes:
    """Return a wheel of the files that came with the package, the same bytes for the same files.

    An index keeps no file that ``direct_url.json`` could name.

    Raises:
        CommandRefused: an installed file is not the one of the wheel.

    Source: PyPA, "Recording installed projects" and "Binary distribution format".
    """
    files = {
        file.as_posix(): (file, f"{file.hash.mode}={file.hash.value}")
        for file in package.files or ()
        if file.hash and not _is_added(file)
    }
    if "handler/__init__.py" not in files:  # an editable install has it in its clone
        raise CommandRefused(MISSING_WHEEL)
    written = io.BytesIO()
    record = f"stile_mcp-{__version__}.dist-info/RECORD"
    rows = [f"{record},,\n"]
    with ZipFile(written, "w", ZIP_DEFLATED) as archive:
        for name, (file, recorded) in sorted(files.items()):
            try:
                content = file.read_binary()
            except OSError:
                content = b""
            digest = "sha256=" + urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            if digest != recorded:
                raise CommandRefused(f"{name}: expected the file as it was installed: install Stile again")
            rows.append(f"{name},{digest},{len(content)}\n")
            archive.writestr(ZipInfo(name), content, ZIP_DEFLATED)
        archive.writestr(ZipInfo(record), "".join(rows), ZIP_DEFLATED)
    return written.getvalue()


def _is_added(file: PackagePath) -> bool:
    """Return whether an installer made the file: a command, or a note beside the package's metadata."""
    return ".." in file.parts or (file.parent.suffix == ".dist-info" and file.name in ADDED_BY_INSTALLERS)


def _repository(wheel: bytes, files: dict[str, bytes]) -> Iterator[tuple[str, bytes]]:
    """Yield each file of a new repository, by its path."""
    for name, content in files.items():
        whole = name != "samconfig.toml"
        yield PLACES.get(name, name), content if whole else content.partition(LOCAL_SECTIONS)[0]
    yield f"vendor/{WHEEL}", wheel
    digest = hashlib.sha256(wheel).hexdigest()
    yield "vendor/requirements.txt", f"./vendor/{WHEEL} \\\n    --hash=sha256:{digest}\n".encode()
