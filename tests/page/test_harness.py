"""The watch over a page tells each thing that no page may do, so that the other tests can fail."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from tests.page.browser import looking

POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'none'; img-src * data:; connect-src *"
WRONG = {
    "an error of the console": ("<script>console.error('oh')</script>", "console: oh"),
    "an uncaught error": ("<script>null.x</script>", "uncaught: "),
    "a promise that fails": ("<script>Promise.reject(new Error('late'))</script>", "uncaught: "),
    "a violated policy": ("<style>b { color: red }</style>", "policy violated: style-src"),
    "an attribute of a style": ("<b style='color: red'>", "policy violated: style-src"),
    "a request to another host": ("<img src='http://198.51.100.1/x.png'>", "request to another host"),
    "a dialog": ("<script>setTimeout(() => alert(1))</script>", "dialog: 1"),
    "a script of a text": ("<img src=data:,x onerror=canary('it')>", "a script of a text ran: it"),
}
CALM = "<!doctype html><html lang=en><title>t</title><link rel=icon href=data:,><main><h1>calm</h1></main>"


@pytest.fixture(scope="module")
def site() -> Iterator[tuple[str, dict[str, str]]]:
    """Pages by their path, with a policy."""
    pages: dict[str, str] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = pages.get(self.path, "").encode()
            self.send_response(200)
            self.send_header("content-type", "text/html; charset=utf-8")
            self.send_header("content-security-policy", POLICY)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}", pages
        server.shutdown()


@pytest.mark.parametrize("what", WRONG)
def test_what_no_page_may_do_is_told(browser: Any, site: tuple[str, dict[str, str]], what: str) -> None:
    url, pages = site
    body, told = WRONG[what]
    pages["/wrong"] = CALM + body

    with pytest.raises(AssertionError, match=told), looking(browser, f"{url}/wrong") as look:
        look.page.wait_for_timeout(300)


def test_calm_page_has_no_trouble_and_no_finding(browser: Any, site: tuple[str, dict[str, str]]) -> None:
    url, pages = site
    pages["/calm"] = CALM

    with looking(browser, f"{url}/calm") as look:
        assert look.findings() == []
        assert look.page.inner_text("h1") == "calm"


def test_missing_label_is_found(browser: Any, site: tuple[str, dict[str, str]]) -> None:
    url, pages = site
    pages["/unlabelled"] = f"{CALM}<main><input></main>"

    with looking(browser, f"{url}/unlabelled") as look:
        assert "critical label" in [each.split(":")[0] for each in look.findings()]
