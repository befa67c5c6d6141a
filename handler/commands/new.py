"""``stile new``: a repository that deploys endpoints to AWS, with this release of Stile in it."""

from __future__ import annotations

import argparse
import hashlib
import os
import shlex
from collections.abc import Iterator
from pathlib import Path

from handler.commands.editor_files.writing import write_editor_files
from handler.commands.folders.atomic_writes import new_folder
from handler.commands.folders.endpoint_folders import find_endpoints
from handler.commands.folders.vendored_wheel import WHEEL, WheelRefused, read_wheel
from handler.commands.terminal.console import complain, say, show_json
from handler.commands.terminal.exit_codes import REFUSED

EXAMPLES = ("stile new ../shop-tools",)
EXIT_CODES = {REFUSED: "no repository was made"}

PLACES = {"gitignore": ".gitignore", "workflow.yml": ".github/workflows/stile.yml"}
"""Files whose names would have an effect where the wheel keeps them."""

LOCAL_SECTIONS = b"\n[default.local_"
"""The beginning of the last sections of samconfig.toml, which are for the demo of a clone."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("target", type=Path, metavar="FOLDER", help="the folder to make")
    parser.add_argument(
        "--wheel", type=Path, metavar="FILE", help="the wheel of Stile (default: the one that was installed)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document instead")


def run(options: argparse.Namespace) -> int:
    target = options.target
    if os.path.lexists(target):
        complain(f"{target} exists already: nothing was written")
        return 1
    try:
        wheel, files = read_wheel(options.wheel)
        repository = dict(_repository(wheel, files))
        with new_folder(target) as folder:
            for name, content in repository.items():
                _write(folder / name, content)
            for endpoint in find_endpoints(folder):
                write_editor_files(endpoint)
    except WheelRefused as exc:
        complain(str(exc))
        return 1
    except OSError as exc:
        complain(f"{target}: {exc.strerror or 'it exists already'}")
        return 1
    if options.json:
        show_json({"folder": target.as_posix(), "files": sorted(repository)})
    else:
        _show(target)
    return 0


def _repository(wheel: bytes, files: dict[str, bytes]) -> Iterator[tuple[str, bytes]]:
    """Yield each file of a new repository, by its path."""
    for name, content in files.items():
        whole = name != "samconfig.toml"
        yield PLACES.get(name, name), content if whole else content.partition(LOCAL_SECTIONS)[0]
    yield f"vendor/{WHEEL}", wheel
    digest = hashlib.sha256(wheel).hexdigest()
    yield "vendor/requirements.txt", f"./vendor/{WHEEL} \\\n    --hash=sha256:{digest}\n".encode()


def _write(file: Path, content: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    if file.suffix == ".sh":
        file.chmod(0o755)


def _show(target: Path) -> None:
    folder = shlex.quote(target.as_posix())
    say(f"{target}: a repository with Stile in vendor/ and one example endpoint", "green")
    say("\nNext:")
    say(
        f"  cd {folder} && git init && make test\n      install Stile from vendor/, check the endpoint, replay an event"
    )
    say("  .venv/bin/stile init endpoints/FOLDER/NAME --from URL\n      make an endpoint of your own API")
    say("  sam build && sam deploy\n      make the stack, as README.md says")
