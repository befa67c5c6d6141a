"""Secrets of the user in files that no other user may read, and the cache of schemas that one of them seals."""

from __future__ import annotations

import hmac
import os
import secrets
import stat
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from handler.compiler.schema.schema_cache import SchemaCache
from handler.errors.authoring import KeyFileRefused

SECRET_BYTES = 32
MAX_FILE_BYTES = 1_024
PRIVATE_BITS = 0o077
"""The bits of a file's mode that let other users in."""

CACHE = Path(".stile", "cache")


def secret_file(name: str, environ: Mapping[str, str]) -> Path:
    """Return the place of a secret of the user.

    Source: XDG Base Directory Specification, for ``XDG_STATE_HOME``.
    """
    state = Path(environ.get("XDG_STATE_HOME", ""))
    home = state if state.is_absolute() else Path(environ.get("HOME") or Path.home(), ".local", "state")
    return home / "stile" / name


def read_user_secret(file: Path) -> bytes:
    """Return the user's secret; empty if there is no file.

    Raises:
        KeyFileRefused: the file cannot be read, other users may use it, or its content is not a secret.
    """
    try:
        descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except FileNotFoundError:
        return b""
    except OSError as exc:
        raise KeyFileRefused(str(file), f"cannot be read ({exc.strerror})") from exc
    try:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):
            raise KeyFileRefused(str(file), "expected a regular file")
        if os.name == "posix" and (facts.st_mode & PRIVATE_BITS or facts.st_uid != os.geteuid()):
            raise KeyFileRefused(str(file), "other users may use it: give it the mode 0600, or remove it")
        text = os.read(descriptor, MAX_FILE_BYTES)
    finally:
        os.close(descriptor)
    try:
        secret = bytes.fromhex(text.decode("ascii"))
    except ValueError:
        secret = b""
    if len(secret) != SECRET_BYTES:
        raise KeyFileRefused(str(file), f"expected {SECRET_BYTES} bytes in hexadecimal digits: remove it")
    return secret


def make_secret(file: Path) -> bytes:
    """Write a new secret, unless another process has just written one, and return the secret of the file.

    Raises:
        KeyFileRefused: the file cannot be written, or as ``read_secret``.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor, name = tempfile.mkstemp(dir=file.parent)  # only its owner may read it
        try:
            with os.fdopen(descriptor, "w", encoding="ascii") as opened:
                opened.write(secrets.token_hex(SECRET_BYTES))
            os.link(name, file)  # never replaces the secret of another process
        except FileExistsError:
            pass
        finally:
            Path(name).unlink()
    except OSError as exc:
        raise KeyFileRefused(str(file), f"cannot be written ({exc.strerror})") from exc
    return read_user_secret(file)


def state_key(environ: Mapping[str, str]) -> tuple[Path, str]:
    """Return the user's own state key, which is made with its first use, and its file.

    Raises:
        KeyFileRefused: as ``make_secret``.
        RuntimeError: the user has no home.
    """
    file = secret_file("serve.key", environ)
    return file, (read_user_secret(file) or make_secret(file)).hex()


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

    A stranger's repository may have such a folder, and an entry decides the answers of commands about an endpoint.
    """
    try:
        file = secret_file("cache.key", environ)
    except RuntimeError:  # a user without a home
        return SchemaCache()

    @cache
    def secret() -> bytes:
        """Return the user's secret, made with the first entry."""
        try:
            return read_user_secret(file) or make_secret(file)
        except KeyFileRefused as exc:
            raise OSError(str(exc)) from exc

    def seal(name: str, content: bytes) -> bytes:
        return hmac.digest(secret(), name.encode() + content, "sha256")

    return SchemaCache(cache_folder(folder, environ), seal=seal)
