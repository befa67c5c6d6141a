"""The page of the function: one document for all paths of an endpoint's form, and a policy for exactly its text."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from handler.compiler.compile import Compiled
from handler.page.page_documents import NotComposed, hash_source, shell
from handler.server.asgi.content_negotiation import prefers_html
from handler.storage.local import FolderStorage
from tests.conftest import ROOT
from tests.server.test_card import files
from tests.support.endpoints import compiled
from tests.support.function import Answer, Context, Function, event_for, running_function, store
from tests.support.started import started_function

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"
"""As browsers send it with a navigation."""

ALLOWED = {
    "default-src": "'none'",
    "connect-src": "'self'",
    "img-src": "'self' data:",
    "font-src": "'none'",
    "frame-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
}


def visit(function: Function, path: str, accept: str = BROWSER, method: str = "GET", **headers: str) -> Answer:
    return function.send(method, path, headers={"accept": accept, **headers})


def policy_of(header: str) -> dict[str, str]:
    return dict(each.split(" ", 1) for each in header.split("; "))


def without_ids(answer: Answer) -> dict[str, str]:
    return {name: value for name, value in answer.headers.items() if name != "x-request-id"}


def rest_event(path: str, headers: dict[str, str]) -> dict[str, Any]:
    """A request of a browser to the root of a REST API."""
    event: dict[str, Any] = {
        **json.loads((ROOT / "events" / "rest-v1-base-path-tools-list.json").read_text("utf-8")),
        "resource": "/",
        "path": path,
        "httpMethod": "GET",
        "pathParameters": None,
        "body": None,
        "headers": headers,
        "multiValueHeaders": {name: [value] for name, value in headers.items()},
    }
    event["requestContext"] |= {"path": path, "httpMethod": "GET", "resourcePath": "/"}
    return event


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    return compiled(tmp_path_factory.mktemp("page"), files(anonymous="challenge"))


def test_document_is_the_same_for_every_path_and_caller(made: Compiled) -> None:
    with running_function(made, page="function", public_url="https://tools.example") as function:
        pages = [visit(function, path) for path in ("/", "/api/things", "/api/absent", "/health/other")]
        pages.append(visit(function, "/api/things", authorization="Bearer nonsense"))
        lines = [line for line in function.lines if line.get("route") == "page"]

    assert [page.status for page in pages] == [200] * 5
    assert len({page.body for page in pages}) == 1
    assert all(without_ids(page) == without_ids(pages[0]) for page in pages)
    assert b"things" not in pages[0].body
    assert [line.get("endpoint") for line in lines] == [None] * 5


def test_without_the_flag_browsers_get_what_all_clients_get(made: Compiled) -> None:
    with running_function(made) as function:
        assert visit(function, "/").status == 404
        assert visit(function, "/editor.html").status == 404
        assert visit(function, "/api/absent").status == 404
        assert visit(function, "/api/things").status == 401


def test_clients_that_do_not_ask_for_html_first_get_the_card(made: Compiled) -> None:
    with running_function(made, page="function") as function:
        for accept in ("*/*", "application/json", "application/json, text/html", "text/html;q=0.5, application/json"):
            answers = [visit(function, path, accept) for path in ("/api/things", "/api/absent", "/")]
            sentence = accept == "*/*"
            assert [each.status for each in answers] == [401, 404, 200 if sentence else 404]
            json_answers = answers[:2] if sentence else answers
            assert all(each.headers["content-type"] == "application/json" for each in json_answers)
        assert "Accept" in answers[0].headers["vary"]
        assert "Accept" in visit(function, "/api/things").headers["vary"]


def test_other_methods_and_other_paths_have_no_page(made: Compiled) -> None:
    with running_function(made, page="function") as function:
        assert visit(function, "/", method="POST").status == 404
        assert visit(function, "/api/things", method="POST").status == 404
        paths = ("/a/b/c", "/a", "//", "/1/b", "/a/b%2fc", "/a/.env", "/static/app.js", "/-/endpoints", "/-/events")
        assert {path: visit(function, path).status for path in paths} == dict.fromkeys(paths, 404)


def test_url_of_the_page_answers_curl_with_the_addresses_and_names_no_endpoint(made: Compiled) -> None:
    with running_function(made, page="function", public_url="https://tools.example/base") as function:
        answer = visit(function, "/", "*/*")
        (line,) = [line for line in function.lines if line.get("route") == "root"]

    assert answer.headers["content-type"].startswith("text/plain")
    assert answer.body.decode() == (
        "The page at https://tools.example/base/ is for browsers; "
        "MCP clients find https://tools.example/base/folder/name/mcp.\n"
    )
    assert line["reason"] == "no Accept: text/html, so no page"


@pytest.mark.parametrize("path", ["/", "/api/things", "/editor.html"])
def test_document_is_compressed_for_browsers_that_take_it(made: Compiled, path: str) -> None:
    with running_function(made, page="function") as function:
        plain, packed = visit(function, path), visit(function, path, **{"accept-encoding": "br;q=0, gzip, deflate"})
        refused = visit(function, path, **{"accept-encoding": "gzip;q=0"})

    assert packed.headers["content-encoding"] == "gzip"
    assert gzip.decompress(packed.body) == plain.body == refused.body
    assert len(packed.body) * 3 < len(plain.body)
    assert all("Accept-Encoding" in each.headers["vary"] for each in (plain, packed, refused))
    assert all("content-encoding" not in each.headers for each in (plain, refused))


def test_rest_api_that_passes_no_bytes_gets_the_document_as_text(made: Compiled) -> None:
    headers = {"accept": BROWSER, "accept-encoding": "gzip"}
    with running_function(made, page="function") as function:
        answer = function.handler(rest_event("/", headers), Context())

    assert answer["isBase64Encoded"] is False
    assert answer["body"].startswith("<!doctype html>")


@pytest.mark.parametrize("mode", ["dev", "serve", "function"])
def test_policy_allows_exactly_the_scripts_and_styles_of_the_document(mode: str) -> None:
    made = shell(mode)
    policy = policy_of(made.headers["content-security-policy"])
    scripts = re.findall(r"<script>(.*?)</script>", made.html, re.DOTALL)
    styles = re.findall(r"<style>(.*?)</style>", made.html, re.DOTALL)

    assert policy.pop("script-src").split() == [hash_source(each) for each in scripts]
    assert policy.pop("style-src").split() == [hash_source(each) for each in styles]
    assert policy == ALLOWED
    assert len(scripts) >= 2
    assert styles
    assert not re.search(r"<script[^>]|<link[^>]*stylesheet|\son\w+=|\sstyle=|javascript:", _outside(made.html))
    assert made.headers["x-content-type-options"] == "nosniff"
    assert made.headers["referrer-policy"] == "no-referrer"
    assert made.headers["cross-origin-opener-policy"] == "same-origin"
    assert made.headers["cache-control"] == "no-store"
    assert f'data-mode="{mode}"' in made.html


def _outside(html: str) -> str:
    """The document without its scripts and styles."""
    return re.sub(r"<(script|style)>.*?</\1>", "", html, flags=re.DOTALL)


def test_hash_is_that_of_the_text_in_utf_8() -> None:
    digest = base64.b64encode(hashlib.sha256("é\n".encode()).digest()).decode()

    assert hash_source("é\n") == f"'sha256-{digest}'"


@pytest.mark.parametrize("text", ["'</script>'", "'</SCRIPT '", "'<!--'"])
def test_script_that_would_end_its_element_is_not_composed(tmp_path: Path, text: str) -> None:
    (tmp_path / "app.html").write_text('<script src="a.js"></script>', "utf-8")
    (tmp_path / "a.js").write_text(text, "utf-8")

    with pytest.raises(NotComposed, match=r"a\.js"):
        shell("dev", tmp_path)


@pytest.mark.parametrize(
    ("accept", "prefers"),
    [
        (BROWSER, True),
        ("text/html", True),
        ("text/html, */*", True),
        ("text/*", True),
        ("text/html;q=0.9, application/json;q=0.8", True),
        ("*/*", False),
        ("", False),
        (None, False),
        ("application/json, text/html", False),
        ("text/html;q=0", False),
        ("text/html;q=high", False),
        ("text/event-stream, application/json", False),
        ("text/html;charset=utf-16", False),
    ],
)
def test_preference_for_html(accept: str | None, prefers: bool) -> None:
    assert prefers_html(accept) is prefers


def test_page_of_the_function_may_call_and_other_origins_may_not(made: Compiled) -> None:
    own, other = "https://tools.example", "https://evil.example"
    with running_function(made, page="function", public_url=f"{own}/base") as function:
        calls = {
            origin: function.request("tools/list", headers={"origin": origin}) for origin in (own, other, f"{own}:8443")
        }
    with running_function(made, public_url=own) as function:
        without = function.request("tools/list", headers={"origin": own})

    assert calls[own].status == 401
    assert [calls[other].status, calls[f"{own}:8443"].status, without.status] == [403] * 3


def test_page_is_found_below_a_stage_or_a_base_path(made: Compiled) -> None:
    with running_function(made, page="function", public_url="https://tools.example/base") as function:
        for path in ("/base", "/base/", "/base/api/things"):
            assert (path, visit(function, path).status) == (path, 200)


@pytest.mark.parametrize(
    ("base", "path"), [("", "/api/things/"), ("/base", "/base/api/things/"), ("/a/b", "/a/b/x/y/")]
)
def test_final_slash_behind_an_endpoint_leads_to_its_page(made: Compiled, base: str, path: str) -> None:
    with running_function(made, page="function", public_url=f"https://tools.example{base}") as function:
        answer, root = visit(function, path), visit(function, f"{base}/")

    assert (answer.status, answer.headers["location"]) == (303, f"../{path.split('/')[-2]}")
    assert root.status == 200


@pytest.mark.parametrize("path", ["/tools", "/tools/", "/"])
def test_page_is_found_at_the_root_of_a_rest_api_below_a_base_path(made: Compiled, path: str) -> None:
    with running_function(made, page="function") as function:
        assert function.handler(rest_event(path, {"accept": BROWSER}), Context())["statusCode"] == 200


def test_mcp_url_in_a_browser_leads_to_the_page_and_to_other_clients_as_before(made: Compiled) -> None:
    with running_function(made, page="function", public_url="https://tools.example/base") as function:
        there, absent = (visit(function, path) for path in ("/base/api/things/mcp", "/base/api/absent/mcp"))
        others = [visit(function, "/api/things/mcp", accept) for accept in ("*/*", "text/event-stream, */*;q=0.5")]
        strange = visit(function, "/a/b%0d%0ax: y/mcp")
    with running_function(made) as function:
        without = visit(function, "/api/things/mcp")

    assert [each.status for each in (there, absent)] == [303, 303]
    assert [each.headers["location"] for each in (there, absent)] == ["../things", "../absent"]
    assert [each.status for each in (*others, without)] == [405, 405, 405]
    assert strange.status in (404, 405)


def test_persona_of_the_development_server_is_ignored(made: Compiled) -> None:
    named = {"stile-caller": "author", "sec-fetch-site": "same-origin"}
    with running_function(made, page="function") as function:
        assert function.request("tools/list", headers=named).status == 401


def test_setting_turns_the_page_on(made: Compiled, tmp_path: Path) -> None:
    store(FolderStorage(tmp_path), made)
    for setting, status in (("on", 200), ("off", 404), ("", 404)):
        with started_function(str(tmp_path), STILE_PAGE=setting) as function:
            assert visit(function, "/").status == status


def test_requests_of_mcp_clients_never_load_the_page(made: Compiled, tmp_path: Path) -> None:
    store(FolderStorage(tmp_path), made)
    script = f"""
