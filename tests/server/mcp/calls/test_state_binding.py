"""State that was sealed for one tenant is worth nothing at another, though one subject has tokens for both."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from handler.bundle.identity import Identity
from handler.server.auth.sealed_state import RequestStates
from tests.server.outgoing.serving import ISSUER, with_token
from tests.support.api import Api, Asked, Reply, running_api
from tests.support.endpoints import PUBLIC, compiled
from tests.support.function import META, MODERN, Answer, Function, running_function
from tests.support.identities import HOLDER, api_key
from tests.support.kits import MODULES, TOOLS, with_kit

STATES = RequestStates(["k" * 32])
PATTERNS = '[{expose: true, types: "Query|Mutation", fields: ".*"}]'
FILES = {
    "index.graphql": f'extend schema @tool(name: "g", graphql: {PATTERNS} confirm: required)\n'
    "type Query { rows(by: String): [String!] }\ntype Mutation { drop(by: String): String }",
    "operations/o.graphql": """
query Rows @mcpTool(name: "rows") { rows }
mutation Drop @mcpTool(name: "drop", title: "Drop all", confirm: required) { drop }
query RowsOf($by: String @mcpBind(claim: "team.id")) @mcpTool(name: "rows_of") { rows(by: $by) }
mutation DropOf($by: String @mcpBind(claim: "team.id")) @mcpTool(name: "drop_of", confirm: required) { drop(by: $by) }
""",
}
AFTER = {"iat": 1_600_000_000, "exp": 4_000_000_000, "jti": "new", "scope": "a b", "auth_time": 5, "amr": ["pwd"]}
"""Claims that another token of the same person has."""

IDS = count(1)


def replied(asked: Asked) -> Reply:
    """What the API answers: many rows to a query."""
    is_query = "rows" in asked.json["query"]
    return Reply({"data": {"rows": ["row" * 20] * 100} if is_query else {"drop": "dropped"}})


@dataclass(frozen=True)
class Site:
    """An endpoint and the API behind it."""

    function: Function
    api: Api

    def call(self, tool: str, arguments: Mapping[str, Any], headers: Mapping[str, str], **params: Any) -> Answer:
        """A call of a modern client that can ask its user."""
        meta = {**META, "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}
        sent = {"name": tool, "arguments": arguments, "_meta": meta, **params}
        message = {"jsonrpc": "2.0", "id": next(IDS), "method": "tools/call", "params": sent}
        routing = {"mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": tool}
        return self.function.post(message, headers={**routing, **headers})

    @property
    def reached(self) -> list[str]:
        """The paths at the API that were asked for."""
        return [each.path for each in self.api.asked]


@contextmanager
def running(
    folder: Path, *, more: str = "", path: str = "/graphql", key: Mapping[str, Any] | None = None
) -> Iterator[Site]:
    """An endpoint whose API has this path, with more settings of ``upstream``; ``key``: claims of an API key."""
    with running_api(replied) as api:
        url = api.url.removesuffix("/graphql") + path
        settings = f"upstream: {{url: '{url}'{more}}}\nlimits: {{continue: true, max_result_bytes: 1000}}\n"
        made = with_kit(compiled(folder, {**FILES, "config.yaml": f"{settings}{PUBLIC}"}), TOOLS)
        identity = Identity(issuers=(ISSUER,), api_keys=(api_key(key),), trusted_apis=())
        made = replace(made, bundle=replace(made.bundle, identity=identity))
        with running_function(made, states=STATES, code_modules=MODULES) as function:
            yield Site(function, api)


TENANTS: dict[str, Any] = {"path": "/t/{claim:org.tenant}/graphql", "more": ", tenant_pattern: '.*'"}
HEADERS: dict[str, Any] = {"more": ", headers: {x-tenant: 'claim:org.tenant'}"}
YES = {"confirm": {"action": "accept", "content": {"confirm": True}}}
NIGHTS = {"nights": {"action": "accept", "content": {"nights": 3}}}

ASKING: Mapping[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "operation": ("drop", {}, YES),
    "document": ("g", {"query": "mutation { drop }"}, YES),
    "tool in Python": ("book", {"room": "7"}, NIGHTS),
}
"""Tools that ask, their arguments, and their users' answers."""


def of(tenant: str, **claims: Any) -> dict[str, str]:
    """The same person with a token for a tenant."""
    return with_token(org={"tenant": tenant}, team={"id": f"of-{tenant}"}, **claims)


@pytest.mark.parametrize("place", [TENANTS, HEADERS], ids=["address", "header"])
@pytest.mark.parametrize("name", ASKING)
def test_answer_of_a_user_is_for_the_tenant_that_the_question_was_for(
    tmp_path: Path, name: str, place: dict[str, Any]
) -> None:
    tool, arguments, responses = ASKING[name]
    with running(tmp_path, **place) as site:
        state = site.call(tool, arguments, of("acme")).result["requestState"]
        refused = site.call(tool, arguments, of("beta"), requestState=state, inputResponses=responses)

        assert site.reached == []
        assert (refused.status, refused.code) == (400, "state-refused")

        done = site.call(tool, arguments, of("acme", **AFTER), requestState=state, inputResponses=responses)
        assert done.result["resultType"] == "complete"
        assert not done.result.get("isError")
        assert set(site.reached) <= {"/t/acme/graphql", "/graphql"}
        assert [each.headers.get("x-tenant", "acme") for each in site.api.asked] == ["acme"] * len(site.reached)
        assert len(site.reached) == (0 if tool == "book" else 1)


