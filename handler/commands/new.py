"""``stile new``: a repository that deploys endpoints to AWS, with this release of Stile in it; or its update."""

from __future__ import annotations

import argparse
import difflib
import hashlib
import io
import json
import os
import re
import shlex
import subprocess
import zlib
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from importlib.metadata import Distribution, PackageNotFoundError, PackagePath, distribution
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile, ZipInfo

from handler import __version__
from handler.commands.command_line import DISTRIBUTION, DONE, REFUSED, CommandRefused, UsageRefused
from handler.commands.console import complain, say, show_document, show_json, show_verbatim
from handler.commands.editor import write_editor_files
from handler.commands.folders.atomic_writes import new_folder, read_regular, replace_files, scratch_folder
from handler.commands.folders.endpoints import find_endpoints

EXAMPLES = ("stile new ../shop-tools", "stile new ../shop-tools --update --dry-run")
EXIT_CODES = {REFUSED: "no repository was made, or --update left files as they are"}

PLACES = {"gitignore": ".gitignore", "workflow.yml": ".github/workflows/stile.yml"}
"""Files whose names would have an effect where the wheel keeps them."""

LOCAL_SECTIONS = b"\n[default.local_"
"""The beginning of the last sections of samconfig.toml, which are for the demo of a clone."""

WHEEL = f"stile_mcp-{__version__}-py3-none-any.whl"
FILES = "handler/commands/new_repository/"
"""Where the wheel has the files of a new repository."""

ADDED_BY_INSTALLERS = frozenset({"INSTALLER", "RECORD", "REQUESTED", "direct_url.json", "uv_cache.json"})
"""Files beside the metadata of an installed package that its wheel does not have."""

VENDOR = "vendor/"
REQUIREMENTS = f"{VENDOR}requirements.txt"

EXAMPLE = "endpoints/"
"""The folder of the example, which authors replace by endpoints of their own."""

EXPECTED = f"expected {WHEEL}, which `make dist` in a clone of Stile writes into dist/"
MISSING_WHEEL = f"--wheel is missing: {EXPECTED}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("target", type=Path, metavar="FOLDER", help="the folder to make or update")
    parser.add_argument(
        "--wheel", type=Path, metavar="FILE", help="the wheel of Stile (default: the one that was installed)"
    )
    meaning = "merge this release into a repository that an older one made"
    parser.add_argument("--update", action="store_true", help=meaning)
    parser.add_argument("--dry-run", action="store_true", help="with --update: write nothing")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead")


def run(options: argparse.Namespace) -> int:
    target = options.target
    if options.update:
        return _update(options)
    if options.dry_run:
        raise UsageRefused("--dry-run is for --update")
    if os.path.lexists(target):
        raise CommandRefused(f"{target} exists already: nothing was written; --update updates a repository")
    try:
        repository = _this_release(options.wheel)
        with new_folder(target) as folder:
            replace_files(folder, repository)
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


def _update(options: argparse.Namespace) -> int:
    """Merge this release into a repository, and show the changes that files of its author do not get."""
    folder: Path = options.target
    new = _this_release(options.wheel)
    old = _vendored_release(folder, new)
    try:
        contents, reasons = _merge_release(folder, old, new)
        for name in (each for each in reasons if each.startswith(VENDOR)):
            raise CommandRefused(f"{folder.as_posix()}/{name}: {reasons[name]}; nothing was written")
        if contents and not options.dry_run:
            replace_files(folder, contents)
    except OSError as exc:
        place = exc.filename2 or exc.filename or folder
        raise CommandRefused(f"{place}: {exc.strerror or exc}; nothing was written") from exc
    for name, content in contents.items():
        say(f"{folder.as_posix()}/{name}: {'removed' if content is None else 'updated'}")
    unmerged = []
    for name, reason in reasons.items():
        sides = [(each.get(name) or b"").decode(errors="replace").splitlines(keepends=True) for each in (old, new)]
        change = "".join(difflib.unified_diff(sides[0], sides[1], f"a/{name}", f"b/{name}"))
        unmerged.append({"file": name, "reason": reason, "difference": change})
        complain(f"{folder.as_posix()}/{name} stays as it is: {reason}. The change of the release:")
        show_verbatim(change.rstrip("\n"))
    end = (
        "nothing was written, because of --dry-run" if options.dry_run else f"{WHEEL} is there; `make test` installs it"
    )
    say(f"{folder.as_posix()}: {end}", "green")
    code = REFUSED if unmerged else DONE
    facts = {"folder": folder.as_posix(), "written": not options.dry_run, "files": list(contents)}
    return show_document({**facts, "unmerged": unmerged}, code) if options.json else code


