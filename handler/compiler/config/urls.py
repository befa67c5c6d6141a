"""Checks of URLs that authors write."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from handler.compiler.problems import Problems
from handler.compiler.source.yaml_section import Section


def read_https_url(section: Section, key: str, expected: str, problems: Problems, *, fragment: bool = True) -> str:
    """Read an https URL, or an http URL of this machine. ``fragment``: the URL may have one."""
    url = section.text(key)
    if "@" in url:  # not shown: it may hold a password
        sentence = f"{section.name(key)}: expected a URL without credentials in it"
        problems.add(section.place(key), sentence, code="credentials-in-url")
    elif not is_http_url(url) or not (url.startswith("https:") or is_on_loopback(url)) or ("#" in url and not fragment):
        section.refuse(key, expected)
    return url


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
