"""Addresses of an API that depend on the caller's tenant. Imported only for such an API."""

from __future__ import annotations

import re

from handler.bundle.upstream import TenantPart, Upstream

SAMPLE = "tenant"
"""A value to check all other parts of a URL with."""


SLASHES_OF_A_HOST = 2


def is_in_host(part: TenantPart) -> bool:
    """Tell if the tenant is a label of the host, and not a segment of the path."""
    return part.before.count("/") == SLASHES_OF_A_HOST


def fill_tenant(part: TenantPart, value: str) -> str | None:
    """Return the URL for a tenant; ``None`` if the name does not fit.

    No name that fits the author's pattern can end the label or the segment: it has no dot, slash, ``@`` or ``%``.
    """
    kind = _LABEL if is_in_host(part) else _SEGMENT
    fits = kind.fullmatch(value) and re.fullmatch(part.pattern, value, re.ASCII)
    return f"{part.before}{value}{part.after}" if fits else None


def is_address_of(upstream: Upstream, url: str) -> bool:
    """Tell if a URL is the API's, for some tenant if there are tenants."""
    part = upstream.tenant
    if part is None:
        return url == upstream.url
    return fill_tenant(part, url.removeprefix(part.before).removesuffix(part.after)) == url


def sample_address(upstream: Upstream) -> str:
    """Return the URL of the API, for a tenant with an ordinary name if there are tenants."""
    part = upstream.tenant
    return f"{part.before}{SAMPLE}{part.after}" if part else upstream.url


_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_SEGMENT = re.compile(r"[A-Za-z0-9_-]{1,100}")
