"""A browser as far as signing in needs one: cookies, redirects, and the provider's two forms."""

from __future__ import annotations

import re
from html import unescape

import httpx2

ACTION = re.compile(r'<form [^>]*action="([^"]+)"')
MAX_STEPS = 15


def sign_in(url: str, *, until: str) -> str:
    """Sign somebody in who agrees to everything; the URL below ``until`` that they are sent to in the end."""
    with httpx2.Client(follow_redirects=False, trust_env=False) as browser:
        response = browser.get(url)
        for _ in range(MAX_STEPS):
            if response.is_redirect:
                location = str(response.url.join(response.headers["location"]))
                if location.startswith(until):
                    return location
                response = browser.get(location)
            else:
                assert response.status_code == 200, response.text
                response = browser.post(unescape(_action(response.text)), data=_filled(response.text))
    raise AssertionError(f"after {MAX_STEPS} steps still at {response.url}")


def _action(page: str) -> str:
    found = ACTION.search(page)
    assert found, page
    return found[1]


def _filled(page: str) -> dict[str, str]:
    """The login form takes any name; the other one asks for consent."""
    if 'name="login"' in page:
        return {"prompt": "login", "login": "ada", "password": "any"}
    return {"prompt": "consent"}
