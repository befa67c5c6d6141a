"""The example, for ``make postgraphile``: PostgreSQL, PostGraphile and `stile dev` on port 8000, until Ctrl-C."""

import argparse
import contextlib
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import yaml

from examples.run import Process, Refusal, interrupt, require_free, running, started, until_one_ends, wait_until_open

HERE = Path(__file__).resolve().parent
ENDPOINTS = HERE / "endpoints"
ENDPOINT = ENDPOINTS / "shop" / "orders"
MODULES = HERE.parent.parent / ".stile" / "node-postgraphile" / "node_modules"
SUPERUSER = "postgres"
START_S = 60.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8000, help="port to serve MCP on (default: %(default)s)")
    parser.add_argument("--modules", type=Path, default=MODULES, help="where npm has installed PostGraphile")
    options = parser.parse_args()
    for stop in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(stop, interrupt)
    try:
        with contextlib.ExitStack() as example:
            require_free(options.port, "name another one: --port N")
            key = example.enter_context(key_in_env_file())
            folder, database = example.enter_context(postgresql())
            api = example.enter_context(postgraphile(folder, key, options.modules))
            dev = example.enter_context(started("-m", "handler", "dev", str(ENDPOINTS), "--port", str(options.port)))
            return until_one_ends(dev, database, api)
    except KeyboardInterrupt:
        return 0
    except Refusal as exc:
        print(exc, file=sys.stderr)
        return 1


@contextlib.contextmanager
def key_in_env_file() -> Iterator[str]:
    """A key for the API that nobody else has, where `stile dev` and `stile call` look for secrets."""
    file = ENDPOINT / ".env"
    key = secrets.token_urlsafe(32)
    file.touch(mode=0o600)
    file.write_text(f"STILE_SECRET_POSTGRAPHILE={key}\n", "utf-8")
    try:
        yield key
    finally:
        file.unlink(missing_ok=True)


@contextlib.contextmanager
def postgresql() -> Iterator[tuple[Path, Process]]:
    """A database of its own, gone in the end, which listens in a folder that only its user may enter."""
    programs = find_programs()
    # PostgreSQL refuses to run as root: there, Debian's package has a user for it.
    user = SUPERUSER if os.geteuid() == 0 else None
    with tempfile.TemporaryDirectory(prefix="stile-pg-") as name:
        folder = Path(name)
        if user:
            shutil.chown(folder, user)
        data = folder / "data"
        make = [programs / "initdb", f"--pgdata={data}", "--auth=trust", f"--username={SUPERUSER}", "--encoding=UTF8"]
        subprocess.run([*map(str, make), "--no-sync"], check=True, user=user, cwd=folder, stdout=subprocess.DEVNULL)
        options = ["-D", str(data), "-k", str(folder), "-c", "listen_addresses=", "-c", "fsync=off"]
        options += ["-c", "log_min_messages=fatal"]
        with running([str(programs / "postgres"), *options], user=user, cwd=folder) as process:
            fill(folder, programs, process)
            yield folder, process


def find_programs() -> Path:
    """The folder of PostgreSQL's programs, which Debian keeps off the PATH."""
    found = shutil.which("initdb")
    known = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    known += [Path(found).resolve().parent] if found else []
    for folder in known:
        if all((folder / name).exists() for name in ("initdb", "postgres", "psql")):
            return folder
    raise Refusal("PostgreSQL is missing: install it with `apt-get install postgresql` or `brew install postgresql`.")


def fill(folder: Path, programs: Path, process: Process) -> None:
    """Wait until the database answers, and make the tables."""
    psql = [str(programs / "psql"), "-h", str(folder), "-U", SUPERUSER, "-q", "-v", "ON_ERROR_STOP=1"]
    deadline = time.monotonic() + START_S
    while subprocess.run([*psql, "-c", "SELECT 1"], capture_output=True, check=False).returncode:
        if process.poll() is not None or time.monotonic() > deadline:
            raise Refusal("PostgreSQL did not start.")
        time.sleep(0.1)
    subprocess.run([*psql, "-f", str(HERE / "schema.sql")], check=True)


@contextlib.contextmanager
def postgraphile(folder: Path, key: str, modules: Path) -> Iterator[Process]:
    """The API where the endpoint expects it, ready to answer."""
    url = yaml.safe_load((ENDPOINT / "config.yaml").read_text("utf-8"))["upstream"]["url"]
    port = urlsplit(url).port or 80
    require_free(port, f"give the API another one in {os.path.relpath(ENDPOINT / 'config.yaml')}")
    environ = {**os.environ, "POSTGRAPHILE_KEY": key, "NODE_PATH": str(modules), "NODE_ENV": "production"}
    with running(["node", str(HERE / "server.cjs"), str(folder), str(port)], env=environ) as process:
        wait_until_open(port, process)
        print(f"The example's GraphQL API: {url}", flush=True)
        yield process


if __name__ == "__main__":
    sys.exit(main())
