"""The headers of requests for a schema: ``-H 'Name: value'``, with values of environment variables."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from handler.commands.schema_source.refusal import UsageRefused

NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""A token. Source: RFC 9110, section 5.6.2."""

VARIABLE = re.compile(r"\$(?:(?P<plain>[A-Za-z_]\w*)|\{(?P<braced>[A-Za-z_]\w*)\}|(?P<dollar>\$))", re.ASCII)
"""``$NAME`` or ``${NAME}`` for an environment variable, ``$$`` for a dollar sign."""

OF_THE_CONNECTION = frozenset(
    {
        "accept",
        "accept-encoding",
        "connection",
        "content-encoding",
        "content-length",
        "content-type",
        "expect",
        "host",
        "keep-alive",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
"""Headers that the request sets itself, or that belong to the connection."""

CREDENTIAL = re.compile(r"auth|cookie|credential|jwt|key|pass|secret|session|token", re.IGNORECASE)
"""Names of headers whose values are secret, whether or not they come from variables."""

MIN_SECRET_CHARS = 8
"""Shorter parts of a header's value may stand in any text by chance."""

STAND_IN = "…"


@dataclass(frozen=True, slots=True)
class Header:
    """One header of the command line. ``secrets`` are its variables, and the words of a credential."""

    name: str
    value: str = field(repr=False)
    secrets: frozenset[str] = field(repr=False)


@dataclass(frozen=True, slots=True)
class RequestHeaders:
    """The headers of the command line. No representation shows a value."""

    given: tuple[Header, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.given)

    def fields(self) -> dict[str, str]:
        """Return the headers as they are sent."""
        return {header.name: header.value for header in self.given}

    def hidden_in(self, text: str) -> str:
        """Return a text with a stand-in for each secret: an API may repeat what it was sent."""
        for secret in self._secrets():
            text = text.replace(secret, STAND_IN)
        return text

    def are_in(self, text: str) -> bool:
        """Tell if a text has a secret in it."""
        return any(secret in text for secret in self._secrets())

    def _secrets(self) -> list[str]:
        return sorted({each for header in self.given for each in header.secrets}, key=len, reverse=True)


def add_header_argument(parser: argparse.ArgumentParser, *, to: str = "the API") -> None:
    """Add the argument ``-H`` for requests to an API or another server."""
    parser.add_argument(
        "-H",
        dest="headers",
        action="append",
        default=[],
        type=_header,
        metavar="HEADER",
        help=f"a header for {to}, as 'Name: value'; $NAME in it is an environment variable, $$ a dollar sign",
    )


def request_headers(given: Iterable[Header]) -> RequestHeaders:
    """Return the headers of the command line.

    Raises:
        UsageRefused: a header is given twice.
    """
    found: dict[str, Header] = {}
    for header in given:
        if header.name.lower() in found:
            raise UsageRefused(f"argument -H: {header.name} is given twice")
        found[header.name.lower()] = header
    return RequestHeaders(tuple(found.values()))


def _header(text: str) -> Header:
    """Parse one header. No message quotes the value."""
    name, colon, written = text.partition(":")
    if not colon or not NAME.fullmatch(name):
        raise argparse.ArgumentTypeError("expected 'Name: value'")
    if name.lower() in OF_THE_CONNECTION or name.lower().startswith("proxy-"):
        raise argparse.ArgumentTypeError(f"{name} belongs to the connection: expected a header for the API")
    if not written.strip():  # the rest of an unquoted header would be other words, which argparse quotes
        raise argparse.ArgumentTypeError(f"{name} has no value: quote the whole header, as -H 'Name: value'")
    value, variables = _expanded(written.strip(), name, os.environ)
    if not value.isascii() or not value.isprintable():
        raise argparse.ArgumentTypeError(f"the value of {name} has characters other than printable ASCII")
    secrets = {*variables, *(value.split() if CREDENTIAL.search(name) else ())}
    return Header(name, value, frozenset(each for each in secrets if len(each) >= MIN_SECRET_CHARS))


def _expanded(text: str, header: str, environ: Mapping[str, str]) -> tuple[str, list[str]]:
    """Return the text with the values of its variables, and these values."""
    values: list[str] = []

    def value_of(found: re.Match[str]) -> str:
        if found["dollar"]:
            return "$"
        name = found["plain"] or found["braced"]
        if not environ.get(name):
            raise argparse.ArgumentTypeError(f"the environment variable {name}, which {header} names, is not set")
        values.append(environ[name])
        return environ[name]

    return VARIABLE.sub(value_of, text), values
