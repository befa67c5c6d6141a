"""The document of the GraphQL editor: one HTML text with the vendored bundle inside, for an iframe of the page."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

STATIC = Path(__file__).parent / "static"
BUNDLE = Path(__file__).parent / "vendor" / "codemirror-graphql.js"

EDITOR_PATH = "/editor.html"
"""The path that ``graphql.js`` gives the iframe, relative to the root of the server."""


class EditorDocument(NamedTuple):
    """The document's bytes, and the headers with which it is served."""

    body: bytes
    headers: Mapping[str, str]


@cache
def editor_document() -> EditorDocument:
    """Return the editor's document. It has no origin of its own and sends no request: the page's messages feed it."""
    style = (STATIC / "editor.css").read_text(encoding="utf-8")
    scripts = [each.read_text(encoding="utf-8") for each in (BUNDLE, STATIC / "editor.js")]
    body = (STATIC / "editor.html").read_text(encoding="utf-8").replace("<!-- style -->", f"<style>{style}</style>")
    inline = "\n".join(f"<script>{each}</script>" for each in scripts)
    body = body.replace("<!-- scripts -->", inline)
    return EditorDocument(body.encode(), _headers(scripts, style))


def _headers(scripts: list[str], style: str) -> dict[str, str]:
    allowed = {
        "default-src": "'none'",
        "script-src": " ".join(map(_hash, scripts)),
        "style-src": _hash(style),
        "style-src-attr": "'unsafe-inline'",  # Chromium writes such attributes into text that is typed over
        "img-src": "data:",  # the wavy lines below mistakes
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'self'",
        "sandbox": "allow-scripts",
    }
    return {
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": "; ".join(f"{name} {value}" for name, value in allowed.items()),
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cache-control": "no-store",
    }


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
