"""Ids of tasks that a caller may not use, by thousands: the answer is that of an unknown id, and the API is not asked.

Answers are compared whole: their status, body and headers, but for those that belong to one request.
"""

from __future__ import annotations

import asyncio
import base64
import json
import random
import string
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from handler.bundle.identity import Identity
from handler.server.auth.sealed_state import RequestStates
from tests.server.outgoing.serving import ISSUER, with_token
from tests.support.endpoints import compiled
from tests.support.examples import examples
from tests.support.function import Answer, running_function
from tests.support.jobs import KEY, START, Site, files_of, running_jobs

URL_SAFE = string.ascii_letters + string.digits + "-_"
IN_A_HEADER = f"{URL_SAFE}.=+/~!*"
CONFIG = """
access:
  anonymous: allow
  policies:
    - type: Query
      policyDefault: {condition: true}
      rules: [{fields: [job], condition: "$jwt.role:String == 'staff'"}]
    - {type: Mutation, policyDefault: {condition: true}}
"""
SECOND = """
mutation Second @mcpTool(name: "second") @mcpTask(
  poll: "State" variables: {id: "export.job.id"} status: "job.status" completed: ["SUCCESS"] cancel: "Cancel"
) { export { job { id } } }
"""
METHODS = ("tasks/get", "tasks/cancel", "tasks/update")
ANN = {"sub": "ann", "org": "acme", "role": "staff", "scope": "jobs"}
TTL_S = 3_600


@dataclass(frozen=True, kw_only=True)
class Request:
    """One id, as it is asked about."""

    id: str
    claims: Mapping[str, Any] = field(default_factory=lambda: ANN)
    path: str = ""  # empty: the endpoint's own
    now: float = START


@dataclass(frozen=True, kw_only=True)
class World:
    """A site of two endpoints with the same tools, and the id of a job of Ann's."""

    site: Site
    id: str
    second: str  # id of another job of Ann's, of another tool
    chance: random.Random

    def found(self, request: Request, method: str) -> Any:
        """What the answer to a request about an id has in common with that of any other request."""
        answer = self.answer(request, method)
        own = ("date", "x-request-id")
        return answer.status, answer.body, {name: text for name, text in answer.headers.items() if name not in own}

    def answer(self, request: Request, method: str) -> Answer:
        """The answer to a request about an id."""
        self.site.now[0] = request.now
        name = request.id
        if not name.isascii() or not name or name != name.strip():
            name = f"=?base64?{base64.b64encode(name.encode()).decode()}?="
        headers = {**with_token(exp=4_000_000_000, **request.claims), "mcp-name": name}
        function = replace(self.site.function, path=request.path or self.site.function.path)
        return replace(self.site, function=function).ask(method, {"taskId": request.id}, headers=headers)

    def text(self, count: int, alphabet: str = URL_SAFE) -> str:
        return "".join(self.chance.choices(alphabet, k=count))


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with _world(tmp_path_factory.mktemp("ids")) as found:
        yield found


@contextmanager
def _world(folder: Path) -> Iterator[World]:
    now = [float(START)]
    with running_jobs() as jobs:
        files = files_of(jobs.api.url, config=CONFIG, options='scopes: ["jobs"]', cancel='"Cancel"', more=SECOND)
        text = files["operations/o.graphql"].replace("$id: ID!)", '$id: ID!, $org: String @mcpBind(claim: "org"))', 1)
        files["operations/o.graphql"] = text.replace("job(id: $id)", "job(id: $id, by: $org)")
        made = compiled(folder, files)
        identity = Identity(issuers=(ISSUER,), api_keys=(), trusted_apis=())
        here = replace(made, bundle=replace(made.bundle, identity=identity))
        there = replace(here, bundle=replace(here.bundle, endpoint="api/others"))
        states = RequestStates((KEY,), clock=lambda: now[0])
        with running_function(here, there, states=states, clock=lambda: now[0]) as function:
            site = Site(function, jobs, now)
            ann = with_token(exp=4_000_000_000, **ANN)
            first = site.start(headers=ann)
            jobs.first_id = "job-2"
            second = str(site.call("second", headers=ann).result["taskId"])
            yield World(site=site, id=first, second=second, chance=random.Random(29))


def _altered(world: World) -> Iterator[Request]:
    """One character, at each place in turn."""
    while True:
        for place, character in enumerate(world.id):
            other = world.chance.choice(IN_A_HEADER.replace(character, ""))
            yield Request(id=world.id[:place] + other + world.id[place + 1 :])


def _shortened(world: World) -> Iterator[Request]:
    """Both ends and parts from within, of each length."""
    sealed, dot, name = world.id.partition(".")
    while True:
        for length in range(1, len(sealed)):
            start = world.chance.randrange(len(sealed) - length + 1)
            yield Request(id=sealed[:length] + dot + name)
            yield Request(id=sealed[length:] + dot + name)
            yield Request(id=sealed[:start] + sealed[start + length :] + dot + name)
            yield Request(id=world.id[: -world.chance.randrange(1, len(world.id))])


