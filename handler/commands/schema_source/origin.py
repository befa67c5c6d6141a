"""The origin of a schema: the URL or file that ``schema.graphql`` names in its first line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from handler.compiler.config.values import is_http_url
from handler.compiler.source.files import SDL_SUFFIXES
from handler.text.invisible import escaped

SCHEMA_FILE = "schema.graphql"
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
FIRST_LINE = re.compile(r"# From (?P<origin>\S[^\n]*)")
HEADING = "# From {origin}\n# `stile pull` writes this file anew: definitions of your own belong in index.graphql.\n\n"
HEADING_LINES = HEADING.count("\n")

EXPECTED = "expected the http(s) URL of a GraphQL API, or a file with SDL or the JSON of an introspection"
NO_USER = "a name and a password in a URL are not sent: give them as -H 'Authorization: …'"


@dataclass(frozen=True, slots=True)
class SchemaSource:
    """A URL or a file. ``text`` is as written, and may hold a secret in its query string; ``shown`` has none."""

    text: str
    shown: str
    is_url: bool

    @property
    def endpoint_url(self) -> str:
        """Return the API's URL for ``config.yaml``; empty string for a file."""
        return self.shown if self.is_url else ""

    @property
    def named(self) -> str:
        """Return the URL, or the path of the file as it was given, for messages.

        A URL without its scheme is taken for a file: one that may hold a secret is not shown whole.
        """
        return self.shown if self.is_url or {"@", "?"} & set(self.text) else escaped(self.text)

    @property
    def has_sdl(self) -> bool:
        """Tell if the source is a file of SDL by its name, so that its lines are those of ``schema.graphql``."""
        return not self.is_url and Path(self.text).suffix in (*SDL_SUFFIXES, ".sdl")


def parse_source(text: str) -> SchemaSource:
    """Read a URL or the name of a file.

    Raises:
        ValueError: neither. The message does not quote a URL, which may hold a secret.
    """
    if SCHEME.match(text):
        return _parse_url(text)
    if not text or Path(text).is_dir():
        raise ValueError(EXPECTED)
    return SchemaSource(text, escaped(Path(text).name).replace("\n", " "), is_url=False)


def _parse_url(text: str) -> SchemaSource:
    try:
        parts = urlsplit(text)
    except ValueError:
        raise ValueError(EXPECTED) from None
    if "@" in parts.netloc:
        raise ValueError(NO_USER)
    if not is_http_url(text) or "\\" in text:
        raise ValueError(EXPECTED)
    path = parts.path or "/"
    return SchemaSource(text.partition("#")[0], f"{parts.scheme.lower()}://{parts.netloc.lower()}{path}", is_url=True)


def origin_of(url: str) -> tuple[str, str]:
    """Return the scheme and the authority of a URL."""
    parts = urlsplit(url)
    return parts.scheme.lower(), parts.netloc.lower()


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
    found = FIRST_LINE.match(text.removeprefix("\ufeff"))
    url = found["origin"].strip() if found else ""
    return url if is_http_url(url) else ""
