"""A claim fills a whole label of a host of one's own, or a whole segment of the path, and nothing else."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from handler.bundle.upstream import fill_tenant
from tests.support.endpoints import compiled, doubted, problems_of

QUERY = "type Query { a: Int }"


def config(url: str, pattern: str = "[a-z]+") -> dict[str, str]:
    given = f", tenant_pattern: '{pattern}'" if pattern else ""
    return {"index.graphql": QUERY, "config.yaml": f"default_tool: false\nupstream: {{url: '{url}'{given}}}"}


@pytest.mark.parametrize(
    ("url", "filled"),
    [
        ("https://{claim:tenant}.example.com/graphql", "https://acme.example.com/graphql"),
        ("https://{claim:tenant}.example.com", "https://acme.example.com"),
        ("https://api.{claim:org.tenant}.example.com:8443/?v=1", "https://api.acme.example.com:8443/?v=1"),
        ("https://{claim:https://corp.example/tenant}.eu.example.com/", "https://acme.eu.example.com/"),
        ("https://example.com/{claim:tenant}", "https://example.com/acme"),
        ("https://example.com/t/{claim:tenant}/graphql?v=1", "https://example.com/t/acme/graphql?v=1"),
        ("http://{claim:tenant}.localhost:8001/graphql", "http://acme.localhost:8001/graphql"),
        ("http://localhost:8001/{claim:tenant}?v=1", "http://localhost:8001/acme?v=1"),
    ],
)
def test_claim_fills_its_place(tmp_path: Path, url: str, filled: str) -> None:
    part = compiled(tmp_path, config(url)).bundle.upstream.tenant

    assert part is not None
    assert fill_tenant(part, "acme") == filled


@pytest.mark.parametrize(
    "url",
    [
        "https://{claim:tenant}/graphql",
        "https://{claim:tenant}.com/graphql",
        "https://{claim:tenant}.com./graphql",
        "https://api.{claim:tenant}/graphql",
        "https://example.{claim:tenant}/graphql",
        "https://{claim:tenant}.0.0.1/graphql",
        "https://{claim:tenant}-api.example.com/graphql",
        "https://api-{claim:tenant}.example.com/graphql",
        "https://api.example.com:{claim:tenant}/graphql",
        "https://api.example.com{claim:tenant}/graphql",
        "https://api.example.com/a{claim:tenant}/graphql",
        "https://api.example.com/{claim:tenant}b/graphql",
        "https://api.example.com/graphql?tenant={claim:tenant}",
        "https://api.example.com/graphql?/{claim:tenant}",
        "https://api.example.com/#/{claim:tenant}",
        "https://{claim:a}.{claim:b}.example.com/graphql",
        "https://api.example.com/{claim:a}/{claim:a}",
        "{claim:scheme}://api.example.com/graphql",
        "//{claim:tenant}.example.com/",
        "ftp://{claim:tenant}.example.com/",
    ],
)
def test_other_places_are_refused(tmp_path: Path, url: str) -> None:
    assert "invalid-tenant-url" in {each.code for each in problems_of(tmp_path, config(url))}


@pytest.mark.parametrize("url", ["https://{claim:}.example.com/", "https://{tenant}.example.com/", "https://{}.a.b/"])
def test_braces_that_name_no_claim_are_not_a_url(tmp_path: Path, url: str) -> None:
    assert "invalid-value" in {each.code for each in problems_of(tmp_path, config(url, pattern=""))}


@pytest.mark.parametrize(
    ("url", "pattern", "code"),
    [
        ("https://{claim:tenant}.example.com/", "", "missing-tenant-pattern"),
        ("https://{claim:tenant}.example.com/", "[a-z", "invalid-pattern"),
        *(
            ("https://{claim:tenant}.example.com/", pattern, "invalid-pattern")
            for pattern in (
                "(a+)+",
                "(a|b)",
                "a+b+",
                "a*b?",
                "[a-z]+?",
                "a{2}{3}",
                "[z-a]+",
                "a{3,1}",
                r"\s",
                "a|b+c+",
                "a{1",
            )
        ),
        ("https://api.example.com/", "[a-z]+", "invalid-tenant-url"),
    ],
)
def test_pattern_is_there_with_a_place_alone_and_is_safe(tmp_path: Path, url: str, pattern: str, code: str) -> None:
    assert code in {each.code for each in problems_of(tmp_path, config(url, pattern))}


DIGEST = "0" * 64


@pytest.mark.parametrize(
    ("claim", "identity", "told"),
    [
        ("tenant", "", True),
        ("tenant", f"identity: {{api_keys: [{{name: k, sha256: '{DIGEST}'}}]}}", True),
        ("tenant", f"identity: {{api_keys: [{{name: k, sha256: '{DIGEST}', claims: {{other: a}}}}]}}", True),
        ("tenant", f"identity: {{api_keys: [{{name: k, sha256: '{DIGEST}', claims: {{tenant: a}}}}]}}", False),
        ("org.id", f"identity: {{api_keys: [{{name: k, sha256: '{DIGEST}', claims: {{org: {{id: a}}}}}}]}}", False),
        ("org.id", f"identity: {{api_keys: [{{name: k, sha256: '{DIGEST}', claims: {{org.id: a}}}}]}}", False),
        ("tenant", "identity: {trust_authorizer: [abc]}", False),
        ("tenant", "identity: {issuer: 'https://a.b/', audience: api, jwksendpoint: 'https://a.b/'}", False),
    ],
)
@pytest.mark.parametrize("anonymous", ["allow", "challenge"])
def test_claim_that_no_caller_can_have_is_a_warning(
    tmp_path: Path, anonymous: str, claim: str, identity: str, *, told: bool
) -> None:
    access = f"access: {{anonymous: {anonymous}, policies: [{{type: Query, policyDefault: {{condition: true}}}}]}}"
    url = f"upstream: {{url: 'https://{{claim:{claim}}}.example.com/', tenant_pattern: '[a-z]+'}}"
    files = {"index.graphql": "type Query { a: Int }", "config.yaml": "\n".join([url, access, identity])}

    lines = [each for each in doubted(tmp_path, files) if "unmet-tenant-claim" in each]

    assert bool(lines) == told
    assert all(each.startswith("config.yaml:1:17 ") for each in lines)


@pytest.mark.parametrize(
    ("pattern", "fitting", "others"),
    [
        ("[a-z][a-z0-9-]{1,30}", ["acme", "a1"], ["a", "1a", "a" * 32]),
        ("^tenant-[0-9]+$", ["tenant-7"], ["tenant-", "x-tenant-7", "tenant-7x"]),
        ("acme|beta[0-9]{2}|[x-z]*", ["acme", "beta07", "zyx"], ["beta", "acmebeta07", "acme-x"]),
        (r"\d\w?", ["1a"], ["٣", "1ä"]),
        (r"[^.-]{3}\-.", ["abc-d"], ["ab--d"]),
    ],
)
def test_pattern_is_one_of_the_simple_form(tmp_path: Path, pattern: str, fitting: list[str], others: list[str]) -> None:
    part = compiled(tmp_path, config("https://{claim:tenant}.example.com/", pattern)).bundle.upstream.tenant

    assert part is not None
    assert [name for name in fitting if fill_tenant(part, name) is None] == []
    assert [name for name in others if fill_tenant(part, name) is not None] == []


def test_name_is_judged_at_once_whatever_the_pattern(tmp_path: Path) -> None:
    pattern = "|".join(f"[a-z]*[a-z0-9]{{{count}}}_" for count in range(1, 60))
    part = compiled(tmp_path, config("https://example.com/{claim:tenant}", pattern)).bundle.upstream.tenant
    started = time.process_time()

    assert part is not None
    assert fill_tenant(part, "a" * 100) is None
    assert time.process_time() - started < 0.5
