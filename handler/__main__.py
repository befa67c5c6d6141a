"""The deploy-time door: the ``stile`` command."""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code: 0, 1 for problems found, 2 for wrong usage."""
    if arguments is None and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # Nothing is to be finished while modules load and while the interpreter ends: both would print a traceback.
        signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    from handler.commands import run_command

    if "_ARGCOMPLETE" in os.environ:
        from handler.commands.completion import answer_shell

        answer_shell()
    atexit.register(gc.freeze)  # the interpreter would scan everything that was compiled once more before it ends
    return run_command(arguments)


if __name__ == "__main__":
    sys.exit(main())
