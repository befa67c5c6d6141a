"""Name what `sam build` has built, by digests.

    release.py FOLDER   the digest of a built function, which its log has as `release`, for build.json
    release.py          a name for the parameter Release: that digest, and one of samconfig.toml

Lambda serves a name as it was deployed first, so the name has to change with the code and with the parameters. If
samconfig.toml itself has a name for Release, the first form warns on a second build under it that differs. The script
runs on the function's Python with nothing installed.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from build_settings import CONFIG, BuildError, overrides_of

BUILT = CONFIG.with_name(".aws-sam") / "build" / "StileFunction" / "handler" / "build.json"
KNOWN = CONFIG.with_name(".stile") / "releases.json"
DIGEST_CHARS = 12


def main() -> int:
    """Print a digest or a name."""
    if sys.argv[1:]:
        digest = digest_of(Path(sys.argv[1]))
        for sentence in used_names(f"{digest}-{_of_config()}"):
            print(sentence, file=sys.stderr)
        print(digest)
        return 0
    try:
        print(f"{json.loads(BUILT.read_text('utf-8'))['release']}-{_of_config()}")
    except (OSError, ValueError, LookupError, TypeError):
        print(f"{BUILT}: expected what `sam build` writes: run it first", file=sys.stderr)
        return 1
    return 0


def digest_of(folder: Path) -> str:
    """Return the digest of the names and bytes of all files of a folder."""
    digest = hashlib.sha256()
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        content = file.read_bytes()
        digest.update(f"{file.relative_to(folder).as_posix()}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:DIGEST_CHARS]


def used_names(build: str) -> Iterator[str]:
    """Yield a sentence on each name of samconfig.toml that this folder has built something else under, and note all."""
    try:
        known = dict(json.loads(KNOWN.read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        known = {}
    for name in sorted(set(_names_in_config())):
        if known.setdefault(name, build) != build:
            yield (
                f'{CONFIG.name}: Release is "{name}", under which other code or parameters were built before. If they '
                "were deployed, Lambda goes on to serve them, and `sam deploy` changes nothing that is served: give a "
                "new name, such as Release=$(python3 infra/release.py) on the command line of `sam deploy`"
            )
    if known:
        KNOWN.parent.mkdir(exist_ok=True)
        KNOWN.write_text(json.dumps(known, indent=1) + "\n", "utf-8")


def _of_config() -> str:
    return hashlib.sha256(CONFIG.read_bytes()).hexdigest()[:8] if CONFIG.exists() else "0"


def _names_in_config() -> Iterator[str]:
    try:
        config = tomllib.loads(CONFIG.read_text("utf-8"))
        for stage, commands in config.items():
            for command in ("global", "deploy") if isinstance(commands, dict) else ():
                name = (overrides_of(config, stage, command) or {}).get("Release")
                if name:
                    yield name
    except (BuildError, OSError, ValueError):
        return  # the build itself reports it


if __name__ == "__main__":
    sys.exit(main())
