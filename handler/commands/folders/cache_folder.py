"""The folder of what commands keep from one run to the next, and the seal of what they keep."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path

from handler.commands.folders.user_secret import make_secret, read_secret, secret_file
from handler.compiler.schema.schema_cache import SchemaCache
from handler.errors.authoring import KeyFileRefused

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


def user_cache(folder: Path, environ: Mapping[str, str]) -> SchemaCache:
    """Return the cache for endpoints in ``folder``. It reads no entry that another user has made.

    A stranger's repository may have such a folder, and an entry decides what a command says of an endpoint.
    """
    try:
        file = secret_file("cache.key", environ)
    except RuntimeError:  # a user without a home
        return SchemaCache()
    return SchemaCache(cache_folder(folder, environ), seal=partial(_sealed, file))


def _sealed(file: Path, name: str, content: bytes) -> bytes:
    return hmac.digest(_secret(file), name.encode() + content, "sha256")


@cache
def _secret(file: Path) -> bytes:
    """Return the user's secret, made with the first entry.

    Raises:
        OSError: the secret cannot be read or written.
    """
    try:
        return read_secret(file) or make_secret(file)
    except KeyFileRefused as exc:
        raise OSError(str(exc)) from exc
