"""The deploy-time door: the ``stile`` command."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from handler.commands import run_command


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code: 0, 1 for problems found, 2 for wrong usage."""
    return run_command(arguments)


if __name__ == "__main__":
    sys.exit(main())
