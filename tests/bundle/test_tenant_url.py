"""No name of a tenant leads out of its place in the URL."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handler.bundle.upstream import TenantPart, fill_tenant

ANY = "(?s:.*)"
HOST = TenantPart(before="https://", claim="tenant", after=".example.com:8443/graphql?v=1", pattern=ANY)
PATH = TenantPart(before="https://api.example.com/t/", claim="tenant", after="/graphql?v=1", pattern=ANY)

HOSTILE = [
    *("", ".", "..", "a.b", "evil.example#", "evil.example/", "a/b", "a\\b", "a@b", "u:p@evil.example", "a:1", "a b"),
    *("%2e", "%2f", "a%00", "a?b", "a#b", "[::1]", "0x7f000001.", "ⅇxample", "ä", "xn--é", "a\n", "\ta", "a\x00"),
    *("-a", "a-", "A\u0130", "。", "a" * 101),
]


@pytest.mark.parametrize("part", [HOST, PATH], ids=["host", "path"])
@pytest.mark.parametrize("value", HOSTILE)
def test_hostile_name_is_refused_whatever_the_pattern_allows(part: TenantPart, value: str) -> None:
    url = fill_tenant(part, value)

    assert url is None or (part is PATH and value in ("-a", "a-"))


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=70) | st.from_regex(r"[\w.%/@:#?\\-]{1,20}", fullmatch=True), st.booleans())
def test_any_name_is_refused_or_is_one_label_or_one_segment(value: str, in_host: bool) -> None:
    part = HOST if in_host else PATH
    url = fill_tenant(part, value)

    if url is not None:
        found = urlsplit(url)
        host = f"{value}.example.com" if in_host else "api.example.com"
        assert (found.hostname, found.port, found.username) == (host, 8443 if in_host else None, None)
        assert found.path == ("/graphql" if in_host else f"/t/{value}/graphql")
        assert (found.query, found.fragment) == ("v=1", "")


@pytest.mark.parametrize(("value", "fits"), [("acme", True), ("acme1", False), ("xacme", False), ("acme\n", False)])
def test_pattern_is_that_of_the_whole_name(value: str, fits: bool) -> None:
    part = TenantPart(before="https://", claim="tenant", after=".example.com/", pattern="acme|corp")

    assert (fill_tenant(part, value) is not None) == fits
