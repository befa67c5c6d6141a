"""``stile new``: a repository that deploys endpoints to AWS, with this release of Stile in it."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shlex
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit
from zipfile import BadZipFile, ZipFile

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

EXPECTED = f"expected {WHEEL}, which `make dist` in a clone of Stile writes into dist/"


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
        wheel, files = _read_wheel(options.wheel or _installed_wheel())
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


def _read_wheel(file: Path | None) -> tuple[bytes, dict[str, bytes]]:
    """Return the bytes of the wheel, and the files of a new repository in it by their paths.

    Raises:
        CommandRefused: there is no such file, or it is another one.
    """
    if file is None:
        raise CommandRefused(f"--wheel is missing: {EXPECTED}")
    if file.name != WHEEL:
        raise CommandRefused(f"--wheel {file}: {EXPECTED}")
    try:
        content = file.read_bytes()
        with ZipFile(file) as archive:
            names = [name for name in archive.namelist() if name.startswith(FILES) and not name.endswith("/")]
            files = {name.removeprefix(FILES): archive.read(name) for name in names}
    except (OSError, BadZipFile) as exc:
        raise CommandRefused(f"--wheel {file}: it cannot be read ({exc}); {EXPECTED}") from exc
    paths = [PurePosixPath(name) for name in files]
    if "template.yaml" not in files or any(path.is_absolute() or ".." in path.parts for path in paths):
        raise CommandRefused(f"--wheel {file}: it lacks the files of a repository; {EXPECTED}")
    return content, files


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


def _repository(wheel: bytes, files: dict[str, bytes]) -> Iterator[tuple[str, bytes]]:
    """Yield each file of a new repository, by its path."""
    for name, content in files.items():
        whole = name != "samconfig.toml"
        yield PLACES.get(name, name), content if whole else content.partition(LOCAL_SECTIONS)[0]
    yield f"vendor/{WHEEL}", wheel
    digest = hashlib.sha256(wheel).hexdigest()
    yield "vendor/requirements.txt", f"./vendor/{WHEEL} \\\n    --hash=sha256:{digest}\n".encode()
