"""A tool whose description holds what nobody sees."""

from __future__ import annotations

from stile import Toolkit

kit = Toolkit()


@kit.tool(description="Greets.\u202e")
def greet() -> str:
    """Greet."""
    return "hello"
