"""Claims that an attacker writes name no address but one label below the author's domain, or one segment of a path."""

from __future__ import annotations

import contextlib
import re
import socket
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.server.outgoing.serving import asking, with_token
from tests.support.api import Api, Reply, running_api
from tests.support.examples import examples
from tests.support.function import Function
from tests.support.names import name_of

ADDRESSES = (
    "127.0.0.1", "localhost", "localhost.", "0x7f000001", "2130706433", "0177.0.0.1", "127.1", "[::1]", "::1", "0",
    "169.254.169.254", "metadata.google.internal", "fd00:ec2::254", "instance-data", "1.1.1.1", "①②⑦.0.0.1",
    "127\u30020\u30020\u30021",
)  # fmt: skip
PIECES = (
    ".", "..", "/", "\\", "@", "%", "%2e", "%2F", "%00", ":", "#", "?", "&", "=", "*", "_", "-", "--", " ", "\t", "\n",
    "\r\nHost: evil", "\x00", "\x7f", "\u200b", "\u202e", "\u3002", "\uff0e", "\ufe52", "ı", "İ", "ſ", "K", "ä", "😀",
    "xn--", "tenant-1", "evil.example", "a", "A", "1", "[", "]", "{claim:sub}", "${x}", ";", "|", "<", "'", '"',
)  # fmt: skip
TEXTS = st.one_of(
    st.sampled_from(ADDRESSES),
    st.lists(st.sampled_from((*PIECES, *ADDRESSES)), min_size=1, max_size=5).map("".join),
    st.text(max_size=80),
    st.from_regex(r"[a-z0-9-]{1,70}", fullmatch=True),
)
CLAIMS = TEXTS | st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.lists(TEXTS, max_size=2)


@pytest.fixture(scope="module")
def asked_names() -> Iterator[list[str]]:
    """The names that are looked up, all of which lead to this machine."""
    names, ask = list[str](), socket.getaddrinfo

    def here(host: Any, *more: Any, **named: Any) -> Any:
        names.append(name_of(host))
        return ask("127.0.0.1", *more, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket, "getaddrinfo", here)
        yield names


@pytest.fixture(scope="module")
def api() -> Iterator[Api]:
    with running_api(lambda _: Reply()) as found:
        yield found


@dataclass(frozen=True)
class Placed:
    """The function of an endpoint whose tenants have a place in the URL."""

    place: str
    function: Function = field(repr=False)


@pytest.fixture(scope="module", params=["host", "path"])
def placed(request: pytest.FixtureRequest, api: Api, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Placed]:
    port = api.url.rpartition(":")[2].partition("/")[0]
    url = {
        "host": f"http://{{claim:org}}.api.example:{port}/graphql",
        "path": f"http://one.api.example:{port}/t/{{claim:org}}/graphql",
    }[request.param]
    upstream = f"{{url: '{url}', tenant_pattern: '[^?]*'}}"
    with contextlib.ExitStack() as stack:
        yield Placed(request.param, stack.enter_context(asking(tmp_path_factory.mktemp(request.param), upstream)))


@settings(max_examples=examples(1_000, share=20), deadline=None)
@given(claim=CLAIMS)
def test_claim_is_refused_or_is_one_label_or_segment_of_letters_digits_and_hyphens(
    placed: Placed, api: Api, asked_names: list[str], claim: Any
) -> None:
    place, running = placed.place, placed.function
    api.asked.clear()
    asked_names.clear()
    answer = running.call("Me", {}, headers=with_token(org=claim))

    if not api.asked:
        assert asked_names == []
        assert answer.status == 401 or answer.result["isError"] is True  # 401: JSON that is not strict, as Infinity
        return
    (asked,) = api.asked
    assert isinstance(claim, str)
    if place == "host":
        assert re.fullmatch(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", claim)
        assert asked.headers["host"].partition(":")[0] == f"{claim}.api.example"
        assert set(asked_names) <= {f"{claim}.api.example"}
    else:
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,100}", claim)
        assert asked.path == f"/t/{claim}/graphql"
        assert set(asked_names) <= {"one.api.example"}


@pytest.mark.usefixtures("asked_names")
def test_ordinary_claim_is_taken(placed: Placed, api: Api) -> None:
    api.asked.clear()

    assert not placed.function.call("Me", {}, headers=with_token(org="acme-1")).result.get("isError")
    (asked,) = api.asked
    found = {"host": asked.headers["host"].partition(":")[0], "path": asked.path}[placed.place]
    assert found == {"host": "acme-1.api.example", "path": "/t/acme-1/graphql"}[placed.place]
