"""``python -m tests.fuzz_parsers [NAME ...] --runs N``: let atheris change inputs of parsers towards code not yet run.

Each parser has a process of its own, because atheris ends it. Inputs that reach new code are kept in
``.stile/fuzz-corpora/NAME``, and the input of a finding beside that folder. Ends with 1 if there is one.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

NAMES = ("http", "bundle", "state", "tenant")
FOLDER = Path(".stile/fuzz-corpora")
MAX_BYTES = 8_192
PARSERS = (
    "handler.bundle.parts",
    "handler.bundle.stored",
    "handler.bundle.stored",
    "handler.bundle.upstream",
    "handler.http.response",
    "handler.server.auth.sealed_state",
    "handler.strict_json",
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz_parsers")
    parser.add_argument("names", nargs="*", choices=[*NAMES, []], metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--seconds", type=int, default=3_600, help="the most that one parser takes")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    names = options.names or NAMES
    if options.inside:
        _fuzz(names[0], runs=options.runs, seconds=options.seconds)
    limits = ["--runs", str(options.runs), "--seconds", str(options.seconds)]
    command = [sys.executable, "-m", "tests.fuzz_parsers", "--inside", *limits]
    failed = [name for name in names if subprocess.run([*command, name], check=False).returncode]
    bounds = f"up to {options.runs:,} runs or {options.seconds:,} s each"
    sys.stdout.write(f"{len(names)} parsers, {bounds}: {', '.join(failed) or 'no'} finding\n")
    return 1 if failed else 0


def _fuzz(name: str, *, runs: int, seconds: int) -> None:
    """Fuzz one parser, and end the process."""
    atheris: Any = import_module("atheris")  # beside .venv: see the Makefile
    with atheris.instrument_imports(include=PARSERS, enable_loader_override=False):
        for module in PARSERS:
            import_module(module)
    from tests.fuzz_parsers.targets import TARGETS

    target = TARGETS[name]
    folder = FOLDER / name
    folder.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(target.seeds):
        (folder / f"seed-{number}").write_bytes(seed)
    words = FOLDER / f"{name}-words"
    words.write_text("".join(f'"{_escaped(word)}"\n' for word in target.words))
    given = [
        f"-dict={words}",
        f"-runs={runs}",
        f"-max_total_time={seconds}",
        f"-max_len={MAX_BYTES}",
        "-timeout=20",
        "-verbosity=0",
    ]
    atheris.Setup([sys.argv[0], *given, f"-artifact_prefix={FOLDER / name}-", str(folder)], target.check)
    atheris.Fuzz()


def _escaped(word: bytes) -> str:
    return "".join(rf"\x{byte:02x}" for byte in word)


if __name__ == "__main__":
    sys.exit(main())