@pytest.mark.parametrize("place", [TENANTS, HEADERS], ids=["address", "header"])
@pytest.mark.parametrize(("tool", "arguments"), [("rows", {}), ("g", {"query": "{ rows }"})])
def test_cursor_is_for_the_tenant_whose_list_it_goes_on_in(
    tmp_path: Path, tool: str, arguments: dict[str, Any], place: dict[str, Any]
) -> None:
    with running(tmp_path, **place) as site:
        answer = json.loads(site.call(tool, arguments, of("acme")).text)
        (note,) = answer["extensions"]["stile"]["truncated"]
        site.api.asked.clear()
        refused = site.call(tool, {**arguments, **note["next"]}, of("beta"))
        assert (refused.code, site.reached) == ("cursor-refused", [])
        gone_on = site.call(tool, {**arguments, **note["next"]}, of("acme", **AFTER))

        assert json.loads(gone_on.text)["data"]["rows"]
        assert len(site.reached) == 1


def test_variable_that_a_claim_fills_is_the_same_in_question_and_answer(tmp_path: Path) -> None:
    with running(tmp_path) as site:
        asked = site.call("drop_of", {}, of("acme"))
        state = asked.result["requestState"]
        assert "of-acme" not in asked.body.decode()
        refused = site.call("drop_of", {}, of("beta"), requestState=state, inputResponses=YES)
        assert (refused.code, site.reached) == ("state-refused", [])
        site.call("drop_of", {}, of("acme", **AFTER), requestState=state, inputResponses=YES)
        assert [each.json["variables"] for each in site.api.asked] == [{"by": "of-acme"}]

        (note,) = json.loads(site.call("rows_of", {}, of("acme")).text)["extensions"]["stile"]["truncated"]
        assert site.call("rows_of", note["next"], of("beta")).code == "cursor-refused"
        assert json.loads(site.call("rows_of", note["next"], of("acme", **AFTER)).text)["data"]["rows"]


def test_code_may_run_operations_with_bound_variables_so_its_state_is_bound_to_them(tmp_path: Path) -> None:
    with running(tmp_path) as site:
        state = site.call("book", {"room": "7"}, of("acme")).result["requestState"]
        answers = {"requestState": state, "inputResponses": NIGHTS}

        assert site.call("book", {"room": "7"}, of("beta"), **answers).code == "state-refused"
        assert site.call("book", {"room": "7"}, of("acme", **AFTER), **answers).text == "7 for 3 nights, ['nights']"


def test_claim_of_another_tool_does_not_hinder_an_answer(tmp_path: Path) -> None:
    with running(tmp_path) as site:
        for tool, arguments, _ in (ASKING["operation"], ASKING["document"]):
            state = site.call(tool, arguments, of("acme")).result["requestState"]
            done = site.call(tool, arguments, of("beta"), requestState=state, inputResponses=YES)
            assert done.result["resultType"] == "complete"


def test_question_names_the_tenant_that_the_operation_goes_to(tmp_path: Path) -> None:
    with running(tmp_path, **TENANTS) as site:
        asked = site.call("drop", {}, of("acme-1")).result["inputRequests"]["confirm"]["params"]["message"]

    assert asked.startswith("Drop all would send this to api/things for org.tenant acme-1:\n\nmutation Drop")


@pytest.mark.parametrize("tenant", ["a\u202eb", "a\nb", "x" * 101, "../beta", "", 7, None, ["acme"]])
def test_nobody_is_asked_about_a_tenant_that_has_no_address(tmp_path: Path, tenant: Any) -> None:
    with running(tmp_path, **TENANTS) as site:
        refused = site.call("drop", {}, with_token(org={"tenant": tenant}))

        assert site.reached == []
    assert (refused.result["isError"], refused.code) == (True, "claim-missing")


def test_key_whose_claims_were_changed_has_no_answer_to_the_earlier_question(tmp_path: Path) -> None:
    claims = {"iss": "https://keys.example", "sub": "robot", "org": {"tenant": "acme"}}
    with running(tmp_path / "1", **TENANTS, key=claims) as site:
        state = site.call("drop", {}, HOLDER).result["requestState"]
    with running(tmp_path / "2", **TENANTS, key={**claims, "org": {"tenant": "beta"}}) as site:
        refused = site.call("drop", {}, HOLDER, requestState=state, inputResponses=YES)
        assert (refused.code, site.reached) == ("state-refused", [])
    with running(tmp_path / "3", **TENANTS, key={**claims, "note": "other"}) as site:
        site.call("drop", {}, HOLDER, requestState=state, inputResponses=YES)
        assert site.reached == ["/t/acme/graphql"]
