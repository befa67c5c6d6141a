"""Names that are looked up."""

from __future__ import annotations


def name_of(host: object) -> str:
    """The name that ``socket.getaddrinfo`` is asked for: as text, or as bytes, which it takes as they are."""
    return host.decode("ascii") if isinstance(host, bytes) else str(host)
