"""A picture of a coordinate's neighbourhood, as a caller reaches it: SVG text."""

from __future__ import annotations

from pathlib import Path

from handler.commands.reach.reach import Reach, Visitor

PICTURE_HEADERS = {
    "content-type": "image/svg+xml; charset=utf-8",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
}
"""The headers with which a picture is served."""


def neighbourhood_picture(reach: Reach, coordinate: str, visitor: Visitor, *, folder: Path) -> str:
    """Return the SVG of a coordinate's neighbourhood. ``folder``: the endpoint's, for ``file:line`` of rules.

    ``coordinate`` is one that ``resolve_in`` has returned.
    """
    raise NotImplementedError
