"""The development issuer: tokens for trials, which only ``stile dev`` and ``stile call`` of the same user accept.

One secret of the user, outside of all repositories, makes a key for each endpoint folder. So a token for one folder is
not valid for another, and no key can be published.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from handler.bundle.identity import DEVELOPMENT_ISSUER, DEVELOPMENT_KEY, Identity, Issuer, VerificationKey
from handler.errors.authoring import KeyFileRefused

SECRET_BYTES = 32
MAX_FILE_BYTES = 1_024
PRIVATE_BITS = 0o077
"""The bits of a file's mode that let other users in."""

ALGORITHM = "HS256"


def key_file(environ: Mapping[str, str]) -> Path:
    """Return the place of the user's secret.

    Source: XDG Base Directory Specification, for ``XDG_STATE_HOME``.
    """
    state = Path(environ.get("XDG_STATE_HOME", ""))
    home = state if state.is_absolute() else Path(environ.get("HOME") or Path.home(), ".local", "state")
    return home / "stile" / "development.key"


def find_issuer(folder: Path, identity: Identity, *, environ: Mapping[str, str]) -> Issuer | None:
    """Return the development issuer of an endpoint folder; ``None`` if no token was ever made.

    A token needs one of the audiences that the endpoint's own issuers expect.

    Raises:
        KeyFileRefused: as ``read_secret``.
    """
    secret = read_secret(key_file(environ))
    return _issuer(folder, identity, secret) if secret else None


def require_issuer(folder: Path, identity: Identity, *, environ: Mapping[str, str]) -> Issuer:
    """Return the development issuer of an endpoint folder, with a new secret of the user if there is none.

    Raises:
        KeyFileRefused: the file cannot be written, or as ``read_secret``.
    """
    file = key_file(environ)
    return _issuer(folder, identity, read_secret(file) or _make_secret(file))


def mint(issuer: Issuer, claims: Mapping[str, Any]) -> str:
    """Return a token of the development issuer with these claims."""
    from jwt import encode

    (key,) = issuer.keys
    return encode({**claims, "iss": issuer.issuer}, key.key, algorithm=ALGORITHM)


def audiences_of(identity: Identity) -> tuple[str, ...]:
    """Return the audiences that an endpoint's own issuers expect."""
    return tuple(dict.fromkeys(audience for issuer in identity.issuers for audience in issuer.audiences))


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


def _make_secret(file: Path) -> bytes:
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


def _issuer(folder: Path, identity: Identity, secret: bytes) -> Issuer:
    derived = hmac.new(secret, os.fsencode(folder.resolve()), hashlib.sha256).hexdigest()
    return Issuer(
        issuer=DEVELOPMENT_ISSUER,
        audiences=audiences_of(identity),
        subject="",
        required_claims=(),
        algorithms=(),
        jwks_url="",
        keys=(VerificationKey(id="", algorithm=ALGORITHM, key=f"{DEVELOPMENT_KEY}{derived}"),),
        leeway_s=0,
    )
