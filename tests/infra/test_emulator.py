import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.infra.cloudformation import ROOT
from tests.infra.emulator import Emulator, find_emulator, running_emulator
from tests.infra.test_events import EVENT_FILES, Event, all_events, read_event
from tests.server.asgi.test_public_url import FRONT_DOORS, WELL_KNOWN
from tests.support.endpoints import write_endpoint
from tests.support.function import answer_of
from tests.support.issuers import AUDIENCE, Provider, ec_key, given
from tests.support.require import requires
from tests.support.upstream import Upstream, running_upstream

TOOLS_LISTS = [path.stem for path in EVENT_FILES if "tools-list" in path.stem]
VERIFIES_TOKENS = "jwt" in os.environ.get("STILE_EXTRAS", "").split(",")
CUSTOM: list[Any] = [
    {},
    [],
    [[]],
    "text",
    5,
    None,
    {"requestContext": None},
    {"requestContext": {"http": {}}},
    {"Records": [{}]},
]


@pytest.fixture(scope="module")
def binary(artifact: Path, arch: str) -> Path:
    """The emulator, where everything it needs is there."""
    binary = find_emulator(arch)
    requires("sam", binary, "`make sam-setup` installs the Lambda emulator with the SAM CLI")
    requires("python3.13", sys.version_info[:2] == (3, 13), "`make smoke` runs this with it, as Lambda does")
    assert binary is not None
    return binary


@pytest.fixture(scope="module")
def upstream(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Upstream]:
    with running_upstream(tmp_path_factory.mktemp("upstream")) as upstream:
        yield upstream


PROVIDER = Provider("https://login.example/", (ec_key(),))


def signed_endpoint() -> dict[str, str]:
    """An endpoint for callers with tokens."""
    (key,) = given(*PROVIDER.keys)
    identity = {
        "issuer": PROVIDER.name,
        "audience": AUDIENCE,
        "keys": [{"algorithm": key.algorithm, "keyid": key.id, "key": key.key}],
    }
    config = {"identity": identity, "access": {"anonymous": "challenge"}}
    return {"index.graphql": "type Query { a: Int }", "config.yaml": json.dumps(config)}