def _vendored_release(folder: Path, new: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files of the release that a repository has in ``vendor``.

    Raises:
        CommandRefused: the repository lacks a wheel whose digest it requires, or has a newer release than this one.
    """
    try:
        required = _with_lf(read_regular(folder, folder / REQUIREMENTS)) or b""
        wheels = sorted((folder / VENDOR).glob("stile_mcp-*.whl"))
        releases = [_repository(each.name, read_regular(folder, each) or b"") for each in wheels]
        # An update that was killed may have left its own digest beside the older wheel.
        known = [each for each in releases if each[REQUIREMENTS] in required or new[REQUIREMENTS] in required]
        if not known:
            raise ValueError("it has no such wheel")
    except ValueError as exc:
        expected = f"expected the wheel that `stile new` wrote, and its digest in {REQUIREMENTS}"
        raise CommandRefused(f"{folder.as_posix()}/{VENDOR}: {exc}; {expected}") from exc
    old = min(known, key=lambda each: each == new)
    if any(_numbers(name) > _numbers(WHEEL) for name in old if name.endswith(".whl")):
        raise CommandRefused(f"{folder.as_posix()}/{VENDOR}: expected no newer release than {__version__}, this one")
    return old


def _numbers(wheel: str) -> list[int]:
    """Return the first three numbers of the version of a wheel, which a release and its candidates share."""
    return [int(number) for number in re.findall(r"\d+", wheel.split("-")[1])[:3]]


def _merge_release(
    folder: Path, old: Mapping[str, bytes], new: Mapping[str, bytes]
) -> tuple[dict[str, bytes | None], dict[str, str]]:
    """Return the files to write, with ``None`` for those to remove, and the reasons why others stay as they are."""
    contents: dict[str, bytes | None] = {}
    reasons: dict[str, str] = {}
    names = {**new, **old}
    try:
        example = {name: read_regular(folder, folder / name) for name in names if name.startswith(EXAMPLE)}
        skips_example = any(_with_lf(example[name]) not in (old.get(name), new.get(name)) for name in example)
    except ValueError:
        skips_example = True
    # The digest and the older wheel change last, so that an update that was killed can be repeated.
    for name in sorted(names, key=lambda name: name.startswith(VENDOR)):
        if old.get(name) == new.get(name) or (skips_example and name.startswith(EXAMPLE)):
            continue
        try:
            own = read_regular(folder, folder / name)
            merged = _merge(own, old.get(name), new.get(name))
        except ValueError as exc:
            reasons[name] = str(exc)
        else:
            contents |= {name: merged} if merged != own else {}
    return contents, reasons


def _with_lf(content: bytes | None) -> bytes | None:
    """Return a content with LF for CRLF, if each of its lines ends with CRLF."""
    has_crlf = content is not None and content.count(b"\r\n") == content.count(b"\n")
    return content.replace(b"\r\n", b"\n") if content is not None and has_crlf else content


def _merge(own: bytes | None, before: bytes | None, now: bytes | None) -> bytes | None:
    """Return a file with the changes of its author and of a release.

    Raises:
        ValueError: the changes do not go together.
    """
    lines = _with_lf(own)
    if lines in (before, now):
        merged = now
    elif lines is None:
        raise ValueError("it was deleted or renamed")
    elif before is None:
        raise ValueError("the release adds another file of that name")
    elif now is None:
        raise ValueError("it was changed, and the release removes it")
    elif lines.count(before) == 1 and before not in now:
        merged = lines.replace(before, now)
    else:
        names = ("own", "before", "now")
        with scratch_folder() as scratch:
            for name, content in zip(names, (lines, before, now), strict=True):
                (scratch / name).write_bytes(content)
            words = ["git", "merge-file", "--quiet", "--stdout", *names]
            try:
                done = subprocess.run(words, cwd=scratch, capture_output=True, check=False)  # noqa: S603 - fixed words
            except OSError as exc:
                cause = f"git cannot be run ({exc.strerror}), and merges files that you have changed"
                raise CommandRefused(f"{cause}; nothing was written") from exc
        if done.returncode:
            raise ValueError("its lines that the release changes were changed, too")
        merged = done.stdout
    return merged.replace(b"\n", b"\r\n") if merged is not None and lines != own else merged


def _this_release(file: Path | None) -> dict[str, bytes]:
    """Return the files that this release gives a repository, from its wheel or, without one, its installed files.

    Raises:
        CommandRefused: there is no wheel of this release, or an installed file was changed.
    """
    if file is None:
        try:
            package = distribution(DISTRIBUTION)
        except PackageNotFoundError as exc:
            raise CommandRefused(MISSING_WHEEL) from exc
        file = _origin(package)
        if file is None:
            return _repository(WHEEL, _wheel_of_installed_files(package))
    if file.name != WHEEL:
        raise CommandRefused(f"--wheel {file}: {EXPECTED}")
    try:
        return _repository(WHEEL, file.read_bytes())
    except (OSError, ValueError) as exc:
        raise CommandRefused(f"--wheel {file}: {exc}; {EXPECTED}") from exc


def _repository(name: str, wheel: bytes) -> dict[str, bytes]:
    """Return the files of a new repository by their paths: those in a wheel, the wheel and its digest.

    Raises:
        ValueError: the wheel has no such files.
    """
    try:
        with ZipFile(io.BytesIO(wheel)) as archive:
            names = [each for each in archive.namelist() if each.startswith(FILES) and not each.endswith("/")]
            files = {each.removeprefix(FILES): archive.read(each) for each in names}
    except (BadZipFile, EOFError, RuntimeError, zlib.error) as exc:
        raise ValueError(f"it cannot be read ({exc})") from exc
    paths = [PurePosixPath(each) for each in files]
    if "template.yaml" not in files or any(path.is_absolute() or ".." in path.parts for path in paths):
        raise ValueError("it lacks the files of a repository")
    repository = {PLACES.get(each, each): content for each, content in files.items()}
    if "samconfig.toml" in files:
        repository["samconfig.toml"] = files["samconfig.toml"].partition(LOCAL_SECTIONS)[0]
    requirement = f"./{VENDOR}{name} \\\n    --hash=sha256:{hashlib.sha256(wheel).hexdigest()}\n"
    return {**repository, REQUIREMENTS: requirement.encode(), f"{VENDOR}{name}": wheel}


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
