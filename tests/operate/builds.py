"""Build the function with ``sam build`` for both architectures, each in a copy whose samconfig.toml says so.

python -m tests.operate.builds FOLDER

What is built for an architecture is FOLDER/ARCHITECTURE/.aws-sam/build/StileFunction.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT

ARCHITECTURES = ("arm64", "x86_64")
EXTRAS = ["code", "jwt", "page"]
SAM = ROOT / ".venv-sam" / "bin" / "sam"


def main() -> int:
    """Build both; the exit code of the first that failed."""
    folder = Path(sys.argv[1]).resolve()
    for architecture in ARCHITECTURES:
        code = build(folder / architecture, architecture)
        if code:
            return code
    return 0


def build(copy: Path, architecture: str) -> int:
    """Build a copy of the project for an architecture; the exit code of ``sam build``."""
    shutil.rmtree(copy, ignore_errors=True)
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        source = ROOT / name
        if source.is_file() and not source.is_symlink():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, copy / name)
    config = copy / "samconfig.toml"
    config.write_text(chosen(config.read_text("utf-8"), architecture), "utf-8")
    environ = {**os.environ, "SAM_CLI_TELEMETRY": "0", "AWS_DEFAULT_REGION": "us-east-1"}
    # This may run in make, and the build starts another one.
    for name in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "MAKEOVERRIDES"):
        environ.pop(name, None)
    return subprocess.run([str(SAM), "build"], cwd=copy, env=environ, check=False).returncode


def chosen(config: str, architecture: str) -> str:
    """The text of samconfig.toml with an architecture, and with all that endpoints may need."""
    for key, value in (("Architecture", f'"{architecture}"'), ("Extras", json.dumps(EXTRAS))):
        config, changed = re.subn(rf"^{key} = .*$", f"{key} = {value}", config, flags=re.MULTILINE)
        assert changed == 1, key
    return config


if __name__ == "__main__":
    sys.exit(main())
