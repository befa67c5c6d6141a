"""Checks of URLs that authors write."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit


def is_http_url(url: str) -> bool:
    """Return whether a text is an absolute http(s) URL without a user, written as it is sent."""
    if not url.isascii() or not url.isprintable() or set(url) & set(" {}"):
        return False
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and not parts.username and parts.port != 0
    except ValueError:
        return False


def is_on_loopback(url: str) -> bool:
    """Return whether a URL names the local machine."""
    host, address = _host_of(url)
    return address.is_loopback if address else host == "localhost" or host.endswith(".localhost")


def _host_of(url: str) -> tuple[str, ipaddress.IPv4Address | ipaddress.IPv6Address | None]:
    """Return the host's name, and its address; ``None`` if the URL has a name instead."""
    host = urlsplit(url).hostname or ""
    try:
        return host, ipaddress.ip_address(host)
    except ValueError:
        return host, None
