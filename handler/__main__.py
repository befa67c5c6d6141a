"""The deploy-time door: the ``stile`` command."""

from __future__ import annotations

import sys
from collections.abc import Sequence

MISSING_EXTRA = (
    "stile: the command needs packages that the function does not ({name} is missing).\n"
    "Install the wheel of Stile with its extra `cli`, or run `make setup` in a clone: docs/install.md shows both."
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code: 0, 1 for problems found, 2 for wrong usage."""
    try:
        from handler.commands import run_command
    except ModuleNotFoundError as exc:
        name = (exc.name or "").partition(".")[0]
        if name in ("", "handler"):
            raise
        print(MISSING_EXTRA.format(name=name), file=sys.stderr)  # noqa: T201 - rich may be the missing package
        return 2
    return run_command(arguments)


if __name__ == "__main__":
    sys.exit(main())
