from __future__ import annotations

import pytest

from handler.http.addresses import keys_in

NAMES = "key apikey api_key api-key apiKey APIKEY access_token authToken subscription-key x-functions-key code sig"


@pytest.mark.parametrize("name", NAMES.split())
def test_parameter_named_as_a_key_is_one(name: str) -> None:
    assert keys_in(f"https://api.example/graphql?v=1&{name}=a%20b") == {name: "a b"}


@pytest.mark.parametrize("name", ["keyword", "monkey", "api-version", "v", "tokens_max", "1", ""])
def test_other_parameter_is_none(name: str) -> None:
    assert keys_in(f"https://api.example/graphql?{name}=2026-10-01") == {}
