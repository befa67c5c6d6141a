"""The Lambda function and the `stile` command. Authors of tools in Python import from `stile`."""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Return the public object of `stile` with this name. For older modules; removed after 0.1."""
    stile = import_module("stile")
    if name not in (*stile.__all__, "__all__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(stile, name)
