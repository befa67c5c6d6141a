"""The source of a schema, a URL or a file, and the options of commands that read one."""

from __future__ import annotations

import argparse
import math
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from handler.bundle.upstream import OF_THE_CONNECTION
from handler.commands.command_line import CommandRefused, UsageRefused
from handler.compiler.config.values import is_http_url
from handler.compiler.source.files import SDL_SUFFIXES
from handler.text.invisible import escaped
from handler.text.sentences import cut_text

HEADING = "# From {origin}\n# `stile pull` writes this file anew: definitions of your own belong in index.graphql.\n\n"
HEADING_LINES = HEADING.count("\n")

EXPECTED = "expected the http(s) URL of a GraphQL API, or a file with SDL or the JSON of an introspection"
NO_USER = "a name and a password in a URL are not sent: give them as -H 'Authorization: …'"

SUFFIXES = (*SDL_SUFFIXES, ".sdl")

DEFAULT_S = 30.0
MAX_S = 600.0

MAX_QUOTED_CHARS = 200

HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""A token. Source: RFC 9110, section 5.6.2."""

VARIABLE = re.compile(r"\$(?:(?P<plain>[A-Za-z_]\w*)|\{(?P<braced>[A-Za-z_]\w*)\}|(?P<dollar>\$))", re.ASCII)
"""``$NAME`` or ``${NAME}`` for an environment variable, ``$$`` for a dollar sign."""

OF_A_VARIABLE = re.compile(r"([A-Za-z][A-Za-z0-9-]* +)?\$(?:[A-Za-z_]\w*|\{[A-Za-z_]\w*\})", re.ASCII)
"""A variable alone, or behind the scheme of a credential."""

OF_THE_REQUEST = {"accept", "accept-encoding", "content-encoding", "content-type", "expect", "keep-alive"}
"""Headers that the request sets itself, beside those of the connection."""

CREDENTIAL = re.compile(r"auth|cookie|credential|jwt|key|pass|secret|session|token", re.IGNORECASE)
"""Names of headers whose values are secret, whether or not they come from variables."""

MIN_SECRET_CHARS = 8
"""Shorter parts of a header's value may stand in any text by chance."""


class SourceRefused(CommandRefused):
    """A schema that cannot be fetched, read or used. The message is one sentence: the source, then the cause."""

    def __init__(self, source: str, cause: str) -> None:
        super().__init__(f"{source}: {cause}")
        self.source = source
        self.cause = cause


def one_line_quote(text: str) -> str:
    """Return the beginning of another's text on one line, in quotation marks."""
    line = " ".join(text.split())
    return f'"{cut_text(line, MAX_QUOTED_CHARS)}"'


@dataclass(frozen=True, slots=True)
class SchemaSource:
    """A URL or a file. ``text`` is as written, and may hold a secret in its query string; ``shown`` has none."""

    text: str
    shown: str
    is_url: bool
    is_api: bool  # False: a document
    has_sdl: bool  # by its name, and the lines are those of ``schema.graphql``

    @property
    def named(self) -> str:
        """Return the URL, or the path of the file as it was given, for messages.

        A URL without its scheme is taken for a file: one that may hold a secret is not shown whole.
        """
        return self.shown if self.is_url or {"@", "?"} & set(self.text) else escaped(self.text)


def parse_source(text: str) -> SchemaSource:
    """Parse a URL or the name of a file.

    Raises:
        argparse.ArgumentTypeError: neither. The message does not quote a URL, which may hold a secret.
    """
    if not re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", text):
        if not text or Path(text).is_dir():
            raise argparse.ArgumentTypeError(EXPECTED)
        shown = escaped(Path(text).name).replace("\n", " ")
        return SchemaSource(text, shown, is_url=False, is_api=False, has_sdl=Path(text).suffix in SUFFIXES)
    try:
        parts = urlsplit(text)
    except ValueError:
        raise argparse.ArgumentTypeError(EXPECTED) from None
    if "@" in parts.netloc:
        raise argparse.ArgumentTypeError(NO_USER)
    if not is_http_url(text) or "\\" in text:
        raise argparse.ArgumentTypeError(EXPECTED)
    address = f"{parts.scheme.lower()}://{parts.netloc.lower()}{parts.path or '/'}"
    has_sdl = Path(parts.path).suffix in SUFFIXES
    return SchemaSource(text.partition("#")[0], address, is_url=True, is_api=True, has_sdl=has_sdl)


def at_path(source: SchemaSource, path: str) -> SchemaSource:
    """Return another path of a URL's origin, with the query string of the URL."""
    return parse_source(urlsplit(source.text)._replace(path=path).geturl())