import sys
from tests.support.started import started_function
with started_function({str(tmp_path)!r}, STILE_PAGE="on") as function:
    function.request("initialize", {{}})
    function.request("tools/list", modern=True)
    function.call("open-number", {{}})
    function.send("GET", "/api/things", headers={{"accept": "*/*"}})
    assert not [name for name in sys.modules if name.startswith("handler.page")], "before"
    function.send("GET", "/", headers={{"accept": "text/html"}})
    assert "handler.page.page_documents" in sys.modules, "after"
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")


def test_build_without_the_page_shows_none_and_says_why(made: Compiled, tmp_path: Path) -> None:
    store(FolderStorage(tmp_path / "bundles"), made)
    shutil.copytree(ROOT / "handler", tmp_path / "handler", ignore=shutil.ignore_patterns("page", "commands", "*.pyc"))
    events = [event_for("GET", path, body="", headers={"accept": BROWSER}) for path in ("/", "/api/a", "/editor.html")]
    script = f"from handler.lambda_function import handler\nprint([handler(e, None)['statusCode'] for e in {events!r}])"
    environ = {**os.environ, "STILE_BUNDLES": str(tmp_path / "bundles"), "STILE_PAGE": "on"}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, env=environ, capture_output=True, text=True, check=True
    )

    *lines, statuses = done.stdout.splitlines()
    (line,) = [each for each in map(json.loads, lines) if each["level"] == "ERROR"]
    assert statuses == "[404, 404, 404]"
    assert line["message"] == "page not served"
    assert line["reason"].startswith("STILE_PAGE is on, and the build lacks the extra page: add it to Extras in ")
