"""Each caller's request goes to the address of its tenant, and to no other."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from handler.errors.calls import CallError
from handler.errors.upstream import CircuitOpen, ClaimMissing, UpstreamFailure
from handler.server.outgoing.circuit_breaker import MAX_FAILURES
from tests.server.outgoing.serving import Container, asking, endpoint, with_token
from tests.support.api import Api, Asked, Reply, running_api
from tests.support.examples import examples
from tests.support.identities import HOLDER
from tests.support.names import name_of

TENANTS = [f"tenant-{number}" for number in range(50)]
DOWN = "tenant-7"


@pytest.fixture
def resolved(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names below api.example are this machine, but for one, at which nothing listens."""
    ask = socket.getaddrinfo

    def here(host: str | bytes, port: int, **more: Any) -> Any:
        name = name_of(host)
        if not name.endswith(".api.example"):
            return ask(host, port, **more)
        return ask("127.0.0.99" if name.startswith(f"{DOWN}.") else "127.0.0.1", port, **more)

    monkeypatch.setattr(socket, "getaddrinfo", here)


@pytest.fixture
def api() -> Iterator[Api]:
    with running_api(lambda asked: Reply({"data": {"me": place_of(asked), "pay": place_of(asked)}})) as found:
        yield found


def place_of(asked: Asked) -> str:
    """The tenant that was asked for, by host or path."""
    host = asked.headers["host"].partition(".")[0]
    return host if host in TENANTS else asked.path.split("/")[2]


def by_host(api: Api) -> str:
    return f"{{url: 'http://{{claim:org.tenant}}.api.example:{port_of(api)}/graphql', tenant_pattern: 'tenant-[0-9]+'}}"


def by_path(api: Api) -> str:
    url = f"http://127.0.0.1:{port_of(api)}/t/{{claim:org.tenant}}/graphql"
    return f"{{url: '{url}', tenant_pattern: 'tenant-[0-9]+'}}"


def port_of(api: Api) -> str:
    return api.url.rpartition(":")[2].partition("/")[0]


@pytest.mark.usefixtures("resolved")
@pytest.mark.parametrize("upstream", [by_host, by_path])
def test_request_goes_to_the_address_of_the_callers_tenant(tmp_path: Path, api: Api, upstream: Any) -> None:
    with asking(tmp_path, upstream(api), claims={"org": {"tenant": "tenant-2"}}) as function:
        by_token = function.call("Me", {}, headers=with_token(org={"tenant": "tenant-1"})).result
        by_key = function.call("Me", {}, headers=HOLDER).result

    assert [each["structuredContent"]["data"]["me"] for each in (by_token, by_key)] == ["tenant-1", "tenant-2"]


@pytest.mark.usefixtures("resolved")
@pytest.mark.parametrize("upstream", [by_host, by_path])
@pytest.mark.parametrize(
    "value",
    [
        *("acme", "tenant-1.evil", "tenant-1/..", "tenant-1@evil.example", "tenant-1%2f", "tenant-1\n", "127.0.0.1"),
        *("", "..", "TENANT-1", "ⓣenant-1", 1, True, ["tenant-1"], {"tenant-1": 1}),
    ],
)
def test_claim_that_is_not_a_tenants_name_is_refused_and_nothing_is_sent(
    tmp_path: Path, api: Api, upstream: Any, value: Any
) -> None:
    with asking(tmp_path, upstream(api), claims={"org": {"tenant": value}}) as function:
        answer = function.call("Pay", {}, headers=HOLDER)

    assert api.asked == []
    assert (answer.result["isError"], answer.text) == (True, str(ClaimMissing("org.tenant", misfit=True)))


@pytest.mark.usefixtures("resolved")
def test_caller_without_a_tenant_is_refused_and_nothing_is_sent(tmp_path: Path, api: Api) -> None:
    with asking(tmp_path, by_host(api), claims={"org": "tenant-1"}) as function:
        texts = [function.call("Me", {}, headers=headers).text for headers in (HOLDER, {})]

    assert api.asked == []
    assert texts == [str(ClaimMissing("org.tenant"))] * 2


@pytest.mark.usefixtures("resolved")
@pytest.mark.parametrize("upstream", [by_host, by_path])
def test_many_tenants_at_once_get_their_own_answers(tmp_path: Path, api: Api, upstream: Any) -> None:
    random = Random(3)
    container = Container(endpoint(tmp_path, upstream(api)))
    reachable = [each for each in TENANTS if each != DOWN]

    for _ in range(examples(100, share=10)):
        asked = random.choices(reachable, k=20)
        assert answers_of(container, *asked) == asked


def answers_of(container: Container, *tenants: str) -> list[str | type]:
    """What callers of these tenants get, who all ask at once: the name in the answer, or the kind of the failure."""
    answers = container.ask(*(container.caller("caller", org={"tenant": each}) for each in tenants))
    return [type(each) if isinstance(each, CallError) else each["data"]["me"] for each in answers]


@pytest.mark.usefixtures("resolved")
def test_tenant_that_cannot_be_reached_pauses_for_itself(tmp_path: Path, api: Api) -> None:
    container = Container(endpoint(tmp_path, by_host(api)))

    found = [answers_of(container, DOWN)[0] for _ in range(MAX_FAILURES + 2)]

    assert found[0] is UpstreamFailure
    assert found[-1] is CircuitOpen
    assert answers_of(container, "tenant-1") == ["tenant-1"]


@pytest.mark.usefixtures("resolved")
def test_token_of_the_endpoint_that_one_tenant_refuses_is_kept_for_others(tmp_path: Path) -> None:
    def answered(asked: Asked) -> Reply:
        return Reply({"data": {"me": place_of(asked)}}, status=401 if place_of(asked) == "tenant-1" else 200)

    def tokens(_: Asked) -> Reply:
        return Reply(
            {"access_token": f"of-the-{len(issued.asked)}th-request", "token_type": "Bearer", "expires_in": 600}
        )

    with running_api(answered) as api, running_api(tokens, takes_secrets=True) as issued:
        auth = f"{{client_credentials: {{token_url: '{issued.url}', client_id: c, client_secret: 'env:CLIENT'}}}}"
        upstream = f"{by_host(api)[:-1]}, auth: {auth}}}"
        with asking(tmp_path, upstream, secrets={"CLIENT": "of-the-client-0001"}) as function:
            for tenant in ("tenant-2", "tenant-1", "tenant-2"):
                function.call("Me", {}, headers=with_token(org={"tenant": tenant}))

    assert api.authorizations[0] == api.authorizations[-1]
