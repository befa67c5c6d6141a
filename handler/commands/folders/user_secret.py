"""Secrets of the user in files outside of all repositories, which no other user may read."""

from __future__ import annotations

import os
import secrets
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path

from handler.errors.authoring import KeyFileRefused

SECRET_BYTES = 32
MAX_FILE_BYTES = 1_024
PRIVATE_BITS = 0o077
"""The bits of a file's mode that let other users in."""


def secret_file(name: str, environ: Mapping[str, str]) -> Path:
    """Return the place of a secret of the user.

    Source: XDG Base Directory Specification, for ``XDG_STATE_HOME``.
    """
    state = Path(environ.get("XDG_STATE_HOME", ""))
    home = state if state.is_absolute() else Path(environ.get("HOME") or Path.home(), ".local", "state")
    return home / "stile" / name


def read_secret(file: Path) -> bytes:
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
    return read_secret(file)
