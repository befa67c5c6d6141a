"""A line on standard error for work that takes longer than a second."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from rich.text import Text

from handler.commands.console import ERR, one_line

QUIET_S = 1.0


@contextmanager
def told_if_slow(what: str) -> Iterator[None]:
    """Print the sentence if the block takes longer than a second."""
    timer = threading.Timer(QUIET_S, ERR.print, [Text(f"{one_line(what)} …", style="dim")])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
