"""Parsers of hostile bytes, each with seeds and a function that raises where the parser is wrong about an input."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from handler.bundle.stored import FORMAT_VERSION, read_bundle, write_bundle
from handler.bundle.upstream import TenantPart, fill_tenant, is_in_host
from handler.errors.infrastructure import BundleError
from handler.errors.protocol import StateRefused
from handler.server.auth.sealed_state import RequestStates
from handler.strict_json import to_json_bytes
from tests.bundle.test_model import EMPTY, HANDMADE, content_of
from tests.http.test_response import CHUNKED, DIFFERENCES, OK, difference_of


@dataclass(frozen=True)
class Target:
    """One parser. ``seeds``: inputs that reach much of it. ``check`` fails at an input that the parser gets wrong.

    ``words`` are put into inputs whole.
    """

    seeds: Sequence[bytes]
    check: Callable[[bytes], None]
    words: Sequence[bytes] = ()


def _response(data: bytes) -> None:
    """The reader of HTTP responses reads as h11 does, but for its known differences, also if bytes come in pieces."""
    cut = len(data) // 3
    for method in ("POST", "HEAD"):
        difference_of([data], method)
    difference_of([data[:cut], data[cut:]], "POST")


def _bundle(data: bytes) -> None:
    """The reader of bundles refuses bytes, or reads a bundle that is written as one that is equal."""
    head = {"format_version": FORMAT_VERSION, "sha256": hashlib.sha256(data).hexdigest()}
    for raw in (data, json.dumps(head).encode()[:-1] + b',"content":' + data + b"}"):
        with suppress(BundleError):
            bundle = read_bundle(raw, endpoint="api/things")
            assert read_bundle(write_bundle(bundle), endpoint="api/things") == bundle


STATES = RequestStates(["a key that is long enough for a test of it"], clock=lambda: 1_000)
OTHERS = RequestStates(["another key, as long as the first one is.."], clock=lambda: 1_000)
BINDING: Mapping[str, Any] = {"tool": "add"}
SEALED = asyncio.run(STATES.seal({"step": 1}, binding=BINDING))


def _state(data: bytes) -> None:
    """A text that was not sealed is refused; one that was opens with its key, for its binding, and in time alone."""
    text = data.decode("latin-1")
    if text != SEALED:
        asyncio.run(_require_refusal(STATES, text, BINDING))
        raw = base64.b64encode(data).decode()
        if raw != SEALED:
            asyncio.run(_require_refusal(STATES, raw, BINDING))
    asyncio.run(_require_sealing(text))


async def _require_sealing(text: str) -> None:
    sealed = await STATES.seal({"text": text}, binding=text)
    assert await STATES.open(sealed, binding=text) == {"text": text}
    await _require_refusal(STATES, sealed, [text])
    await _require_refusal(OTHERS, sealed, text)
    await _require_refusal(RequestStates(["a key that is long enough for a test of it"]), sealed, text)


async def _require_refusal(states: RequestStates, text: str, binding: Any) -> None:
    try:
        opened = await states.open(text, binding=binding)
    except StateRefused:
        return
    raise AssertionError(f"opened: {opened!r}")


TENANTS = tuple(
    TenantPart(before=before, claim="tenant", after=after, pattern=pattern)
    for before, after in (
        ("https://", ".api.example.com/graphql"),
        ("https://", ".example.com:8443/graphql?a=b"),
        ("https://api.example.com/", "/graphql"),
        ("https://api.example.com/tenants/", ""),
    )
    for pattern in (".+", r"[^/]*", r"(?s:.*)", r"[a-z]{2,20}|\d+")
)


def _tenant(data: bytes) -> None:
    """A name fills the label or the segment that it is for, and changes nothing else of the address."""
    name = data.decode(errors="surrogateescape")
    for part in TENANTS:
        url = fill_tenant(part, name)
        if url is None:
            continue
        assert re.fullmatch(part.pattern, name, re.ASCII)
        filled, usual = urlsplit(url), urlsplit(f"{part.before}tenant{part.after}")
        changed = usual._replace(
            **({"netloc": usual.netloc.replace("tenant", name, 1)} if is_in_host(part) else {"path": _path(part, name)})
        )
        assert filled == changed, url
        assert filled.hostname == (changed.hostname or "").lower()
        assert "@" not in filled.netloc


def _path(part: TenantPart, name: str) -> str:
    return f"{urlsplit(part.before).path}{name}{part.after}"


JSON_WORDS = (
    rb'{} [] null true 0 -1 1.5 1e999 NaN "" "\ud800" "$part": "$ref":{}, "$ref":"#/$defs/A", "$defs":{} "kind":"x",'
)
TREE: Mapping[str, Any] = {
    "properties": {"where": {"$ref": "#/$defs/A"}},
    "$defs": {"A": {"properties": {"and": {"items": {"$ref": "#/$defs/A"}}}}},
}
REFERRING = to_json_bytes({**content_of(EMPTY), "tools": [{**content_of(HANDMADE)["tools"][1], "arguments": TREE}]})
HTTP_WORDS = (
    b"\r\n",
    b"0\r\n\r\n",
    b"HTTP/1.0 ",
    b"HTTP/1.1 100 \r\n\r\n",
    b"transfer-encoding: chunked\r\n",
    b"content-length: 1\r\n",
    b"connection: close\r\n",
    b"content-encoding: gzip\r\n",
)

TARGETS: Mapping[str, Target] = {
    "http": Target(
        seeds=[
            OK + b"content-length: 1\r\n\r\na",
            CHUNKED + b"1\r\na\r\n0\r\n\r\n",
            *(difference.sample for difference in DIFFERENCES),
        ],
        check=_response,
        words=HTTP_WORDS,
    ),
    "bundle": Target(
        seeds=[*(write_bundle(each).partition(b',"content":')[2][:-1] for each in (HANDMADE, EMPTY)), REFERRING],
        check=_bundle,
        words=JSON_WORDS.split(),
    ),
    "state": Target(
        seeds=[SEALED.encode(), base64.b64decode(SEALED), "\u00e9\ud800".encode(errors="surrogatepass")],
        check=_state,
        words=[b"=", b"==", b"\n"],
    ),
    "tenant": Target(
        seeds=[b"acme", b"a-1", b"A_b", b"a.b", b"a@b", b"..", b"a%2e", "\u00e9".encode(), b"x" * 63],
        check=_tenant,
        words=[b"/", b"..", b"%2f", b"?", b"#", b"@", b"\\", b"\n"],
    ),
}
