"""Read the part of ``upstream.url`` that a claim fills: ``https://{claim:tenant}.example.com/graphql``."""

from __future__ import annotations

import re

from handler.bundle.tenant_url import SAMPLE, SLASHES_OF_A_HOST
from handler.bundle.upstream import TenantPart
from handler.compiler.config.urls import is_http_url, is_on_loopback
from handler.compiler.problems import Problems
from handler.compiler.source.yaml_section import Section
from handler.json_schema.formats import SIMPLE

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
"""Names have 100 characters at most, so ``re`` tries few ways to match one (``bundle/tenant_url.py``)."""
