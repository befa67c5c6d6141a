"""The page of `stile serve --page` and of the function: real credentials only, kept in memory only."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import OctKey

from tests.page.browser import Look, looking
from tests.page.endpoints import PARTNER_KEY, desk
from tests.page.servers import function_of, serving
from tests.support.secrecy import SESSION

SIGNING = "q7Yx2LmW9vRt4KpZ8sNb3HdJ6fGc1TaE"
ISSUER = "https://issuer.example"
IDENTITY = f"""\
  keys: [{{algorithm: HS256, key: "env:PAGE"}}]
  issuer: {ISSUER}
  audience: desk
"""
OWN_ROUTES = ("endpoints", "tools", "api", "why", "reach", "events")


def token(**claims: Any) -> str:
    """A token of a caller, an hour long."""
    now = int(time.time())
    standard = {"iss": ISSUER, "aud": "desk", "sub": "ada", "iat": now, "exp": now + 3600}
    made: str = jwt.encode({"alg": "HS256"}, {**standard, **claims}, OctKey.import_key(SIGNING))
    SESSION.keep("a token of the page", made)
    return made


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    work = tmp_path_factory.mktemp("served")
    with desk(work, identity=IDENTITY) as (endpoint, _):
        yield endpoint


@pytest.fixture(scope="module")
def served(folder: Path) -> Iterator[str]:
    """The origin of `stile serve --page`."""
    with serving("serve", str(folder), "--page", STILE_SECRET_PAGE=SIGNING) as server:
        yield server.url


@pytest.fixture(scope="module")
def function(folder: Path) -> Iterator[str]:
    """The origin of the function, as requests of API Gateway reach it."""
    with function_of(folder, STILE_SECRET_PAGE=SIGNING) as server:
        yield server.url


@pytest.fixture(params=["served", "function"])
def origin(request: pytest.FixtureRequest) -> str:
    found: str = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def look(browser: Any, origin: str) -> Iterator[Look]:
    with looking(browser, f"{origin}/shop/desk") as window:
        yield window


def tools(look: Look) -> set[str]:
    return {
        each.get_attribute("data-name") for each in look.page.locator('[data-part="tool"][data-key^="tool:"]').all()
    }


def test_anonymous_caller_sees_what_is_open_to_everybody(look: Look) -> None:
    look.part("tool").first.wait_for()
    assert {"one_order", "rows", "ask_desk"} <= tools(look)
    assert not {"salaries", "cancel_order"} & tools(look)
    look.open("one_order")
    look.enter("/number", "7")
    assert "SENT" in look.send()
    assert look.findings() == []


def test_first_screen_shows_what_the_callers_own_list_and_calls_give(look: Look) -> None:
    look.part("tokens", has="of 5 tools").wait_for()
    assert "claude mcp add" in look.part("clients").inner_text()
    look.open("one_order")
    look.enter("/number", "7")
    look.send()
    look.page.go_back()
    row = look.part("calls").locator('[data-part="live-call"]')
    row.filter(has_text='{"number":7}').wait_for()
    assert [look.part(name).count() for name in ("callers", "api", "api-state", "warnings", "cause")] == [0] * 5
    assert look.findings() == []
    row.locator('[data-part="call-again"]').click()
    assert "SENT" in look.shown()


def test_routes_and_header_of_dev_do_not_exist(look: Look) -> None:
    look.troubles.allow("404")
    look.part("tool").first.wait_for()
    for route in OWN_ROUTES:
        status = look.page.evaluate(
            "async (path) => (await fetch(path)).status", f"/-/{route}?endpoint=shop/desk&caller=author"
        )
        assert status == 404, route
    body = look.page.evaluate(
        """async () => (await fetch('/shop/desk/mcp', {method: 'POST',
          headers: {'content-type': 'application/json', accept: 'application/json', 'stile-caller': 'author'},
          body: JSON.stringify({jsonrpc: '2.0', id: 1, method: 'tools/list', params: {}})})).text()"""
    )
    assert "one_order" in body
    assert "salaries" not in body


def test_pasted_credential_opens_tools_and_is_kept_nowhere(look: Look, origin: str) -> None:
    look.part("tool").first.wait_for()
    secret = PARTNER_KEY
    look.part("credential").first.click()
    dialog = look.part("credential-dialog")
    assert look.findings() == []
    dialog.locator("input[type=password], textarea, input[type=text]").first.fill(secret)
    dialog.locator("button.primary, [data-value=use]").first.click()
    look.page.locator('[data-part="tool"][data-name="cancel_order"]').wait_for()
    assert "salaries" not in tools(look)

    kept = look.page.evaluate(
        "[JSON.stringify(localStorage), JSON.stringify(sessionStorage), document.cookie, location.href]"
    )
    assert secret not in " ".join(kept)
    assert look.page.context.storage_state()["cookies"] == []
    look.page.reload()
    look.part("tool").first.wait_for()
    assert "cancel_order" not in tools(look)


def test_first_page_names_no_endpoint_and_takes_a_name(browser: Any, origin: str) -> None:
    with looking(browser, f"{origin}/") as look:
        look.part("endpoint").first.wait_for()
        assert "shop/desk" not in look.page.content()
        assert look.findings() == []


def test_page_of_a_name_without_an_endpoint_is_the_same_document(browser: Any, origin: str) -> None:
    fetched = "async (path) => (await fetch(path, {headers: {accept: 'text/html'}})).text()"
    with looking(browser, f"{origin}/shop/desk") as look:
        there, missing = (look.page.evaluate(fetched, path) for path in ("/shop/desk", "/no/such"))
    assert there == missing
    assert "<script>" in there


def test_token_shows_what_its_claims_allow(browser: Any, served: str) -> None:
    with looking(browser, f"{served}/shop/desk") as look:
        look.part("tool").first.wait_for()
        look.part("credential").first.click()
        dialog = look.part("credential-dialog")
        dialog.locator("input[type=password], textarea, input[type=text]").first.fill(token(roles=["hr"]))
        dialog.locator("button.primary, [data-value=use]").first.click()
        look.page.locator('[data-part="tool"][data-name="salaries"]').wait_for()
        look.open("salaries")
        assert "91" in look.send()


def test_credential_that_is_not_valid_is_told(browser: Any, served: str) -> None:
    with looking(browser, f"{served}/shop/desk") as look:
        look.troubles.allow("401")
        look.part("tool").first.wait_for()
        look.part("credential").first.click()
        dialog = look.part("credential-dialog")
        dialog.locator("input[type=password], textarea, input[type=text]").first.fill("not-a-token")
        dialog.locator("button.primary, [data-value=use]").first.click()
        look.part("denied").wait_for()
        assert "401" in look.part("denied").inner_text()
        assert look.findings() == []