def _lengthened(world: World) -> Iterator[Request]:
    while True:
        more = world.text(world.chance.randrange(1, 2_100), IN_A_HEADER)
        place = world.chance.randrange(len(world.id) + 1)
        yield Request(id=world.id[:place] + more + world.id[place:])


def _forged(world: World) -> Iterator[Request]:
    """Ids of the right form: chance, the content of an id with another tag, and an id that another key has sealed."""
    sealed, dot, name = world.id.partition(".")
    raw = base64.urlsafe_b64decode(sealed + "=" * (-len(sealed) % 4))
    content = json.loads(raw[:-32])
    while True:
        yield Request(id=world.text(len(sealed)) + dot + name)
        content["state"]["values"]["id"] = f"job-{world.chance.randrange(1_000)}"
        for tag in (raw[-32:], world.chance.randbytes(32)):
            made = base64.urlsafe_b64encode(json.dumps(content).encode() + tag).decode()
            yield Request(id=made.rstrip("=") + dot + name)
        other_key = RequestStates((world.text(32),), clock=lambda: START)
        with closing(asyncio.new_event_loop()) as loop:  # the function's own stays the current one
            made = loop.run_until_complete(other_key.seal(content["state"], binding=world.text(4)))
        yield Request(id=made.translate(str.maketrans("+/", "-_", "=")) + dot + name)


def _spliced(world: World) -> Iterator[Request]:
    """Parts of two ids of the same caller."""
    while True:
        for first, second in ((world.id, world.second), (world.second, world.id)):
            place = world.chance.randrange(1, min(len(first), len(second)) - 8)
            spliced = first[:place] + second[place:]
            if spliced not in (world.id, world.second):  # their first characters are equal
                yield Request(id=spliced)


def _of_another_caller(world: World) -> Iterator[Request]:
    while True:
        yield Request(id=world.id, claims={**ANN, "sub": world.text(8)})


def _of_another_tenant(world: World) -> Iterator[Request]:
    while True:
        yield Request(id=world.id, claims={**ANN, "org": world.chance.choice([world.text(6), "", None, ["acme"]])})


def _of_another_endpoint(world: World) -> Iterator[Request]:
    while True:
        yield Request(id=world.chance.choice([world.id, world.second]), path="/api/others/mcp")


def _of_another_tool(world: World) -> Iterator[Request]:
    names = ("second", "export_status", "second_status", "State", "Cancel", "Export", "EXPORT", "export ", "")
    while True:
        for name in (*names, world.text(6)):
            yield Request(id=f"{world.id.partition('.')[0]}.{name}")
        for name in ("export", "second_status", ".second"):
            yield Request(id=f"{world.second.partition('.')[0]}.{name}")


def _too_old(world: World) -> Iterator[Request]:
    while True:
        yield Request(id=world.id, now=START + TTL_S + 1 + world.chance.randrange(10_000_000))


def _without_the_right(world: World) -> Iterator[Request]:
    """The caller's own id, after a policy or a scope has been taken away."""
    while True:
        yield Request(id=world.id, claims={**ANN, "role": world.text(5)})
        yield Request(id=world.id, claims={**ANN, "scope": world.text(5)})
        yield Request(id=world.id, claims={name: value for name, value in ANN.items() if name != "role"})


KINDS: Mapping[Callable[[World], Iterator[Request]], int] = {
    _altered: 3_000,
    _shortened: 1_500,
    _lengthened: 500,
    _forged: 1_500,
    _spliced: 500,
    _of_another_caller: 1_000,
    _of_another_tenant: 500,
    _of_another_endpoint: 300,
    _of_another_tool: 500,
    _too_old: 500,
    _without_the_right: 500,
}
"""Kinds of ids -> number of them in a full run."""


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_id_that_a_caller_may_not_use_is_unknown(kind: Callable[[World], Iterator[Request]], world: World) -> None:
    unknown = {method: world.found(Request(id="unknown"), method) for method in METHODS}
    assert {status for status, _, _ in unknown.values()} == {400}
    assert {json.loads(body)["error"]["code"] for _, body, _ in unknown.values()} == {-32602}
    world.site.jobs.api.asked.clear()

    for number, request in zip(range(examples(KINDS[kind])), kind(world), strict=False):
        method = METHODS[number % len(METHODS)]
        assert world.found(request, method) == unknown[method], (method, request)

    assert world.site.jobs.asked == []
    assert world.answer(Request(id=world.id), "tasks/get").result["status"] == "working"


def test_kinds_of_ids_are_ten_thousand() -> None:
    assert sum(KINDS.values()) >= 10_000
