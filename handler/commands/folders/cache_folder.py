"""The folder of what commands keep from one run to the next."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

CACHE = Path(".stile", "cache")


def cache_folder(folder: Path, environ: Mapping[str, str]) -> Path | None:
    """Return the cache's folder for endpoints in ``folder``: at the root of the repository, or in ``folder`` itself.

    ``None`` in CI (``CI`` in the environment), where results should depend on the files alone.
    """
    if environ.get("CI", "").lower() not in ("", "0", "false"):
        return None
    absolute = folder.absolute()
    root = next((each for each in (absolute, *absolute.parents) if (each / ".git").exists()), absolute)
    return root / CACHE
