"""The card of an endpoint, by caller: exactly the caller's list in short, and nothing that the list does not have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from handler.storage.local import MemoryStorage
from handler.storage.storage import StoredObject
from tests.support.endpoints import compiled
from tests.support.function import Answer, Function, running_function
from tests.support.identities import HOLDER, identified
from tests.support.kits import MODULES, PLUGINS, with_catalog, with_kit

POLICIES = """\
access:
  anonymous: {anonymous}
  policies:
    - type: Query
      rules: [{{condition: "$jwt.role:String == 'staff'", fields: [closed]}}]
      policyDefault: {{condition: true}}
"""
SDL = "type Query { open: Int closed(id: ID): %s }"
OPERATIONS = """
\"\"\"Says the open number.\"\"\"
query Open @mcpTool(name: "open-number", title: "Open") { open }
query Closed @mcpTool(name: "closed-number") { closed }
"""
STAFF = {"iss": "https://idp.example", "role": "staff"}


def files(*, anonymous: str = "allow", closed: str = "Int", operations: str = OPERATIONS) -> dict[str, str]:
    config = POLICIES.format(anonymous=anonymous)
    return {"index.graphql": SDL % closed, "operations/o.graphql": operations, "config.yaml": config}


def card(function: Function, headers: Mapping[str, str] | None = None, path: str = "/api/things") -> Answer:
    return function.send("GET", path, headers=headers)


def test_card_has_the_tools_of_the_callers_list(tmp_path: Path) -> None:
    made = identified(compiled(tmp_path, files()), STAFF, issuers=["https://idp.example"])
    with running_function(made, public_url="https://tools.example") as function:
        answers = {name: card(function, headers) for name, headers in (("anyone", {}), ("staff", HOLDER))}
        lists = {
            name: function.request("tools/list", modern=True, headers=headers).result["tools"]
            for name, headers in (("anyone", {}), ("staff", HOLDER))
        }

    for name, answer in answers.items():
        told = [{key: each[key] for key in ("name", "title", "description") if key in each} for each in lists[name]]
        assert (answer.status, answer.json["tools"]) == (200, told)
    assert [each["name"] for each in answers["anyone"].json["tools"]] == ["open-number"]
    assert [each["name"] for each in answers["staff"].json["tools"]] == ["open-number", "closed-number"]
    assert {key: each for key, each in answers["anyone"].json.items() if key not in ("tools", "digest")} == {
        "name": "api/things",
        "title": "api things",
        "mcpUrl": "https://tools.example/api/things/mcp",
        "signIn": {"resourceMetadata": "https://tools.example/.well-known/oauth-protected-resource/api/things/mcp"},
    }
    assert answers["anyone"].headers["cache-control"] == "private, no-store"
    assert {"Accept", "Authorization", "X-API-Key"} <= set(answers["anyone"].headers["vary"].split(", "))
    assert [line["route"] for line in function.lines[:2]] == ["card"] * 2


def test_digest_follows_the_callers_list_and_no_hidden_part(tmp_path: Path) -> None:
    """A digest of more than the list would confirm what a stranger guesses of the rest."""
    variants = {
        "as it was": files(),
        "hidden type": files(closed="String"),
        "hidden tool": files(operations=OPERATIONS.replace("closed-number", "other-number")),
        "visible text": files(operations=OPERATIONS.replace("the open number", "the number")),
    }
    digests: dict[str, list[str]] = {}
    for number, (name, of) in enumerate(variants.items()):
        with running_function(identified(compiled(tmp_path / str(number), of), STAFF)) as function:
            digests[name] = [card(function, headers).json["digest"] for headers in ({}, HOLDER)]

    was = digests["as it was"]
    assert was[0].startswith("sha256:")
    assert was[0] != was[1]
    assert [digests["hidden type"][0], digests["hidden tool"][0]] == [was[0]] * 2
    assert digests["hidden tool"][1] != was[1]
    assert digests["visible text"][0] != was[0]


def test_card_is_denied_as_mcp_denies(tmp_path: Path) -> None:
    made = identified(compiled(tmp_path, files(anonymous="challenge")), STAFF, issuers=["https://idp.example"])
    with running_function(made) as function:
        for headers in ({}, {"x-api-key": "stile_wrong"}, {"authorization": "Bearer ("}, {"authorization": "Basic eA"}):
            refused, expected = card(function, headers), function.request("tools/list", headers=headers)

            assert refused.status == expected.status >= 400
            assert refused.body == expected.body
            assert refused.headers.get("www-authenticate") == expected.headers.get("www-authenticate")
            assert refused.headers["cache-control"] == "private, no-store"


def test_unknown_endpoint_is_as_unknown_as_to_mcp(tmp_path: Path) -> None:
    with running_function(compiled(tmp_path, files())) as function:
        known, unknown = (function.post({}, path=path) for path in ("/api/nothing/mcp", "/other/things/mcp"))

        assert [card(function, path=path).body for path in ("/api/nothing", "/other/things")] == [known.body] * 2
        assert (known.status, unknown.status) == (404, 404)
        assert card(function, path="/api/nothing").status == 404


@pytest.mark.parametrize(
    ("accept", "status"),
    [
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", 200),  # a browser's
        ("application/json", 200),
        ("application/*", 200),
        ("text/html", 406),
        ("application/json;q=0", 406),
    ],
)
def test_card_is_json_for_all_who_accept_it(tmp_path: Path, accept: str, status: int) -> None:
    with running_function(compiled(tmp_path, files())) as function:
        answer = card(function, {"accept": accept})

    assert answer.status == status
    assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_other_methods_find_nothing_there(tmp_path: Path, method: str) -> None:
    with running_function(compiled(tmp_path, files())) as function:
        assert function.send(method, "/api/things").code == "not-found"
        assert function.send(method, "/health/live").code == "method-not-allowed"


def test_tools_that_the_list_hides_are_not_on_the_card(tmp_path: Path) -> None:
    made = with_catalog(compiled(tmp_path, files()), unlisted="always")
    with running_function(made) as function:
        names = [each["name"] for each in card(function).json["tools"]]
        listed = [each["name"] for each in function.request("tools/list").result["tools"]]

    assert names == listed
    assert "open-number" not in names


def test_card_of_many_tools_is_bounded(tmp_path: Path) -> None:
    text = "x" * 30_000
    operations = "\n".join(f'query Q{n} @mcpTool(name: "q{n}", description: "{text}") {{ open }}' for n in range(40))
    with running_function(compiled(tmp_path, files(operations=operations))) as function:
        answer = card(function)

    assert len(answer.body) < 850_000
    assert len(answer.json["tools"]) + answer.json["more"] == 40
    assert answer.json["more"] > 0


def test_kit_that_cannot_list_its_tools_fails_the_card_in_a_fixed_sentence(tmp_path: Path) -> None:
    made = identified(with_kit(compiled(tmp_path, files()), PLUGINS), {**STAFF, "tenant": "broken"})
    with running_function(made, code_modules=MODULES) as function:
        answer = card(function, HOLDER)

    assert answer.status >= 500
    assert set(answer.json) == {"error", "code"}
    assert "boom" not in answer.body.decode()


class VersionedStorage(MemoryStorage):
    """Gives its objects an id, as a versioned bucket does."""

    def __init__(self, version: str) -> None:
        super().__init__()
        self._version = version

    def read(self, key: str, *, etag: str | None = None, timeout_s: float = 0) -> StoredObject | None:
        found = super().read(key, etag=etag, timeout_s=timeout_s)
        return replace(found, version=self._version) if found else None


@pytest.mark.parametrize(("stored", "serves"), [("one", True), ("three", False), ("on", False), ("", None)])
def test_maintainer_who_knows_versions_learns_if_one_is_served(tmp_path: Path, stored: str, serves: bool) -> None:
    with running_function(compiled(tmp_path, files()), storage=VersionedStorage(stored)) as function:
        unasked, asked = card(function).json, card(function, {"stile-versions": "two one"}).json

    assert asked == {**unasked, "serves": serves}
    assert stored not in unasked.values()
