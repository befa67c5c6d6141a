"""The subcommands of ``stile``: each module has ``HELP``, ``add_arguments`` and ``run``, which gives the exit code."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Protocol

from handler.commands import build, call, check, dev, key, publish


class Command(Protocol):
    """What a module of this package offers."""

    HELP: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, options: argparse.Namespace) -> int: ...


COMMANDS: Mapping[str, Command] = {
    "check": check,
    "dev": dev,
    "call": call,
    "build": build,
    "publish": publish,
    "key": key,
}