def with_heading(sdl: str, source: SchemaSource) -> str:
    """Return the text of ``schema.graphql``."""
    return HEADING.format(origin=source.shown) + sdl


def without_heading(text: str) -> str:
    """Return the SDL of ``schema.graphql`` without the comment at its beginning."""
    lines = text.splitlines(keepends=True)
    while lines and (not lines[0].strip() or lines[0].startswith("#")):
        del lines[0]
    return "".join(lines)


def url_in(text: str) -> str:
    """Return the URL in the first line of ``schema.graphql``; empty string if there is none."""
    line = re.match(r"# From (\S[^\n]*)", text.removeprefix("\ufeff"))
    return line[1].strip() if line and is_http_url(line[1].strip()) else ""


def add_source_argument(parser: argparse.ArgumentParser, *, meaning: str) -> None:
    """Add the argument ``--from``."""
    parser.add_argument("--from", dest="source", type=parse_source, metavar="SOURCE", help=meaning)


def add_timeout_argument(parser: argparse.ArgumentParser) -> None:
    """Add the argument ``--timeout``."""
    parser.add_argument(
        "--timeout",
        type=_seconds,
        default=DEFAULT_S,
        metavar="SECONDS",
        help="the time for the API to give its schema (default: %(default)g)",
    )


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0.1 <= seconds <= MAX_S:
        raise argparse.ArgumentTypeError(f"{text!r}: expected seconds from 0.1 to {MAX_S:g}")
    return seconds


@dataclass(frozen=True, slots=True)
class RequestHeaders:
    """Headers of the command line. No representation shows a value.

    ``secrets`` are the values of variables, and the words of credentials. ``written`` has the text of each field before
    variables got their values, or an empty string if the user may have typed a secret in it.
    """

    fields: Mapping[str, str] = field(repr=False)  # as they are sent
    written: Mapping[str, str]
    secrets: frozenset[str] = field(repr=False)

    def __bool__(self) -> bool:
        return bool(self.fields)

    def hidden_in(self, text: str) -> str:
        """Return a text with a stand-in for each secret: an API may repeat the headers of a request."""
        for secret in sorted(self.secrets, key=len, reverse=True):
            text = text.replace(secret, "…")
        return text


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


def joined_headers(headers: Iterable[RequestHeaders]) -> RequestHeaders:
    """Return the headers of the command line together.

    Raises:
        UsageRefused: a header is given twice.
    """
    fields: dict[str, str] = {}
    written: dict[str, str] = {}
    secrets: frozenset[str] = frozenset()
    for header in headers:
        for name, value in header.fields.items():
            if name.lower() in map(str.lower, fields):
                raise UsageRefused(f"argument -H: {name} is given twice")
            fields[name] = value
        written |= header.written
        secrets |= header.secrets
    return RequestHeaders(fields, written, secrets)


def _header(text: str) -> RequestHeaders:
    """Parse one header. No message quotes the value."""
    name, colon, rest = text.partition(":")
    if not colon or not HEADER_NAME.fullmatch(name):
        raise argparse.ArgumentTypeError("expected 'Name: value'")
    if name.lower() in OF_THE_CONNECTION | OF_THE_REQUEST or name.lower().startswith("proxy-"):
        raise argparse.ArgumentTypeError(f"{name} belongs to the connection: expected a header for the API")
    if not rest.strip():  # the rest of an unquoted header would be other words, which argparse quotes
        raise argparse.ArgumentTypeError(f"{name} has no value: quote the whole header, as -H 'Name: value'")
    variables: list[str] = []

    def value_of(match: re.Match[str]) -> str:
        if match["dollar"]:
            return "$"
        variable = match["plain"] or match["braced"]
        if not os.environ.get(variable):
            raise argparse.ArgumentTypeError(f"the environment variable {variable}, which {name} names, is not set")
        variables.append(os.environ[variable])
        return os.environ[variable]

    value = VARIABLE.sub(value_of, rest.strip())
    if not value.isascii() or not value.isprintable():
        raise argparse.ArgumentTypeError(f"the value of {name} has characters other than printable ASCII")
    secrets = {*variables, *(value.split() if CREDENTIAL.search(name) else ())}
    written = rest.strip() if OF_A_VARIABLE.fullmatch(rest.strip()) else ""
    secrets = {each for each in secrets if len(each) >= MIN_SECRET_CHARS}
    return RequestHeaders({name: value}, {name: written}, frozenset(secrets))
