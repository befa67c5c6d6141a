"""The counts of `make operate`, which `make test` runs a share of."""

from __future__ import annotations

import os

from tests.support.require import requires

NAME = "STILE_OPERATE_CALLS"
FULL = NAME in os.environ
CALLS = int(os.environ.get(NAME, "200"))


def for_make_operate() -> None:
    """Skip a test that takes seconds, but in `make operate`."""
    requires("operate", FULL, "`make operate` runs this")
