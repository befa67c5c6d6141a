"""The documents of the page, each one HTML text with a policy for exactly this text, and their routes.

Scripts and styles stand inside of a document, so the policy allows them by their hashes and nothing else. The page's
document is the same for everybody: the browser asks for everything else by MCP, with the credential that was typed in.

Source: Content Security Policy Level 3, "Usage of hash-source expressions"; the HTML standard, "Restrictions for
contents of script elements".
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import cache, lru_cache
from html import escape
from pathlib import Path

from starlette.requests import Request as HttpCall
from starlette.responses import Response

from handler.cold.records import record
from handler.page.clients import CREDENTIAL_HEADERS, client_lines
from handler.server.asgi.content_negotiation import HTML, PLAIN_TEXT, accepted_kinds
from handler.server.asgi.public_url import has_slash, public_url
from handler.server.asgi.request_log import note
from handler.server.asgi.responses import Refused, takes_gzip, to_gzip
from handler.server.context import Services

STATIC = Path(__file__).parent / "static"
DOCUMENT = "app.html"

SCRIPT = re.compile(r'<script src="([\w./-]+)"></script>')
STYLE = re.compile(r'<link rel="stylesheet" href="([\w.-]+)">')
COMMENT = re.compile(r"<!--.*?-->\s*", re.DOTALL)

MODE = 'data-mode=""'
"""The attribute of the document for the kind of server, and the lines of clients."""

SHELL_POLICY: Mapping[str, str] = {
    "default-src": "'none'",
    "connect-src": "'self'",
    "img-src": "'self' data:",
    "font-src": "'none'",
    "frame-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
}

EDITOR_POLICY: Mapping[str, str] = {
    "default-src": "'none'",
    "style-src-attr": "'unsafe-inline'",  # Chromium writes such attributes into text that is typed over
    "img-src": "data:",  # the wavy lines below mistakes
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'self'",
    "sandbox": "allow-scripts",
}

HEADERS: Mapping[str, str] = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
    "vary": "Accept, Accept-Encoding",
}

Answer = Callable[[HttpCall], Awaitable[Response]]


def shell_route(services: Services) -> Answer:
    """Build the route of the page. Its answer depends on nothing of the request: it confirms no endpoint."""

    def page(http_call: HttpCall) -> Response:
        if "name" in http_call.path_params and has_slash(http_call.scope):
            return _to_page(http_call)  # scripts of the page read the endpoint from its URL
        return shell(services.page).response(http_call)

    return _noted(page)


def root_route(services: Services) -> Answer:
    """Build the route of the page's URL for clients that do not ask for HTML, such as curl."""

    async def root(http_call: HttpCall) -> Response:
        if not accepted_kinds(http_call.headers.get("accept", "")) & {PLAIN_TEXT, "text/*", "*/*"}:
            raise Refused("not-found", "Not Found")
        note(http_call.scope, route="root", outcome="ok", reason="no Accept: text/html, so no page")
        url = public_url(http_call.scope)
        clients = services.signpost("/") or f"MCP clients find {url}/folder/name/mcp"
        sentence = f"The page at {url}/ is for browsers; {clients}.\n"
        return Response(sentence, headers={"cache-control": "no-store", "vary": "Accept"}, media_type=PLAIN_TEXT)

    return root


def mcp_url_route(_: Services) -> Answer:
    """Build the route of MCP URLs that a person opens in a browser: they lead to the page of the endpoint."""
    return _noted(_to_page)


def editor_route(_: Services) -> Answer:
    """Build the route of the GraphQL editor's document, which the page shows in a frame."""
    return _noted(lambda http_call: editor_document().response(http_call))


def _to_page(http_call: HttpCall) -> Response:
    """Redirect from a path with one more slash to the page. A relative location holds below a stage or base path."""
    headers = {"location": f"../{http_call.path_params['name']}", "cache-control": "no-store", "vary": "Accept"}
    return Response(status_code=303, headers=headers)


def _noted(answer: Callable[[HttpCall], Response]) -> Answer:
    async def route(http_call: HttpCall) -> Response:
        note(http_call.scope, route="page", outcome="ok")
        return answer(http_call)

    return route


class NotComposed(Exception):
    """A static file is missing, or its text would end the element that holds it."""


@record(frozen=True, slots=True, kw_only=True)
class PageDocument:
    """A document of the page, and the headers that go with it."""

    html: str
    compressed: bytes
    headers: Mapping[str, str]

    def response(self, http_call: HttpCall) -> Response:
        """Return the document as it is sent, in gzip if the client accepts it and the front door passes it on."""
        if takes_gzip(http_call):
            return Response(self.compressed, headers={**self.headers, "content-encoding": "gzip"}, media_type=HTML)
        return Response(self.html, headers=dict(self.headers), media_type=HTML)


@lru_cache
def shell(mode: str, static: Path = STATIC) -> PageDocument:
    """Compose the page's document for a kind of server from the files of a folder, once a process.

    Raises:
        NotComposed: as above.
    """
    lines = {each or "none": list(client_lines("@name@", "@url@", each, 2)) for each in CREDENTIAL_HEADERS}
    attributes = f'data-mode="{mode}" data-clients="{escape(json.dumps(lines))}"'
    return _document(static / DOCUMENT, attributes, SHELL_POLICY, HEADERS)


@cache
def editor_document() -> PageDocument:
    """Return the document of the GraphQL editor, with the vendored bundle inside, for a frame of the page.

    The document has no origin of its own and sends no request: the page's messages feed it.
    """
    names = ("x-content-type-options", "referrer-policy", "cache-control")
    headers = {**{name: HEADERS[name] for name in names}, "vary": "Accept-Encoding"}
    return _document(STATIC / "editor.html", MODE, EDITOR_POLICY, headers)


def _document(file: Path, attributes: str, policy: Mapping[str, str], headers: Mapping[str, str]) -> PageDocument:
    """Compose a document of its file and of the files that it names. ``attributes`` stand in place of ``MODE``."""
    scripts: list[str] = []
    styles: list[str] = []

    def script(source: re.Match[str]) -> str:
        return f"<script>{_inside(file.parent / source[1], scripts, ends=('</script', '<!--'))}</script>"

    def style(source: re.Match[str]) -> str:
        return f"<style>{_inside(file.parent / source[1], styles, ends=('</style',))}</style>"

    html = SCRIPT.sub(script, STYLE.sub(style, COMMENT.sub("", _read(file)).replace(MODE, attributes)))
    sources = {"script-src": " ".join(scripts) or "'none'", "style-src": " ".join(styles) or "'none'"}
    written = "; ".join(f"{name} {value}" for name, value in {**policy, **sources}.items())
    compressed = to_gzip(html.encode(), level=9)  # once a process
    return PageDocument(html=html, compressed=compressed, headers={**headers, "content-security-policy": written})


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
