"""What a process that starts from a snapshot renews: the hooks are AWS's own, which the runtime runs."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
import random
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
import snapshot_restore_py

from handler.aws.json_client import AwsJson
from handler.aws.sigv4 import CredentialSource
from handler.bundle.stored import bundle_key, index_key, write_bundle
from handler.cold.prefetch import ReadAhead
from handler.compiler.compile import Compiled
from handler.errors.infrastructure import StorageError
from handler.http.client import HttpClient
from handler.server.auth.own_secrets import OwnSecrets
from handler.server.auth.principal import Principal, Pseudonyms
from handler.server.auth.tokens import TokenVerifier
from handler.server.context import Services
from handler.server.endpoints.registry import Endpoints
from handler.server.function import renew_after_restore
from handler.server.outgoing.outgoing_services import OutgoingServices, outgoing_services
from handler.settings import read_settings
from handler.storage.location import open_storage
from tests.support.api import Reply, running_api
from tests.support.local import LOCAL
from tests.support.objects import Objects, refusal, running_objects
from tests.support.raw_http import Peer, answer, answering, running_server

NAME = "api/customers"
HOOKED = {"AWS_LAMBDA_INITIALIZATION_TYPE": "snap-start"}
SOMEBODY = Principal(kind="token", name="", claims={"iss": "https://idp.example", "sub": "1"})


@pytest.fixture(autouse=True)
def no_other_hooks() -> Iterator[None]:
    registries = snapshot_restore_py.get_before_snapshot(), snapshot_restore_py.get_after_restore()
    kept = [list(each) for each in registries]
    for each in registries:
        each.clear()
    yield
    for each, before in zip(registries, kept, strict=True):
        each[:] = before


@pytest.fixture
def objects(demo: Compiled) -> Iterator[Objects]:
    with running_objects() as running:
        running.write(index_key(demo.bundle.endpoint, demo.bundle.index), demo.index)
        running.write(bundle_key(NAME), write_bundle(demo.bundle))
        yield running


def services_of(objects: Objects) -> tuple[Services, list[str]]:
    troubles: list[str] = []
    http = HttpClient()
    endpoints = Endpoints(objects.storage(http), on_trouble=lambda name, exc: troubles.append(f"{name}: {exc}"))
    return Services(endpoints=endpoints, http=http, tokens=TokenVerifier(http, secrets={})), troubles


def name_of(pseudonyms: Pseudonyms) -> str:
    return asyncio.run(pseudonyms.of(SOMEBODY))


def take_snapshot() -> None:
    """What the runtime does before a snapshot, with the loop that the function has made."""
    with contextlib.closing(asyncio.new_event_loop()) as loop:
        asyncio.set_event_loop(loop)
        _run_before_snapshot()
    asyncio.set_event_loop(None)


def _run_before_snapshot() -> None:
    for hook, args, kwargs in reversed(snapshot_restore_py.get_before_snapshot()):
        hook(*args, **kwargs)


def restore() -> None:
    """What the runtime does in each process that it makes of a snapshot."""
    for hook, args, kwargs in snapshot_restore_py.get_after_restore():
        hook(*args, **kwargs)


async def _find(services: Services) -> int:
    endpoint = await services.endpoints.find(NAME)
    await services.endpoints.settle()
    return len(endpoint.bundle.tools)


def test_storage_is_asked_over_a_connection_of_its_own_before_anything_is_answered(
    objects: Objects, demo: Compiled
) -> None:
    services, _ = services_of(objects)
    renew_after_restore(services, HOOKED)
    services.endpoints.load(NAME)
    objects.write(bundle_key(NAME), write_bundle(dataclasses.replace(demo.bundle, tools=demo.bundle.tools[:1])))
    restore()
    assert services.endpoints.oldest_check_s is None
    found = asyncio.run(_find(services))

    assert objects.server
    assert (found, objects.requests, objects.server.accepted) == (1, 2, 2)
    services.http.close()


def test_nothing_of_the_snapshot_serves_while_storage_fails_and_all_of_it_afterwards(
    objects: Objects, demo: Compiled
) -> None:
    services, troubles = services_of(objects)
    renew_after_restore(services, HOOKED)
    services.endpoints.load(NAME)
    objects.fault = lambda peer, _: peer.send(refusal("503 Slow Down", "SlowDown"))
    restore()

    with pytest.raises(StorageError):
        asyncio.run(_find(services))
    assert [(each.serves, each.failing) for each in services.endpoints.known] == [(False, True)]
    objects.fault = None
    assert asyncio.run(_find(services)) == len(demo.bundle.tools)
    assert [(each.serves, each.failing) for each in services.endpoints.known] == [(True, False)]
    assert len(troubles) == 1
    services.http.close()


def test_snapshot_is_taken_after_reads_in_other_threads_and_holds_no_connection(objects: Objects) -> None:
    services, _ = services_of(objects)
    slow = threading.Event()

    def answer_late(peer: Peer, found: bytes) -> None:
        slow.wait(5)
        peer.send(found)

    objects.fault = answer_late
    ahead = ReadAhead(objects.storage(services.http), [bundle_key(NAME)])
    renew_after_restore(services, HOOKED, settle=ahead.settle)
    threading.Timer(0.05, slow.set).start()
    take_snapshot()
    objects.fault = None
    services.endpoints.load(NAME)

    assert objects.server
    assert slow.is_set()
    assert objects.server.accepted == 2
    services.http.close()


def test_snapshot_holds_no_credential_that_was_fetched(objects: Objects) -> None:
    given = {"AccessKeyId": "id", "SecretAccessKey": "of the test", "Token": "t", "Expiration": "2099-01-01T00:00:00Z"}
    with (
        running_server(answering(answer(json.dumps(given).encode()))) as container,
        contextlib.closing(HttpClient(LOCAL)) as http,
    ):
        environ = {"AWS_CONTAINER_CREDENTIALS_FULL_URI": container.url}
        aws = CredentialSource(environ, http=http)
        services = dataclasses.replace(services_of(objects)[0], outgoing=OutgoingServices(aws=aws))
        renew_after_restore(services, HOOKED)
        for number in (1, 2, 3):
            aws.current()
            aws.current()
            assert len(container.requests) == number
            take_snapshot() if number == 1 else restore()


def test_copies_of_a_snapshot_draw_other_numbers(objects: Objects) -> None:
    services, _ = services_of(objects)
    renew_after_restore(services, HOOKED)
    state, drawn = random.getstate(), []
    for _ in range(2):
        random.setstate(state)
        restore()
        drawn.append(random.getrandbits(64))

    assert drawn[0] != drawn[1]


def test_processes_of_one_snapshot_share_no_made_up_key_and_a_given_one(objects: Objects) -> None:
    services, _ = services_of(objects)
    given = Pseudonyms(key="k" * 32)
    renew_after_restore(services, HOOKED)
    before = name_of(services.pseudonyms), name_of(given)
    restore()
    given.renew()

    assert name_of(services.pseudonyms) != before[0]
    assert name_of(given) == before[1]


def test_processes_of_one_snapshot_read_the_owners_secrets_themselves(objects: Objects) -> None:
    arn = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:log-key-AbC123"
    key = read_settings({"STILE_BUNDLES": "folder", "STILE_LOG_KEY": arn}).log_key
    with running_api(lambda _: Reply({"SecretString": "k" * 32}), takes_secrets=True) as aws:
        services, _ = services_of(objects)
        environ = {"AWS_ENDPOINT_URL": aws.url, "AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "s" * 40}
        credentials = CredentialSource(environ, http=services.http)
        own = OwnSecrets(AwsJson(services.http, environ, credentials=credentials))
        named = dataclasses.replace(
            services, outgoing=OutgoingServices(own=own), pseudonyms=Pseudonyms(key=key, own=own)
        )
        renew_after_restore(named, HOOKED)
        assert name_of(named.pseudonyms).startswith("hmac:")
        restore()
        aws.answer = lambda _: Reply(status=503)
        assert name_of(named.pseudonyms).startswith("local-hmac:")
        named.http.close()


def test_without_snapshots_there_are_no_hooks(objects: Objects) -> None:
    services, _ = services_of(objects)
    renew_after_restore(services, {})

    assert [*snapshot_restore_py.get_before_snapshot(), *snapshot_restore_py.get_after_restore()] == []


def test_no_connection_of_the_snapshot_is_used_again(objects: Objects) -> None:
    soon = datetime.now(UTC) + timedelta(minutes=1)  # so that each use finds them again
    given = {"AccessKeyId": "id", "SecretAccessKey": "of the test", "Token": "t", "Expiration": soon.isoformat()}
    with (
        running_server(answering(answer(json.dumps(given).encode()))) as container,
        running_server(answering(answer(b'{"SecretString": "a"}')), takes_secrets=True) as aws,
        contextlib.closing(HttpClient(LOCAL)) as http,
    ):
        environ = {
            "AWS_REGION": "eu-central-1",
            "AWS_CONTAINER_CREDENTIALS_FULL_URI": container.url,
            "AWS_ENDPOINT_URL": aws.url.rstrip("/"),
            "AWS_ENDPOINT_URL_S3": objects.environ()["AWS_ENDPOINT_URL"],
        }
        credentials = CredentialSource(environ, http=http)
        storage = open_storage(objects.location, http=http, environ=environ, credentials=credentials)
        settings = read_settings({"STILE_BUNDLES": objects.location, "STILE_SECRETS": "stile"})
        outgoing = outgoing_services(settings, AwsJson(http, environ, credentials=credentials))
        endpoints = Endpoints(storage, on_trouble=lambda *_: None)
        tokens = TokenVerifier(http, secrets={})
        renew_after_restore(Services(endpoints=endpoints, http=http, tokens=tokens, outgoing=outgoing), HOOKED)
        accepted: list[tuple[int, ...]] = []
        for name in ("A", "B"):
            storage.read(bundle_key(NAME))
            asyncio.run(outgoing.secrets.read(f"secret:{name}", endpoint=NAME))
            assert objects.server
            accepted.append((container.accepted, aws.accepted, objects.server.accepted))
            restore()

    assert accepted == [(1, 1, 1), (2, 2, 2)]