@pytest.fixture(scope="module")
def bundles(upstream: Upstream, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example endpoints, compiled for the upstream that runs."""
    endpoints = tmp_path_factory.mktemp("endpoints")
    shutil.copytree(ROOT / "examples/endpoints", endpoints, dirs_exist_ok=True)
    config = endpoints / "api/customers/config.yaml"
    config.write_text(config.read_text("utf-8").replace("http://127.0.0.1:8001/graphql", upstream.url), "utf-8")
    write_endpoint(endpoints, signed_endpoint(), name="api/signed")
    folder = tmp_path_factory.mktemp("bundles")
    command = [sys.executable, "-m", "handler", "build", str(endpoints), "--out", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def emulator(
    binary: Path, artifact: Path, bundles: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Emulator]:
    environment = {
        "STILE_BUNDLES": str(bundles),
        "STILE_ALLOW_LOCAL_UPSTREAMS": "true",
        "STILE_PRELOAD": "api/signed",
        "POWERTOOLS_SERVICE_NAME": "stile",
    }
    with running_emulator(binary, artifact, tmp_path_factory.mktemp("emulator"), environment) as emulator:
        yield emulator


def named(event: str) -> Event:
    return read_event(ROOT / f"events/{event}.json")


def message_of(response: dict[str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = json.loads(response["body"])
    return message


@pytest.mark.parametrize("event", all_events())
def test_every_event_gets_an_answer(emulator: Emulator, event: Event) -> None:
    response = emulator.invoke(event)

    assert "errorMessage" not in response, emulator.log.read_text()
    assert 200 <= response["statusCode"] < 500, emulator.log.read_text()


@pytest.mark.parametrize("event", TOOLS_LISTS)
def test_each_front_door_leads_to_the_tools(emulator: Emulator, event: str) -> None:
    response = emulator.invoke(named(event))

    assert response["statusCode"] == 200
    assert "customer-by-email" in {tool["name"] for tool in message_of(response)["result"]["tools"]}


@pytest.mark.skipif(not VERIFIES_TOKENS, reason="the build lacks the extra jwt, so nobody is told to sign in")
@pytest.mark.parametrize("door", FRONT_DOORS)
def test_each_front_door_tells_the_url_that_its_clients_use(emulator: Emulator, door: str) -> None:
    event_of, url = FRONT_DOORS[door]

    document = message_of(emulator.invoke(event_of("GET", f"{WELL_KNOWN}/api/signed/mcp/")))
    refused = answer_of(emulator.invoke(event_of("POST", "/api/signed/mcp/")))

    assert document["resource"] == f"{url}/api/signed/mcp"
    assert refused.status == 401
    assert f'resource_metadata="{url}{WELL_KNOWN}/api/signed/mcp"' in refused.headers["www-authenticate"]


@pytest.mark.parametrize("name", ["other-warm", "other-schedule"])
def test_a_warmer_finds_the_preloaded_endpoints(emulator: Emulator, name: str) -> None:
    response = emulator.invoke(named(name))

    assert response["stile"] == "warm"
    assert response["endpoints"] >= 1


def test_an_event_of_another_service_is_answered_by_its_kind(emulator: Emulator) -> None:
    assert emulator.invoke(named("other-s3")) == {"stile": "ignored", "kind": "s3"}


def test_messages_that_would_be_lost_are_an_error(emulator: Emulator) -> None:
    response = emulator.invoke(named("other-sqs"))

    assert response["errorType"] == "UnservedSource"
    assert response["errorMessage"].startswith("sqs: this function serves HTTP requests.")


@pytest.mark.parametrize("name", ["other-vpc-lattice-v1", "other-vpc-lattice-v2"])
def test_a_door_that_is_not_served_is_told_so(emulator: Emulator, name: str) -> None:
    assert emulator.invoke(named(name))["statusCode"] == 501


@pytest.mark.parametrize("event", CUSTOM, ids=str)
def test_an_invocation_by_hand_is_no_error(emulator: Emulator, event: Any) -> None:
    before = emulator.log.read_text()

    response = emulator.invoke(event)

    assert response.get("statusCode") == 400 or response == {"stile": "ignored", "kind": "custom"}
    assert "Traceback" not in emulator.log.read_text().removeprefix(before)


def test_the_function_introduces_itself_to_both_generations_of_client(emulator: Emulator) -> None:
    legacy = message_of(emulator.invoke(named("initialize")))
    modern = message_of(emulator.invoke(named("discover")))

    assert legacy["result"]["protocolVersion"] == "2025-06-18"
    assert "2026-07-28" in modern["result"]["supportedVersions"]


def test_an_unknown_endpoint_is_not_found(emulator: Emulator) -> None:
    assert emulator.invoke(named("unknown-path"))["statusCode"] == 404


@pytest.mark.parametrize("event", ["tools-call-prescribed", "tools-call-graphql", "tools-call-flat"])
def test_a_call_brings_what_the_upstream_answers(emulator: Emulator, upstream: Upstream, event: str) -> None:
    upstream.clear()

    result = message_of(emulator.invoke(named(event)))["result"]

    assert not result.get("isError"), result
    assert "data" in json.loads(result["content"][0]["text"])
    assert len(upstream.requests()) == 1


@pytest.mark.parametrize("event", ["graphql-persisted", "graphql-tool"])
def test_a_graphql_request_brings_what_the_upstream_answers(emulator: Emulator, upstream: Upstream, event: str) -> None:
    upstream.clear()

    response = emulator.invoke(named(event))

    assert response["statusCode"] == 200
    assert json.loads(response["body"])["data"]["customer"]["name"] == "Elif Núñez"
    assert len(upstream.requests()) == 1


def test_a_pruned_field_is_refused_before_the_upstream_hears_of_it(emulator: Emulator, upstream: Upstream) -> None:
    upstream.clear()

    result = message_of(emulator.invoke(named("tools-call-pruned-field")))["result"]

    assert result["isError"] is True
    assert upstream.requests() == []


def signed_event(event: str, path: str = "/api/signed/mcp") -> Event:
    found = named(event)
    found["rawPath"] = found["requestContext"]["http"]["path"] = path
    found["headers"]["authorization"] = f"Bearer {PROVIDER.token()}"
    return found


def health_event() -> Event:
    event = signed_event("tools-list", "/health")
    event["requestContext"]["http"]["method"] = "GET"
    return {**event, "body": ""}


def test_a_token_gets_in_if_what_verifies_it_was_built_in_and_else_nobody_is_told_to_sign_in(
    emulator: Emulator,
) -> None:
    response = emulator.invoke(signed_event("tools-list"))
    health = emulator.invoke(health_event())

    if VERIFIES_TOKENS:
        assert response["statusCode"] == 200, emulator.log.read_text()
        assert (health["statusCode"], message_of(health)["status"]) == (200, "ok")
    else:
        assert response["statusCode"] == 503
        assert "www-authenticate" not in response["headers"]
        assert (health["statusCode"], message_of(health)["status"]) == (503, "not_ready")
        assert message_of(health)["lacking"] == 1


def test_what_a_preloaded_endpoint_needs_and_the_build_lacks_is_an_error_in_the_log_once(
    binary: Path, artifact: Path, bundles: Path, tmp_path: Path
) -> None:
    environment = {"STILE_BUNDLES": str(bundles), "STILE_PRELOAD": "api/signed"}
    with running_emulator(binary, artifact, tmp_path, environment) as emulator:
        health = emulator.invoke(health_event())
        for _ in range(2):
            emulator.invoke(signed_event("tools-list"))
        log = [json.loads(line) for line in emulator.log.read_text().splitlines() if line.startswith('{"level')]

    found = [(line["endpoint"], line["reason"]) for line in log if line["level"] == "ERROR"]
    if VERIFIES_TOKENS:
        assert (health["statusCode"], found) == (200, [])
    else:
        need = (
            "the extra jwt is missing, which verifies tokens of issuers: "
            "add it to Extras in samconfig.toml, then `sam build` and `sam deploy`"
        )
        assert (health["statusCode"], found) == (503, [("api/signed", need)])


def test_built_for_another_architecture_it_answers_503_and_the_log_says_why(
    binary: Path, artifact: Path, arch: str, bundles: Path, tmp_path: Path
) -> None:
    other = {"arm64": "x86_64", "x86_64": "arm64"}[arch]
    copy = shutil.copytree(artifact, tmp_path / "artifact")
    built = copy / "handler" / "build.json"
    built.write_text(built.read_text("utf-8").replace(f'"{arch}"', f'"{other}"'), "utf-8")

    with running_emulator(binary, copy, tmp_path, {"STILE_BUNDLES": str(bundles)}) as emulator:
        answers = [emulator.invoke(named(event)) for event in (*TOOLS_LISTS, "get", "bad-body")]

    assert [answer["statusCode"] for answer in answers] == [503] * len(answers)
    log = emulator.log.read_text()
    assert log.count(f"the function was built for architecture {other}, and runs on {arch}: ") == len(answers)
