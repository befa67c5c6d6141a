"""The part of the suite's tools for tasks that is written in Python."""

from __future__ import annotations

from stile import Toolkit

kit = Toolkit()


@kit.tool
def greet(name: str) -> str:
    """Answer at once, without a task."""
    return f"Hello, {name}!"
