"""The function as Lambda starts it with an environment, and the lines of its own logger."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import pytest

from handler.aws.sigv4 import CredentialSource
from handler.http.client import HttpClient
from handler.server.function import build_handler
from handler.settings import read_settings
from handler.storage.location import open_storage
from tests.support.function import Function, closing
from tests.support.secrecy import SESSION, Output


@contextmanager
def started_function(location: str, /, path: str = "/api/things/mcp", **environ: str) -> Iterator[Function]:
    """The function over the bundles at ``location``, with this environment."""
    SESSION.keep_environ(environ)
    # A logger keeps the stream that it began with: each test has one of its own.
    environ = {"STILE_BUNDLES": location, "POWERTOOLS_SERVICE_NAME": f"stile-{uuid4()}", **environ}
    settings = read_settings(environ)
    http = HttpClient(settings.addresses)
    credentials = CredentialSource(environ, http=http)
    storage = open_storage(location, http=http, environ=environ, credentials=credentials)
    handler = build_handler(settings, environ, http=http, storage=storage, credentials=credentials)
    with closing(asyncio.get_event_loop()):
        yield Function(handler, path=path)
    http.close()


def logged(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """The lines since the last time."""
    printed = capsys.readouterr().out
    SESSION.note(Output.HANDLER_LOG, printed)
    return [json.loads(line) for line in printed.splitlines()]


def errors(capsys: pytest.CaptureFixture[str]) -> list[tuple[str, str, str]]:
    """Of these, what the errors say: the message, the endpoint and the reason."""
    lines = [line for line in logged(capsys) if line["level"] == "ERROR"]
    return [(line["message"], line["endpoint"], line["reason"]) for line in lines]
