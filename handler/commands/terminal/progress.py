"""A line on standard error for work that takes longer than a second."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from handler.commands.terminal.console import announce, one_line

QUIET_S = 1.0


@contextmanager
def told_if_slow(what: str, *, when: bool = True) -> Iterator[None]:
    """Print the sentence if the block takes longer than a second, and ``when``."""
    if not when:
        yield
        return
    timer = threading.Timer(QUIET_S, announce, [f"{one_line(what)} …"])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
