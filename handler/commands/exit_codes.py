"""The exit codes of all commands, for their runs, their ``--help`` and docs/cli.md."""

from __future__ import annotations

from collections.abc import Mapping

DONE = 0
REFUSED = 1
USAGE = 2
INTERRUPTED = 130
"""The exit code that shells expect of a command that Ctrl-C ended."""

EXIT_CODES: Mapping[int, str] = {
    DONE: "done",
    REFUSED: "something was found or refused",
    USAGE: "the command line or an environment variable is not valid",
    INTERRUPTED: "ended by Ctrl-C",
}
"""Code -> meaning for every command. A command's own ``EXIT_CODES`` says more of some."""
