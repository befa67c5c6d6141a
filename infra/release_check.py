"""Prove a release before anybody has it: `make release-check`, with packages from an index on loopback.

    release_check.py             check the commit, build it twice, install it and try the commands of a newcomer
    release_check.py --notes TAG print the section of the version in CHANGELOG.md

Nothing is uploaded, and no account is needed. All problems are listed at the end, and exit with 1.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import runpy
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import threading
import time
import urllib.request
import venv
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from tempfile import TemporaryDirectory
from typing import ClassVar
from zipfile import ZipFile

ROOT = Path(__file__).parents[1]
LOCK = "requirements/cli.txt"
DISTRIBUTION = "stile-mcp"
ENDPOINT = "shop/customers"
FIRST_TOOL = "list_customers"
REFUSED = 1
MEGABYTE = 1_000_000
WAIT_S = 60
"""The seconds that a server has to begin or to end."""

SOURCES = (
    r"(?:handler|stile)/(?:\w+/)*(?!test_)[\w-]+\.(?:css|html|js|py|typed)|handler/page/vendor/[\w-]+\.(?:json|txt)"
)
CONTENTS = {
    ".whl": re.compile(rf"{SOURCES}|handler/commands/new_repository/(?:\w+/)*\w[\w.-]*|[\w.-]+\.dist-info/[\w./]+"),
    ".gz": re.compile(
        rf"{SOURCES}|(?:infra|requirements)/(?:\w+/)*\w[\w.-]*"
        r"|\.gitignore|LICENSE|PKG-INFO|README\.md|pyproject\.toml|samconfig\.toml|template\.yaml"
    ),
}
"""The names of files that a wheel and an sdist may have. No name begins with a dot, as those of secrets do."""

LEFT_OUT = re.compile(r"(PIP|PYTHON|UV|VIRTUAL_ENV|MAKE|MFLAGS)")
"""Variables that would let a command find packages of this machine, or another index than the local one."""


class CheckFailed(Exception):
    """A step of the release does not do what a user needs."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Print each step; 1 if a release of this commit would not be whole."""
    parser = argparse.ArgumentParser(prog="make release-check", description=__doc__)
    parser.add_argument("--root", type=Path, default=ROOT, help="the folder of the project")
    parser.add_argument("--packages", type=Path, help="the folder that keeps the locked packages of the command")
    parser.add_argument("--uvx", type=Path, default=ROOT / ".venv-lock" / "bin" / "uvx")
    parser.add_argument("--out", type=Path, help="the folder to replace by the files that were tried, if nothing fails")
    parser.add_argument("--notes", metavar="TAG", help="print the notes of the release, and do nothing else")
    options = parser.parse_args(arguments)
    if options.notes is not None:
        return print_notes(options.root, options.notes)
    packages = options.packages or packages_of(options.root)
    problems: list[str] = []
    with TemporaryDirectory() as folder:
        try:
            problems += problems_of_commit(options.root)
            dist = build_twice(options.root, Path(folder))
            problems += list_contents(dist)
            fetch_packages(options.root, packages)
            with serve_index(Path(folder) / "index", [*packages.iterdir(), *dist.glob("*.whl")]) as index:
                try_installed(index, Path(folder) / "user", options.uvx)
            if options.out and not problems:
                shutil.rmtree(options.out, ignore_errors=True)
                shutil.copytree(dist, options.out)
        except CheckFailed as exc:
            problems.append(str(exc))
    for problem in problems:
        print(f"not ready: {problem}", file=sys.stderr)
    print(f"{DISTRIBUTION} {version_of(options.root)}: {len(problems)} problem{'' if len(problems) == 1 else 's'}")
    return REFUSED if problems else 0


def version_of(root: Path) -> str:
    """Return the version of the package, which stands in handler/__init__.py alone."""
    return str(runpy.run_path(str(root / "handler" / "__init__.py"))["__version__"])


