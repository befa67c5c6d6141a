"""The deploy-time door: the ``stile`` command."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Sequence

from handler.commands import run_command


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code: 0, 1 for problems found, 2 for wrong usage."""
    if "_ARGCOMPLETE" in os.environ:
        from handler.commands.completion import answer_shell

        answer_shell()
    atexit.register(gc.freeze)  # the interpreter would scan everything that was compiled once more before it ends
    return run_command(arguments)


if __name__ == "__main__":
    sys.exit(main())
