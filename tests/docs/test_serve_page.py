"""docs/serve.md is followed word for word, with an API without TLS, two keys, a question, and a proxy in front."""

from __future__ import annotations

import asyncio
import re
import shlex
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml
from graphql import build_schema, graphql_sync
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitRequestParams, ElicitResult

from tests.commands.running import Stile, interrupt, ran
from tests.commands.test_serve import Served, serving
from tests.docs.pages import blocks, read, section
from tests.support.api import Api, Asked, Reply, running_api

PAGE = section(read("docs/serve.md"), "An endpoint, from its folder to its callers")
API = "api.internal"
ORDERS: Sequence[Mapping[str, str]] = [{"number": "A-1", "status": "open"}]
TOKEN = "the token of the API"
PUBLIC = "mcp.example.com"


class Orders:
    """The API of the page, and the orders that were cancelled."""

    def __init__(self, schema: str) -> None:
        self._schema = build_schema(schema)
        self.cancelled: list[str] = []

    def answer(self, asked: Asked) -> Reply:
        if asked.authorization != f"Bearer {TOKEN}":
            return Reply({"errors": [{"message": "no token"}]}, status=401)
        root = {"orders": self._list, "cancelOrder": self._cancel}
        body = asked.json
        done = graphql_sync(self._schema, body["query"], root, variable_values=body.get("variables"))
        return Reply(
            {"data": done.data, **({"errors": [each.formatted for each in done.errors]} if done.errors else {})}
        )

    def _list(self, _: Any, first: int) -> Sequence[Mapping[str, str]]:
        return ORDERS[:first]

    def _cancel(self, _: Any, number: str) -> dict[str, str]:
        self.cancelled.append(number)
        return {"number": number, "status": "cancelled"}


@contextmanager
def proxy(port: int) -> Iterator[int]:
    """A reverse proxy, as the page asks for: it passes the client's ``Host`` on, and says for whom it asks."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", "0")))
            sent = {name: value for name, value in self.headers.items() if name.lower() != "connection"}
            forwarded = {"X-Forwarded-For": self.client_address[0], "X-Forwarded-Proto": "https"}
            with closing(HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
                connection.request("POST", self.path, body=body, headers={**sent, **forwarded})
                answer = connection.getresponse()
                content = answer.read()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in ("connection", "content-length", "transfer-encoding", "date"):
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_DELETE = do_POST  # noqa: N815

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()


def written(folder: Path, stile: Stile, api: Api) -> dict[str, str]:
    """Write the files of the page, with new keys, and return each person's key."""
    keys = {}
    found = blocks(PAGE)
    (lines,) = [block.text for block in found if block.text.startswith("identity:") and not block.file]
    identity = yaml.safe_load(lines)["identity"]
    for holder in identity["api_keys"]:
        printed = stile.unsearched("key", *command(f"key {holder['name']}")).out
        keys[holder["name"]] = re.findall(r"^  (stile_\S+)", printed, re.MULTILINE)[0]
        (made,) = yaml.safe_load(printed[printed.index("identity:") :])["identity"]["api_keys"]
        assert made == {**holder, "sha256": made["sha256"]}
        holder.update(made)
    for block in found:
        if block.file:
            file = folder / block.file
            file.parent.mkdir(parents=True, exist_ok=True)
            more = yaml.safe_dump({"identity": identity}) if file.name == "config.yaml" else ""
            text = block.text.replace(f"http://{API}:8080/graphql", api.url)
            file.write_text(text + more, encoding="utf-8")
    (secrets,) = [block.text for block in found if block.text.startswith("STILE_SECRET_")]
    (folder / "endpoints/shop/orders/.env").write_text(secrets, encoding="utf-8")
    return keys


def command(beginning: str) -> list[str]:
    """The words of a command of the page, behind `stile serve` or `stile publish`, with the API of the test."""
    text = "".join(block.text for block in blocks(PAGE) if block.language == "sh")
    (line,) = re.findall(rf"stile {re.escape(beginning)} .*$", text, re.MULTILINE)
    return [word.replace(API, "127.0.0.1") for word in shlex.split(line)[2:]]


async def asked_as(key: str, port: int) -> tuple[list[str], str]:
    """The tools of a key's holder, and the answer to a call that asks first."""
    questions = []

    async def agree(context: Any, params: ElicitRequestParams) -> ElicitResult:
        questions.append(params.message)
        return ElicitResult(action="accept", content={"confirm": True})

    headers = {"host": PUBLIC, "authorization": f"Apikey {key}"}
    async with httpx2.AsyncClient(headers=headers) as http:
        transport = streamable_http_client(f"http://127.0.0.1:{port}/shop/orders/mcp", http_client=http)
        async with Client(transport, elicitation_callback=agree) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            called = await client.call_tool("list_orders", {"first": 1})
            assert not called.is_error, called
            if "cancel_order" not in names:
                return names, ""
            result = await client.call_tool("cancel_order", {"number": "A-1"})
    assert len(questions) == 1
    return names, str(result.structured_content)


def tried(served: Served, keys: dict[str, str]) -> dict[str, tuple[list[str], str]]:
    with proxy(served.port) as port:
        return {name: asyncio.run(asked_as(key, port)) for name, key in keys.items()}


@pytest.fixture
def api() -> Iterator[Api]:
    (schema,) = [block.text for block in blocks(PAGE) if block.file.endswith("index.graphql")]
    with running_api(Orders(schema).answer) as running:
        yield running


def test_page_is_followed_from_the_folder_to_the_callers(
    workplace: Path, stile: Stile, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(workplace / "state"))
    keys = written(workplace, stile, api)

    with serving(*command("serve endpoints")) as served:
        answers = tried(served, keys)
        said = "\n".join(served.printed)
        code = interrupt(served.process, signal.SIGINT)

    assert sorted(answers["ann"][0]) == ["cancel_order", "list_orders"]
    assert "cancelled" in answers["ann"][1]
    assert answers["bob"] == (["list_orders"], "")
    assert code == 0
    assert "shop/orders: upstream.url is asked without TLS" in said
    assert f"cancel_order will use the key in {workplace / 'state/stile/serve.key'}" in said
    assert TOKEN not in said


def test_published_folder_of_the_page_is_served_with_a_variable(
    workplace: Path, stile: Stile, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(workplace / "state"))
    keys = written(workplace, stile, api)
    published = stile("publish", *command("publish"))
    assert published.code == 0, published.err
    words = command("serve bundles")

    without_option = ran("serve", "bundles", "--port", "0")
    without_secret = ran("serve", *words, "--port", "0")
    with serving(*words, STILE_SECRET_TOKEN=TOKEN) as served:
        answers = tried(served, keys)

    assert (without_option.code, without_secret.code) == (1, 1)
    assert "shop/orders: upstream.url http://127.0.0.1: https is required" in without_option.err
    assert "secret:TOKEN: STILE_SECRETS is not set: set STILE_SECRET_TOKEN in the environment" in without_secret.err
    assert "cancelled" in answers["ann"][1]