def notes_of(root: Path) -> str:
    """Return the section of the version in the changelog without its heading; empty if there is none."""
    heading = rf"^## \[{re.escape(version_of(root))}\] - \d{{4}}-\d\d-\d\d$"
    found = re.search(rf"{heading}\n(.*?)(?=^## |\Z)", (root / "CHANGELOG.md").read_text("utf-8"), re.M | re.S)
    return found[1].strip() if found else ""


def print_notes(root: Path, tag: str) -> int:
    """Print the notes of the version; 1 if there are none, or if the tag is not the version's."""
    version, notes = version_of(root), notes_of(root)
    if tag != f"v{version}":
        print(f"the tag is {tag}; expected v{version}, by handler/__init__.py", file=sys.stderr)
    elif not notes:
        print(f"CHANGELOG.md has no section of {version}", file=sys.stderr)
    else:
        print(notes)
        return 0
    return REFUSED


def problems_of_commit(root: Path) -> Iterator[str]:
    """Yield what the commit lacks for a release."""
    version = version_of(root)
    if not notes_of(root):
        yield f'CHANGELOG.md: expected a section with text under "## [{version}] - YYYY-MM-DD"'
    changed = output("git", "status", "--porcelain", cwd=root).splitlines()
    if changed:
        yield f"git: expected a tree without changes, and {len(changed)} files differ, first {changed[0][3:]}"


def build_twice(root: Path, folder: Path) -> Path:
    """Build the commit in two clones at different paths, and return the folder of the files.

    Raises:
        CheckFailed: the bytes differ.
    """
    print("Building a wheel and an sdist in two clones")
    dists = []
    for clone in (folder / "first", folder / "second" / "at another path"):
        output("git", "clone", "--quiet", str(root), str(clone))
        epoch = output("git", "log", "-1", "--format=%ct", cwd=clone).strip()
        targets = ("--target", "wheel", "--target", "sdist", "--directory", "dist")
        output(sys.executable, "-m", "hatchling", "build", *targets, cwd=clone, SOURCE_DATE_EPOCH=epoch)
        dists.append(clone / "dist")
    first, second = ({file.name: digest_of(file) for file in dist.iterdir()} for dist in dists)
    if first != second:
        names = sorted(name for name in first.keys() | second.keys() if first.get(name) != second.get(name))
        raise CheckFailed(f"two builds of one commit differ: {', '.join(names)}")
    return dists[0]


