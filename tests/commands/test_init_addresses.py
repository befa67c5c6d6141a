"""Addresses that answer no GraphQL: the usual paths of their origin, and documents with a schema."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from graphql import build_schema, introspection_from_schema

from tests.commands.apis import SHOP, answering, running_shop
from tests.commands.running import Stile
from tests.commands.test_init import tree
from tests.commands.test_init_sources import TOKEN, made
from tests.samples import SUPERGRAPH
from tests.support.api import Api, Asked, Reply, running_api
from tests.support.raw_http import Peer, running_server

URL = "https://api.example.com/graphql"
PAGE = Reply(b"<html><head><title>Welcome</title></head><body>Shop</body></html>", 200, {"content-type": "text/html"})
INTROSPECTION = json.dumps(introspection_from_schema(build_schema(SHOP))).encode()


def at(path: str, elsewhere: Reply = PAGE) -> Api:
    """An API at one path only, before it runs."""
    within = answering()
    return Api(lambda asked: within(asked) if asked.path.partition("?")[0] == path and asked.body else elsewhere)


def serving(document: bytes, status: int = 200, headers: Mapping[str, str] | None = None, posted: int = 405) -> Api:
    """A server of one document, which refuses to take anything."""
    refused = Reply(b'{"message": "not allowed"}', posted)
    return Api(
        lambda asked: refused if asked.body else Reply(document, status, headers or {"content-type": "text/plain"})
    )


def origin(api: Api) -> str:
    return api.url.removesuffix("/graphql")


@pytest.mark.parametrize("path", ["/graphql", "/graphql/", "/api/graphql"])
@pytest.mark.parametrize(
    "elsewhere", [PAGE, Reply({"errors": [{"title": "no"}]}, 404), Reply(b"", 405), Reply(b"no", 403)]
)
def test_usual_paths_of_the_origin_are_tried(workplace: Path, stile: Stile, path: str, elsewhere: Reply) -> None:
    with running_api(at(path, elsewhere).answer) as api:
        code, err = made(stile, f"{origin(api)}/", "-H", f"X-Api-Key: {TOKEN}")

    answered = f"{origin(api)}{path}"
    assert (code, err) == (
        0,
        f"{origin(api)}/ answers no GraphQL, and {answered} does: the endpoint is made of that\n",
    )
    assert {each.headers["x-api-key"] for each in api.asked} == {TOKEN}
    files = tree(workplace / "shop" / "products")
    assert f"url: {answered}\n" in files["config.yaml"]
    assert files["schema.graphql"].startswith(f"# From {answered}\n")


def test_redirect_to_another_origin_is_named_and_the_usual_paths_of_the_own_one_are_tried(
    workplace: Path, stile: Stile
) -> None:
    with running_shop() as other, running_api(at("/graphql/", Reply({}, 308, {"location": other.url})).answer) as api:
        code, _ = made(stile, f"{origin(api)}/v1?key=plain_key_1", "-H", f"X-Api-Key: {TOKEN}")

    assert code == 0
    assert other.asked == []
    assert api.asked[-1].path == "/graphql/?key=plain_key_1"


def test_usual_path_that_wants_a_credential_is_said_beside_the_address(workplace: Path, stile: Stile) -> None:
    def respond(asked: Asked) -> Reply:
        return Reply({"errors": [{"message": "no key"}]}, 401) if asked.path == "/graphql" else PAGE

    with running_api(respond) as api:
        code, err = made(stile, f"{origin(api)}/")

    assert code == 1
    assert err.startswith(f"{origin(api)}/: the answer (200) is a web page: expected the address of a GraphQL API. It")
    assert f'{api.url}: the API answered 401 ("no key"): -H' in err
    assert tree(workplace) == {}


def test_pull_asks_the_address_of_the_folder_alone(workplace: Path, stile: Stile) -> None:
    with running_shop() as api:
        made(stile, api.url)
        api.answer = at("/api/graphql").answer
        pulled = stile("pull", "shop/products")

    assert pulled.code == 1
    assert {each.path for each in api.asked} == {"/graphql"}


@pytest.mark.parametrize(
    ("reply", "begin"),
    [
        (PAGE, '"Welcome Shop"'),
        (Reply(b"\n\n  not \x1b[2J\x07 here  \nsecond line", 404), '"not \\x1b[2J\\x07 here"'),
        (Reply(b"x" * 5_000, 500), f'"{"x" * 199}…"'),
        (Reply(b"\xff\xfe tail", 500), 'tail"'),
        (Reply(f"your key is {TOKEN}".encode(), 500), '"your key is …"'),
        (Reply(b"y" * 16_380 + TOKEN.encode() + b"z" * 40_000, 500), f'"{"y" * 199}…"'),
        (Reply(b" " * 16_380 + TOKEN.encode(), 500), '"…"'),
        (Reply(gzip.compress(b"zipped words"), 500, {"content-encoding": "gzip"}), '"zipped words"'),
        (
            Reply(b"the URL doesn't end in a slash, with APPEND_SLASH set", 500),
            'expects the URL with a final slash. It begins "the URL',
        ),
    ],
)
def test_answer_that_is_not_one_of_graphql_is_quoted_from_its_beginning(
    workplace: Path, stile: Stile, reply: Reply, begin: str
) -> None:
    with running_api(lambda _: reply) as api:
        code, err = made(stile, api.url, "-H", f"X-Api-Key: {TOKEN}")

    assert code == 1
    assert begin in err
    assert err.count("\n") == 1
    assert len(err) < 700
    assert tree(workplace) == {}


def test_query_string_that_an_answer_repeats_is_not_shown(workplace: Path, stile: Stile) -> None:
    with running_api(lambda asked: Reply(f"Cannot POST {asked.path} for plain_key_1".encode(), 404)) as api:
        code, err = made(stile, f"{api.url}?key=plain_key_1&v=2")

    assert code == 1
    assert 'It begins "Cannot POST /graphql?… for …"' in err


def test_bomb_of_gzip_is_cut_off(workplace: Path, stile: Stile) -> None:
    bomb = gzip.compress(b"{" + b" " * 70_000_000)
    with running_api(lambda _: Reply(bomb, 200, {"content-encoding": "gzip"})) as api:
        code, err = made(stile, api.url)

    assert (code, err) == (1, f"{api.url}: the answer is larger than 64,000,000 bytes\n")


def test_all_addresses_together_have_the_time_of_one(workplace: Path, stile: Stile) -> None:
    requests = 0

    def slow(peer: Peer) -> None:
        nonlocal requests
        requests += 1
        peer.read_request()
        if requests == 1:
            peer.send(b"HTTP/1.1 404 Not Found\r\ncontent-length: 4\r\nconnection: close\r\n\r\nnope")
        else:
            peer.wait()

    with running_server(slow) as server:
        code, err = made(stile, server.url, "--timeout", "0.5")

    assert code == 1
    assert "no complete answer within 0.5 s" in err
    assert requests == 2


@pytest.mark.parametrize(
    ("document", "kind"),
    [(SHOP.encode(), "text/plain"), (INTROSPECTION, "application/json"), (b'{"data": %s}' % INTROSPECTION, "x/y")],
)
@pytest.mark.parametrize("posted", [403, 404, 405, 501])
def test_document_with_a_schema_is_read(workplace: Path, stile: Stile, document: bytes, kind: str, posted: int) -> None:
    with running_api(serving(document, headers={"content-type": kind}, posted=posted).answer) as registry:
        without = made(stile, f"{origin(registry)}/artifacts/shop/sdl", "-H", f"X-Api-Key: {TOKEN}")
        nothing = tree(workplace)
        code, err = made(stile, f"{origin(registry)}/artifacts/shop/sdl", "--url", URL, "-H", f"X-Api-Key: {TOKEN}")
        pulled = stile("pull", "shop/products", "-H", f"X-Api-Key: {TOKEN}", "--from", f"{origin(registry)}/artifacts")

    assert without[0] == 2
    assert "serves a document, and answers no GraphQL: --url names the API" in without[1]
    assert nothing == {}
    assert (code, err) == (0, "")
    files = tree(workplace / "shop" / "products")
    assert f"url: {URL}\n" in files["config.yaml"]
    assert "auth" not in files["config.yaml"]  # the key is the registry's
    assert ".env" not in files
    assert TOKEN not in "".join(files.values())
    assert "has not changed" in pulled.out


@pytest.mark.parametrize(
    ("document", "kind"),
    [
        (b"", "text/plain"),
        (b"hello world", "text/plain"),
        (b"query A { a }", "text/plain"),
        (b"# type Query", "text/plain"),
        (b"<html>type Query { a: Int }</html>", "text/html"),
        (b"type Query { a: Int }", "text/html"),
        (b'{"hello": "world"}', "application/json"),
        (b'{"data": {"__schema": {}}}', "application/json"),
        (b"\xff\xfe", "text/plain"),
    ],
)
def test_document_without_a_schema_is_none(workplace: Path, stile: Stile, document: bytes, kind: str) -> None:
    with running_api(serving(document, headers={"content-type": kind}).answer) as api:
        code, err = made(stile, api.url, "--url", URL)

    assert code == 1
    assert "the answer (405) is not one of GraphQL" in err
    assert tree(workplace) == {}


def test_fault_in_a_document_of_sdl_is_at_its_line(workplace: Path, stile: Stile) -> None:
    with running_api(serving(b"type Query {\n  a: Missing\n}").answer) as registry:
        unknown = made(stile, f"{origin(registry)}/shop.graphqls", "--url", URL)
        registry.answer = serving(b"type Query {\n  a Int\n}").answer
        syntax = made(stile, f"{origin(registry)}/shop.graphqls", "--url", URL)

    assert unknown[1].startswith(f"{origin(registry)}/shop.graphqls:2:6: the schema cannot be used: ")
    assert syntax[1].startswith(f"{origin(registry)}/shop.graphqls:2:5: the schema cannot be used: Syntax Error")


@pytest.mark.parametrize("from_url", [True, False])
def test_supergraph_becomes_the_schema_of_its_api(workplace: Path, stile: Stile, from_url: bool) -> None:
    (workplace / "super.graphql").write_text(SUPERGRAPH, encoding="utf-8")
    with running_api(serving(SUPERGRAPH.encode()).answer) as registry:
        code, err = made(stile, f"{origin(registry)}/super" if from_url else "super.graphql", "--url", URL)

    files = tree(workplace / "shop" / "products")
    assert (code, err) == (0, "")
    assert "join__" not in files["schema.graphql"]
    assert "internal" not in files["schema.graphql"]
    operations = "".join(text for name, text in files.items() if name.startswith("operations/"))
    assert "parts(first: $first)" in operations
    assert "weight" not in operations
    assert stile("check", "--strict", "shop").code == 0


def test_fault_of_a_supergraph_has_no_line_of_the_file(workplace: Path, stile: Stile) -> None:
    text = SUPERGRAPH.replace("thing: Thing", "thing: Missing")
    (workplace / "super.graphql").write_text(text, encoding="utf-8")

    code, err = made(stile, "super.graphql", "--url", URL)

    assert code == 1
    assert err.startswith("super.graphql: the schema cannot be used: Unknown type")
