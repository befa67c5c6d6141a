"""The exit codes of all commands, for their runs, their ``--help`` and docs/cli.md."""

from __future__ import annotations

from collections.abc import Mapping

DONE = 0
REFUSED = 1
USAGE = 2
INTERRUPTED = 130
"""The exit code that shells expect of a command that Ctrl-C ended."""

DIFFERENT = 1
BREAKING = 2
NOT_COMPARED = 3
OPENING = 4
"""The exit codes of ``stile diff``, whose errors must not look like differences to CI. The last one is a bit."""

CODE_OF_ERRORS: Mapping[str, int] = {"diff": NOT_COMPARED}
"""Command -> the exit code of its errors of use, if it is not ``USAGE``."""

EXIT_CODES: Mapping[int, str] = {
    DONE: "done",
    REFUSED: "something was found or refused",
    USAGE: "the command line or an environment variable is not valid",
    INTERRUPTED: "ended by Ctrl-C",
}
"""Code -> meaning for every command. A command's own ``EXIT_CODES`` says more of some."""