def digest_of(file: Path) -> str:
    """Return the SHA-256 of a file's bytes."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def list_contents(dist: Path) -> Iterator[str]:
    """Print each distribution with its digest and counts of files, and yield what does not belong or is missing."""
    committed = output("git", "ls-files", "handler", "stile", cwd=dist.parent).splitlines()
    for file in sorted(dist.iterdir()):
        allowed = CONTENTS[file.suffix]
        if file.suffix == ".whl":
            with ZipFile(file) as archive:
                names = archive.namelist()
        else:
            with tarfile.open(file) as tar:
                names = [member.name.partition("/")[2] for member in tar.getmembers() if member.isfile()]
        print(f"{digest_of(file)}  {file.name}: {file.stat().st_size} bytes, {len(names)} files")
        tops = [name.partition("/")[0] for name in names]
        print("  " + ", ".join(f"{top} {tops.count(top)}" for top in sorted(set(tops))))
        yield from (f"{file.name}: {name} does not belong there" for name in names if not allowed.fullmatch(name))
        yield from (f"{file.name}: {name} is missing" for name in committed if name not in names)


def packages_of(root: Path) -> Path:
    """Return the folder that keeps the packages of this lock for this Python."""
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    return root / ".stile" / "release" / f"{python}-{digest_of(root / LOCK)[:12]}"


def fetch_packages(root: Path, folder: Path) -> None:
    """Fill the folder, if it does not exist, with the locked packages, each verified by its digest."""
    if folder.exists():
        return
    print(f"Fetching the packages of {LOCK}")
    part = folder.with_suffix(".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    words = ("-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes", "--only-binary=:all:")
    # The index of this machine, whose settings the other steps do not read.
    command = [sys.executable, *words, "-r", str(root / LOCK), "-d", str(part)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CheckFailed(f"{LOCK} cannot be fetched: {done.stderr.strip()}")
    part.rename(folder)


class PackageFiles(SimpleHTTPRequestHandler):
    """Serve files, and note the paths of the sent ones."""

    sent: ClassVar[set[str]] = set()

    def do_GET(self) -> None:
        self.sent.add(self.path)
        super().do_GET()

    def log_request(self, *_: object) -> None:
        """Print no line for each request."""


@contextmanager
def serve_index(folder: Path, files: Sequence[Path]) -> Iterator[str]:
    """Serve files as a package index on loopback, and yield its URL.

    Source: PyPA, "Simple repository API".
    """
    for file in files:
        project = folder / "simple" / re.sub(r"[-_.]+", "-", file.name.partition("-")[0]).lower()
        project.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, project / file.name)
    PackageFiles.sent.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(PackageFiles, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/simple"
    finally:
        server.shutdown()
        server.server_close()
        megabytes = (
            sum((folder / path[1:]).stat().st_size for path in PackageFiles.sent if path.endswith(".whl")) / MEGABYTE
        )
        print(f"Downloaded: {megabytes:.1f} MB")


def try_installed(index: str, folder: Path, uvx: Path) -> None:
    """Install the distribution into an empty environment, and try it as a newcomer does.

    Raises:
        CheckFailed: a command fails, or answers something else.
    """
    folder.mkdir()
    port = free_port()
    init = ("init", ENDPOINT, "--from", f"http://127.0.0.1:{port}/graphql", "--access", "open")
    with running(sys.executable, "-m", "examples.upstream", "--port", str(port), cwd=ROOT, ready=port):
        if uvx.exists():
            print("Two commands of a newcomer, with nothing installed")
            settings = {"UV_CACHE_DIR": str(folder / "cache"), "UV_DEFAULT_INDEX": index}
            printed = timed(str(uvx), DISTRIBUTION, *init, cwd=folder, **settings)
            print("".join(f"        {line}\n" for line in printed.splitlines()), end="")
            expect(f"call {ENDPOINT} {FIRST_TOOL}\n", printed)
            expect(f"\n  uvx {DISTRIBUTION} dev {ENDPOINT}\n", printed)
            serve_and_list((str(uvx), DISTRIBUTION, "dev", ENDPOINT), folder, **settings)
            shutil.rmtree(folder / "shop")
        else:
            print(f"Left out: the two commands of a newcomer, because {uvx} does not exist")
        print("An empty environment")
        programs = folder / "venv" / "bin"
        venv.create(folder / "venv", with_pip=True)
        settings = {"PIP_INDEX_URL": index, "PIP_NO_CACHE_DIR": "1"}
        timed(str(programs / "pip"), "install", "--quiet", DISTRIBUTION, cwd=folder, **settings)
        stile = str(programs / "stile")
        expect(FIRST_TOOL, timed(stile, *init, cwd=folder))
        expect("No problems in 1 endpoint", timed(stile, "check", "shop", cwd=folder))
        serve_and_list((stile, "dev", ENDPOINT), folder)
        expect('"totalCount"', timed(stile, "call", "shop", FIRST_TOOL, cwd=folder))
        timed(stile, "build", "shop", "--out", "bundles", cwd=folder)
        expect("There are no differences.", timed(stile, "diff", "bundles", "shop", cwd=folder))
        expect("a repository with Stile in vendor/", timed(stile, "new", "repository", cwd=folder))
    print("The environment of the repository that `stile new` made")
    repository = folder / "repository"
    venv.create(repository / ".venv", with_pip=True)
    programs = repository / ".venv" / "bin"
    locks = ("--require-hashes", "-r", "requirements/cli.txt", "-r", "vendor/requirements.txt")
    timed(str(programs / "pip"), "install", "--quiet", *locks, cwd=repository, **settings)
    expect("No problems in 1 endpoint", timed(str(programs / "stile"), "check", "endpoints", cwd=repository))


def serve_and_list(dev: Sequence[str], folder: Path, **environ: str) -> None:
    """Serve an endpoint by `stile dev`, and list its tools."""
    port = free_port()
    with measured(dev), running(*dev, "--port", str(port), cwd=folder, ready=port, **environ):
        expect(f'"{FIRST_TOOL}"', tools_of(f"http://127.0.0.1:{port}/{ENDPOINT}/mcp"))


def timed(*command: str, cwd: Path, **environ: str) -> str:
    """Run a command, print it with its processor time, and return what it printed."""
    with measured(command):
        return output(*command, cwd=cwd, **environ)


@contextmanager
def measured(command: Sequence[str]) -> Iterator[None]:
    """Print a command with the processor time of the processes that end in the block."""
    before = getrusage(RUSAGE_CHILDREN)
    yield
    after = getrusage(RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"  {spent:5.1f} s of processor time: {' '.join([Path(command[0]).name, *command[1:]])}")


def expect(text: str, printed: str) -> None:
    """Raise CheckFailed if a command printed something else."""
    if text not in printed:
        raise CheckFailed(f'expected "{text}" in: {printed.strip()}')


def tools_of(url: str) -> str:
    """Return the answer to tools/list."""
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}).encode()
    headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=30) as answer:
        return str(answer.read().decode("utf-8"))


def free_port() -> int:
    """Return a port of loopback that nobody listens on."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


