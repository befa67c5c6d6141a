"""Tools that end the process in which they run, or need more of its memory with each call."""

import os
import signal

from stile import Toolkit

kit = Toolkit()
kept: list[bytes] = []


@kit.tool
def steady() -> str:
    """Answer."""
    return "well"


@kit.tool
def kill(secret: str) -> str:
    """End the process as a lack of memory does."""
    os.kill(os.getpid(), signal.SIGKILL)
    return secret


@kit.tool
def leak() -> str:
    """Keep 40 MB."""
    kept.append(b"x" * 40_000_000)
    return "well"
