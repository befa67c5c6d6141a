"""Read a schema from an API or from a file of SDL or JSON."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from handler.commands.local.local_server import local_http
from handler.commands.schema_source.header_options import RequestHeaders
from handler.commands.schema_source.introspection import MAX_ANSWER_BYTES, IntrospectedApi
from handler.commands.schema_source.origin import SchemaSource
from handler.commands.schema_source.refusal import SourceRefused, UsageRefused
from handler.commands.schema_source.sdl_file import bounded, printable, sdl_of_introspection
from handler.strict_json import parse_json

NO_FILE = "there is no such file, and the URL of an API begins with https:// or http://"


def read_sdl(source: SchemaSource, *, headers: RequestHeaders, timeout_s: float, warn: Callable[[str], None]) -> str:
    """Return the SDL of an API or a file. ``warn`` is told why a subgraph's directives are missing.

    Raises:
        UsageRefused: there are headers for a file.
        SourceRefused: no schema can be had from there.
        SettingsError: an environment variable that does not fit.
    """
    if source.is_url:
        return _ask(source, headers=headers, timeout_s=timeout_s, warn=warn)
    if headers:
        raise UsageRefused(f"-H is for the URL of an API, and {source.shown} is a file")
    return _read_file(source)


def _ask(source: SchemaSource, *, headers: RequestHeaders, timeout_s: float, warn: Callable[[str], None]) -> str:
    """Ask an API. Neither the schema nor a refusal repeats the value of a header."""
    with closing(local_http()) as http:
        deadline = time.monotonic() + timeout_s
        api = IntrospectedApi(
            source=source, headers=headers, http=http, deadline=deadline, timeout_s=timeout_s, warn=warn
        )
        try:
            sdl = api.sdl()
        except SourceRefused as exc:
            raise SourceRefused(source.shown, headers.hidden_in(exc.cause)) from None
    if headers.are_in(sdl):
        raise SourceRefused(source.shown, "the schema repeats the value of a header of -H, so it was not written")
    return sdl


def _read_file(source: SchemaSource) -> str:
    raw = _read_bytes(source)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SourceRefused(source.named, "the file is not UTF-8") from None
    if text.lstrip()[:1] in ("{", "["):
        return sdl_of_introspection(_introspection(text.encode(), source), source.named)
    if not text.strip():
        raise SourceRefused(source.named, "the file is empty: expected SDL, or the JSON of an introspection")
    return bounded(printable(text if text.endswith("\n") else f"{text}\n"), source.named)


def _read_bytes(source: SchemaSource) -> bytes:
    path = Path(source.text)
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # before opening: a pipe would wait for a writer
            raise SourceRefused(source.named, "it is not a file")
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size > MAX_ANSWER_BYTES:
                raise SourceRefused(source.named, f"the file has {size:,} bytes; {MAX_ANSWER_BYTES:,} are read")
            return file.read(MAX_ANSWER_BYTES)
    except FileNotFoundError:
        raise SourceRefused(source.named, NO_FILE) from None
    except (OSError, ValueError) as exc:
        raise SourceRefused(source.named, f"the file cannot be read: {getattr(exc, 'strerror', None) or exc}") from exc


def _introspection(text: bytes, source: SchemaSource) -> dict[str, Any]:
    """Return ``{"__schema": …}`` of a response, of its ``data``, or of the schema alone."""
    try:
        content = parse_json(text)
    except ValueError as exc:
        raise SourceRefused(source.named, f"invalid JSON: {exc}") from None
    data = content.get("data") if isinstance(content, dict) and "__schema" not in content else content
    if isinstance(data, dict) and isinstance(data.get("__schema"), dict):
        return {"__schema": data["__schema"]}
    raise SourceRefused(
        source.named, 'the JSON is not an introspection: expected {"data": {"__schema": …}} or {"__schema": …}'
    )
