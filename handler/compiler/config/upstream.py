"""Read ``upstream`` of ``config.yaml``: the API's URL, a tenant's part of it, and the form of requests."""

from __future__ import annotations

import re

from handler.bundle.model import MAX_ANSWER_S
from handler.bundle.upstream import SAMPLE, SLASHES_OF_A_HOST, HeaderAuth, TenantPart, Upstream
from handler.compiler.config.upstream_auth import read_auth
from handler.compiler.config.upstream_headers import read_headers
from handler.compiler.config.urls import is_http_url, is_on_loopback
from handler.compiler.problems import Problems
from handler.compiler.source.yaml_section import Section
from handler.http.addresses import keys_in
from handler.json_schema.formats import SIMPLE


def read_upstream(section: Section, problems: Problems) -> Upstream:
    """Read the API behind the endpoint. ``judge_passthrough`` checks ``passthrough``, which needs ``identity``."""
    section.expect()
    url = _url(section, problems)
    tenant = read_tenant(section, problems, url=url)
    auth = read_auth(section, problems, url=sample_of(url))
    headers = read_headers(section, problems, credential=auth.header if isinstance(auth, HeaderAuth) else "")
    timeout_s = section.number("timeout_s")
    if timeout_s > MAX_ANSWER_S:
        problems.warn(
            section.place("timeout_s"),
            f'"upstream.timeout_s": callers get an answer within {MAX_ANSWER_S:g} s, so a longer timeout has no effect',
            code="ineffective-timeout",
        )
    return Upstream(
        url=url,
        timeout_s=timeout_s,
        max_bytes=section.integer("max_bytes"),
        headers=headers.fixed,
        claim_headers=headers.claims,
        forward_headers=headers.forwarded,
        documents=section.choice("documents"),
        auth=auth,
        tenant=tenant,
    )


def _url(section: Section, problems: Problems) -> str:
    url = section.text("url")
    if "@" in url:  # not shown: it may hold a password
        problems.add(
            section.place("url"), '"upstream.url": expected a URL without credentials in it', code="credentials-in-url"
        )
    elif url and not is_http_url(sample_of(url)):
        section.refuse("url", "the http(s) URL of a GraphQL API, such as https://api.example.com/graphql")
    for name in keys_in(url) if is_http_url(sample_of(url)) else ():
        problems.warn(
            section.place("url"),
            f'"upstream.url": the bundle stores the value of "{name}": expected a key in upstream.auth, if the API '
            "takes it in a header",
            code="key-in-url",
        )
    return url


PLACE = re.compile(r"\{claim:([^{}\s]{1,200})\}")


def read_tenant(section: Section, problems: Problems, *, url: str) -> TenantPart | None:
    """Read the place for the tenant and the pattern of its name; ``None`` if the URL has no place, or a wrong one."""
    if not PLACE.search(url):
        if "tenant_pattern" in section:
            problems.add(
                section.place("tenant_pattern"),
                '"upstream.tenant_pattern": expected a place for the tenant in "upstream.url", such as '
                "https://{claim:tenant}.example.com/graphql",
                code="invalid-tenant-url",
            )
        return None
    before, claim, after = PLACE.split(url, maxsplit=1)
    fault = _fault(before, after)
    if fault:
        problems.add(section.place("url"), f'"upstream.url": {fault}', code="invalid-tenant-url")
        return None
    pattern = _pattern(section, problems)
    return TenantPart(before=before, claim=claim, after=after, pattern=pattern) if pattern else None


def sample_of(url: str) -> str:
    """Return the URL for a tenant with an ordinary name; the URL itself if it has no place for one."""
    return PLACE.sub(SAMPLE, url)


def _fault(before: str, after: str) -> str:
    """Return why a place is refused; empty string if it is a label below a domain, or a segment of the path."""
    sample = f"{before}{SAMPLE}{after}"
    if PLACE.search(after):
        return "expected one claim, got more"
    in_host = before.count("/") == SLASHES_OF_A_HOST
    if not is_http_url(sample) or not (_LABEL if in_host else _SEGMENT).fullmatch(f"{before}|{after}"):
        return "expected {claim:…} as a whole label of the host, or as a whole segment of the path"
    if in_host and not _DOMAIN.match(after) and not is_on_loopback(sample):
        return "expected the claim below a domain of your own, as in {claim:tenant}.example.com"
    return ""


_LABEL = re.compile(r"https?://([\w-]+\.)*\|\.[^|]+")
_SEGMENT = re.compile(r"https?://[^/?#|]+/([^/?#|]+/)*\|([/?][^#|]*)?")
_DOMAIN = re.compile(r"(\.[\w-]+)*\.[\w-]+\.[a-zA-Z][\w-]*\.?([:/?]|$)")


def _pattern(section: Section, problems: Problems) -> str:
    pattern = section.text("tenant_pattern")
    if not pattern:
        problems.add(
            section.place("url"),
            '"upstream.url" has a place for the tenant: expected the pattern of its name in "upstream.tenant_pattern", '
            "such as [a-z0-9-]+",
            code="missing-tenant-pattern",
        )
        return ""
    try:
        if _SIMPLE_NAMES.fullmatch(pattern):
            re.compile(pattern, re.ASCII)
            return pattern
        reason = (
            "expected characters and classes, one of which at most has a ?, *, + or {1,30}, "
            "as in [a-z][a-z0-9-]{1,30} or acme|beta[0-9]; groups are not taken"
        )
    except (re.error, OverflowError) as exc:
        reason = f"not a regular expression: {exc}"
    problems.add(section.place("tenant_pattern"), f'the pattern "{pattern:.60}": {reason}', code="invalid-pattern")
    return ""


_SIMPLE_NAMES = re.compile(rf"\^?{SIMPLE}\$?(?:\|\^?{SIMPLE}\$?)*", re.DOTALL)
"""Names have 100 characters at most, so ``re`` tries few ways to match one (``bundle/upstream.py``)."""
