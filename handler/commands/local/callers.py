"""The notation for callers: ``anonymous``, a JSON file with a token's claims, or ``key:NAME`` for an API key.

``--as`` takes the notation; without ``--as`` the caller skips policies.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from handler.bundle.identity import ApiKey
from handler.bundle.model import Bundle
from handler.errors.access import CredentialRefused
from handler.errors.authoring import UnknownCaller
from handler.server.auth.principal import ANONYMOUS, DEVELOPMENT, Principal, anonymous_at, principal_of_key
from handler.strict_json import parse_json
from handler.text.sentences import did_you_mean, some

NOBODY = "anonymous"

KEY = "key:"
"""Prefix of the name of an API key."""

MAX_CLAIMS_BYTES = 100_000
"""The size of a file with claims: a token is much smaller."""

EXPECTED = 'expected a JSON object of claims, such as {"sub": "ada"}'

NOTATION = "anonymous, a JSON file with the claims of a token, or key:NAME for an API key of the endpoint"


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedCaller:
    """A caller in the notation above. Only an endpoint knows the claims of its API keys."""

    text: str  # as written
    known: Principal | None  # ``None``: the holder of an API key

    def principal(self, bundle: Bundle) -> Principal:
        """Return the caller's principal at an endpoint, even if the endpoint refuses the caller.

        Raises:
            UnknownCaller: the endpoint has no API key of this name.
        """
        return principal_of_key(self.key(bundle)) if self.known is None else self.known

    def admitted(self, bundle: Bundle, *, now: float) -> Principal:
        """Return the caller's principal as the function would. ``now`` is a UNIX time.

        Raises:
            UnknownCaller: the endpoint has no API key of this name.
            CredentialRequired: the endpoint challenges anonymous callers.
            CredentialRefused: the API key has expired.
        """
        if self.known == ANONYMOUS:
            return anonymous_at(bundle)
        if self.known is None and self.key(bundle).is_expired(now):
            raise CredentialRefused("expired")
        return self.principal(bundle)

    def key(self, bundle: Bundle) -> ApiKey:
        """Return the API key that ``key:NAME`` names.

        Raises:
            UnknownCaller: the endpoint has no API key of this name.
        """
        name = self.text.removeprefix(KEY)
        for key in bundle.identity.api_keys:
            if key.name == name:
                return key
        names = [key.name for key in bundle.identity.api_keys]
        there = f"the keys are {some(names, most=10)}" if names else "the endpoint has no identity.api_keys"
        question = did_you_mean(name, names)
        raise UnknownCaller(f'{bundle.endpoint}: there is no API key "{name}"{question or f": {there}"}')


SKIPS_POLICIES = NamedCaller(text="", known=DEVELOPMENT)


def read_caller(text: str, *, folder: Path | None = None) -> NamedCaller:
    """Read the notation. A claims file is found from ``folder``, in which a file names it, and is then a regular file.

    Raises:
        UnknownCaller: a file that cannot be read or that is not a JSON object, or a key without a name.
    """
    if text == NOBODY:
        return NamedCaller(text=text, known=ANONYMOUS)
    if text.startswith(KEY):
        if text == KEY:
            raise UnknownCaller(f"{text}: expected the name of an API key: key:NAME")
        return NamedCaller(text=text, known=None)
    return NamedCaller(text=text, known=Principal(kind="token", name=text, claims=_claims(text, folder)))


def add_caller_argument(parser: argparse.ArgumentParser) -> None:
    """Add the argument ``--as`` for one caller."""
    parser.add_argument(
        "--as",
        dest="caller",
        metavar="CALLER",
        type=caller_argument,
        default=SKIPS_POLICIES,
        help=f"{NOTATION}; without it, a caller who skips policies",
    )


def caller_argument(text: str) -> NamedCaller:
    """Read the notation for argparse."""
    try:
        return read_caller(text)
    except UnknownCaller as exc:
        raise argparse.ArgumentTypeError(str(exc)) from exc


def _claims(text: str, folder: Path | None) -> dict[str, object]:
    file = (folder or Path()) / text
    try:
        if folder is not None and file.exists() and not file.is_file():  # a pipe would wait for a writer
            raise UnknownCaller(f"{text}: it is not a file; expected {NOTATION}")
        with file.open("rb") as opened:
            content = opened.read(MAX_CLAIMS_BYTES + 1)
        if len(content) > MAX_CLAIMS_BYTES:
            raise UnknownCaller(f"{text}: it has more than {MAX_CLAIMS_BYTES:,} bytes; {EXPECTED}")
        claims = parse_json(content)
    except (OSError, ValueError) as exc:
        if isinstance(exc, OSError) or "\0" in text:
            reason = exc.strerror if isinstance(exc, OSError) else "its name has a NUL character"
            raise UnknownCaller(f"{text}: cannot be read ({reason}); expected {NOTATION}") from exc
        raise UnknownCaller(f"{text}: invalid JSON: {exc}; {EXPECTED}") from exc
    if not isinstance(claims, dict):
        raise UnknownCaller(f"{text}: {EXPECTED}")
    return claims
