"""The page's document, composed of its static files into one HTML text with a policy for exactly this text.

Scripts and styles stand inside of the document, so the policy allows them by their hashes and nothing else. The
document is the same for everybody: the browser asks for everything else by MCP, with the credential that was typed in.

Source: Content Security Policy Level 3, "Usage of hash-source expressions"; the HTML standard, "Restrictions for
contents of script elements".
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path

from handler.cold.records import record

STATIC = Path(__file__).parent / "static"
DOCUMENT = "app.html"

SCRIPT = re.compile(r'<script src="([\w.-]+)"></script>')
STYLE = re.compile(r'<link rel="stylesheet" href="([\w.-]+)">')
COMMENT = re.compile(r"<!--.*?-->\s*", re.DOTALL)

MODE = 'data-mode=""'
"""The attribute of the document for the kind of server."""

POLICY: Mapping[str, str] = {
    "default-src": "'none'",
    "connect-src": "'self'",
    "img-src": "'self' data:",
    "font-src": "'none'",
    "frame-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
}

HEADERS: Mapping[str, str] = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
    "vary": "Accept",
}


class NotComposed(Exception):
    """A static file is missing, or its text would end the element that holds it."""


@record(frozen=True, slots=True, kw_only=True)
class Shell:
    """The document, and the headers that go with it."""

    html: str
    headers: Mapping[str, str]


@lru_cache
def shell(mode: str, static: Path = STATIC) -> Shell:
    """Compose the document for a kind of server from the files of a folder, once a process.

    Raises:
        NotComposed: as above.
    """
    scripts: list[str] = []
    styles: list[str] = []

    def script(found: re.Match[str]) -> str:
        return f"<script>{_inside(static / found[1], scripts, ends=('</script', '<!--'))}</script>"

    def style(found: re.Match[str]) -> str:
        return f"<style>{_inside(static / found[1], styles, ends=('</style',))}</style>"

    document = COMMENT.sub("", _read(static / DOCUMENT)).replace(MODE, f'data-mode="{mode}"')
    html = SCRIPT.sub(script, STYLE.sub(style, document))
    policy = {**POLICY, "script-src": _sources(scripts), "style-src": _sources(styles)}
    told = "; ".join(f"{name} {value}" for name, value in policy.items())
    return Shell(html=html, headers={**HEADERS, "content-security-policy": told})


def hash_source(text: str) -> str:
    """Return the expression by which a policy allows a script or a style of exactly this text."""
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def _inside(file: Path, hashes: list[str], *, ends: Iterable[str]) -> str:
    text = _read(file)
    for end in ends:
        if end in text.lower():
            raise NotComposed(f"{file.name}: a text inside of the document cannot have {end}")
    hashes.append(hash_source(text))
    return text


def _read(file: Path) -> str:
    try:
        return file.read_text("utf-8")  # with newlines as browsers hash them
    except OSError as exc:
        raise NotComposed(f"{file.name}: cannot be read ({exc.strerror})") from exc


def _sources(hashes: list[str]) -> str:
    return " ".join(hashes) or "'none'"
