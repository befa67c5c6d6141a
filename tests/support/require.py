import os

import pytest


def requires(name: str, available: object, reason: str) -> None:
    """Skip a test that needs what this machine lacks, and say so; fail it where ``STILE_REQUIRE`` names that.

    ``STILE_REQUIRE`` is a comma list such as ``moto,python3.13,sam``. CI sets it, so that nothing is skipped
    there unseen. Made for fixtures: ``requires("sam", find_emulator(), "`make sam-setup` installs it")``.
    """
    if available:
        return
    sentence = f"{name} is missing: {reason}"
    if name in os.environ.get("STILE_REQUIRE", "").split(","):
        pytest.fail(f"{sentence} (STILE_REQUIRE names it)", pytrace=False)
    pytest.skip(sentence)