@contextmanager
def running(*command: str, cwd: Path, ready: int, **environ: str) -> Iterator[None]:
    """Run a server until the block ends, from when its port takes connections.

    Raises:
        CheckFailed: it ends by itself, or does not begin or end in time.
    """
    words, latest = " ".join(command), time.monotonic() + WAIT_S
    variables = {**environment(), **environ}
    with subprocess.Popen(
        command, cwd=cwd, env=variables, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
    ) as server:
        try:
            while server.poll() is None and time.monotonic() < latest:
                with socket.socket() as trying:
                    if trying.connect_ex(("127.0.0.1", ready)) == 0:
                        break
                time.sleep(0.1)
            else:
                end_group(server)
                errors = server.communicate()[1].decode("utf-8", "replace")
                raise CheckFailed(f"{words} did not serve port {ready}: {errors.strip()}")
            yield
            server.send_signal(signal.SIGTERM)
            server.communicate(timeout=WAIT_S)
        except subprocess.TimeoutExpired as exc:
            raise CheckFailed(f"{words} did not end by SIGTERM") from exc
        finally:
            end_group(server)


def end_group(server: subprocess.Popen[bytes]) -> None:
    """Kill a server and its children, such as that of uvx, if any is left."""
    with suppress(ProcessLookupError):
        os.killpg(server.pid, signal.SIGKILL)


def output(*command: str, cwd: Path | None = None, **environ: str) -> str:
    """Run a command in an environment that names no package of this machine, and return what it printed.

    Raises:
        CheckFailed: it failed.
    """
    done = subprocess.run(
        command, cwd=cwd, env={**environment(), **environ}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise CheckFailed(f"{' '.join(command)}: exit code {done.returncode}: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def environment() -> Mapping[str, str]:
    """Return the variables of this process without those of ``LEFT_OUT``. No file of pip's settings is read."""
    kept = {name: value for name, value in os.environ.items() if not LEFT_OUT.match(name)}
    return {**kept, "PIP_CONFIG_FILE": os.devnull, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PYTHONUNBUFFERED": "1"}


if __name__ == "__main__":
    sys.exit(main())
