"""Subsegments of sampled invocations, as X-Ray's daemon gets them over UDP."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given as over
from hypothesis import strategies as st

from handler.aws.subsegments import daemon_in, described, subsegments_of
from handler.bundle.identity import Identity
from handler.bundle.stored import bundle_key, write_bundle
from handler.errors.infrastructure import HttpError
from handler.http.client import HttpClient, HttpRequest
from handler.storage.local import FolderStorage
from tests.server.outgoing.serving import PROVIDER, endpoint, with_token
from tests.server.test_function_settings import imported, lines
from tests.support.api import Api, Reply, running_api
from tests.support.function import Function, store
from tests.support.identities import HOLDER
from tests.support.issuers import issuer_of, key_set_answer, serving_key_set
from tests.support.local import LOCAL as LOCAL_RULES
from tests.support.objects import running_objects
from tests.support.raw_http import answering
from tests.support.secrecy import SESSION
from tests.support.started import started_function
from tests.support.upstream import free_port
from tests.support.xray import PARENT, ROOT, SAMPLED, UNSAMPLED, Daemon, running_daemon

LOCAL = {"STILE_ALLOW_LOCAL_UPSTREAMS": "true"}


@pytest.fixture
def daemon() -> Iterator[Daemon]:
    with running_daemon() as daemon:
        yield daemon


@pytest.fixture(scope="module")
def api() -> Iterator[Api]:
    with running_api() as api:
        yield api


@pytest.fixture(autouse=True)
def answering_again(api: Api) -> None:
    api.answer = lambda _: Reply()


def asked(documents: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    requests = [each["http"]["request"] for each in documents]
    return [(each["name"], told["method"], told["url"]) for each, told in zip(documents, requests, strict=True)]


def stored_at(storage: FolderStorage, folder: Path, url: str) -> str:
    """An endpoint in a folder, whose API has this URL."""
    store(storage, endpoint(folder, f"{{url: '{url}'}}"))
    return storage.location


def test_call_of_a_sampled_invocation_is_a_subsegment(
    daemon: Daemon, api: Api, folder_storage: FolderStorage, tmp_path: Path
) -> None:
    location = stored_at(folder_storage, tmp_path, f"{api.url}?region=hidden-region")
    with started_function(location, **LOCAL, **daemon.environ()) as function:
        function.call("Me", {})

    (document,) = daemon.documents()
    assert (document["trace_id"], document["parent_id"]) == (ROOT, PARENT)
    assert asked([document]) == [("127.0.0.1", "POST", api.url)]
    assert document["http"]["response"]["status"] == 200
    assert not {"error", "fault", "throttle"} & set(document)
    assert "hidden-region" not in json.dumps(document)


@pytest.mark.parametrize(
    ("reply", "flags"),
    [
        (Reply({}, status=429), {"error": True, "throttle": True}),
        (Reply({}, status=404), {"error": True}),
        (Reply({}, status=503), {"fault": True}),
    ],
)
def test_bad_status_is_an_error_or_a_fault(
    daemon: Daemon,
    api: Api,
    folder_storage: FolderStorage,
    tmp_path: Path,
    *,
    reply: Reply,
    flags: Mapping[str, bool],
) -> None:
    api.answer = lambda _: reply
    with started_function(stored_at(folder_storage, tmp_path, api.url), **LOCAL, **daemon.environ()) as function:
        function.call("Me", {})

    (document,) = daemon.documents()
    assert {name: document[name] for name in ("error", "fault", "throttle") if name in document} == flags


def test_api_that_gives_no_answer_is_a_fault(daemon: Daemon, folder_storage: FolderStorage, tmp_path: Path) -> None:
    location = stored_at(folder_storage, tmp_path, f"http://127.0.0.1:{free_port()}/graphql")
    with started_function(location, **LOCAL, **daemon.environ()) as function:
        assert function.call("Me", {}).result["isError"]

    (document,) = daemon.documents()
    assert document["fault"] is True
    assert "response" not in document["http"]


@pytest.mark.parametrize(
    "trace",
    [
        UNSAMPLED,
        "",
        "Sampled=1",
        f"Root={ROOT};Sampled=1",
        f"Root=1-x;Parent={PARENT};Sampled=1",
        f"Root={ROOT};Parent={PARENT[1:]};Sampled=1",
        f"Root={ROOT};Parent={PARENT};Sampled=10",
        f"Root={ROOT};Parent={PARENT};Sampled=?",
    ],
)
def test_other_invocations_have_no_subsegments(
    daemon: Daemon, api: Api, folder_storage: FolderStorage, tmp_path: Path, trace: str
) -> None:
    location = stored_at(folder_storage, tmp_path, api.url)
    with started_function(location, **LOCAL, **daemon.environ(trace)) as function:
        assert "isError" not in function.call("Me", {}).result

    assert daemon.documents() == []


@pytest.mark.parametrize(
    "address", ["", "127.0.0.1:9", "127.0.0.1", "no-such-host.invalid:2000", "255.255.255.255:1", "[::1]:9", "::1:x"]
)
def test_missing_daemon_costs_no_call(api: Api, folder_storage: FolderStorage, tmp_path: Path, address: str) -> None:
    location = stored_at(folder_storage, tmp_path, api.url)
    environ = {"_X_AMZN_TRACE_ID": SAMPLED, "AWS_XRAY_DAEMON_ADDRESS": address}
    with started_function(location, **LOCAL, **environ) as function:
        assert "isError" not in function.call("Me", {}).result


def test_trace_of_the_caller_goes_on_to_the_api_as_without_sampling(
    daemon: Daemon, api: Api, folder_storage: FolderStorage, tmp_path: Path
) -> None:
    sent = {"traceparent": f"00-{'ab' * 16}-{'cd' * 8}-01"}
    api.asked.clear()
    with started_function(stored_at(folder_storage, tmp_path, api.url), **LOCAL, **daemon.environ()) as function:
        function.call("Me", {}, headers=sent)

    (request,) = api.asked
    assert request.headers["traceparent"].startswith(f"00-{'ab' * 16}-")
    assert "x-amzn-trace-id" not in request.headers


def test_claim_of_a_caller_is_not_in_a_subsegment(
    daemon: Daemon, api: Api, folder_storage: FolderStorage, tmp_path: Path
) -> None:
    url = api.url.replace("/graphql", "/t/{claim:org}/graphql")
    upstream = f"{{url: '{url}', tenant_pattern: '[a-z0-9-]+'}}"
    store(folder_storage, endpoint(tmp_path, upstream, claims={"org": "acme-hidden-corp"}))
    api.asked.clear()
    with started_function(folder_storage.location, **LOCAL, **daemon.environ()) as function:
        function.call("Me", {}, headers=HOLDER)

    (document,) = daemon.documents()
    assert [each.path for each in api.asked] == ["/t/acme-hidden-corp/graphql"]
    assert "hidden" not in json.dumps(document)
    assert document["http"]["request"]["url"].endswith("/t/tenant/graphql")


def test_bundle_and_key_set_are_subsegments_of_the_invocation_that_loads_them(
    daemon: Daemon, api: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with running_objects() as objects, serving_key_set(answering(key_set_answer(PROVIDER.key_set()))) as keys:
        made = endpoint(tmp_path, f"{{url: '{api.url}'}}")
        known = Identity(issuers=(issuer_of(PROVIDER, jwks_url=keys.url),), api_keys=(), trusted_apis=())
        objects.write(bundle_key("api/things"), write_bundle(replace(made.bundle, identity=known)))
        environ = {**objects.environ(), **LOCAL, "STILE_BUNDLES": objects.location, **daemon.environ()}
        with imported(monkeypatch, **environ) as handler:
            function = Function(handler, path="/api/things/mcp")
            assert function.call("Me", {}, headers=with_token()).result
            first = asked(daemon.documents())
            monkeypatch.setenv("_X_AMZN_TRACE_ID", UNSAMPLED)
            assert function.call("Me", {}, headers=with_token()).result

    assert [(method, url.rpartition("/")[2] or url) for _, method, url in first] == [
        ("GET", bundle_key("").rpartition("/")[2]),
        ("GET", asked_name(keys.url)),
        ("POST", "graphql"),
    ]
    assert daemon.documents() == []
    assert [line["xray_trace_id"] for line in lines(capsys) if line["message"] == "request"] == [ROOT, ROOT]


def test_secret_that_is_read_is_a_subsegment_without_its_value(
    daemon: Daemon, api: Api, folder_storage: FolderStorage, tmp_path: Path
) -> None:
    secret = SESSION.keep("a secret in AWS", "wTq7-Zr2Lm9Vx4Kc8Nd1Hb6")
    upstream = f"{{url: '{api.url}', auth: {{header: x-api-key, value: 'secret:KEY'}}}}"
    store(folder_storage, endpoint(tmp_path, upstream))
    with running_api(lambda _: Reply({"SecretString": secret}), takes_secrets=True) as aws:
        environ = {
            "AWS_ENDPOINT_URL": aws.url,
            "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "id",
            "AWS_SECRET_ACCESS_KEY": SESSION.keep("a secret key", "pB3-Yc8Gk5Rt2Wm7Jq9Ls4"),
            "STILE_SECRETS": "stile",
        }
        with started_function(folder_storage.location, **LOCAL, **environ, **daemon.environ()) as function:
            assert "isError" not in function.call("Me", {}).result

    documents = daemon.documents()
    assert [url for _, _, url in asked(documents)] == [aws.url, api.url]
    assert secret not in json.dumps(documents)


def asked_name(url: str) -> str:
    return url.rpartition("/")[2] or url


def test_module_of_subsegments_is_loaded_by_sampled_invocations_alone(
    daemon: Daemon, api: Api, folder_storage: FolderStorage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "handler.aws.subsegments")
    location = stored_at(folder_storage, tmp_path, api.url)
    with started_function(location, **LOCAL, **daemon.environ(UNSAMPLED)) as function:
        function.call("Me", {})

    assert "handler.aws.subsegments" not in sys.modules


ADDRESSES = {
    "169.254.79.129:2000": ("169.254.79.129", 2000),
    "tcp:127.0.0.1:2000 udp:127.0.0.2:2001": ("127.0.0.2", 2001),
    "udp:127.0.0.2:2001 tcp:127.0.0.1:2000": ("127.0.0.2", 2001),
    "[::1]:2000": ("::1", 2000),
    "tcp:127.0.0.1:2000": None,
    "localhost:2000": None,
    "127.0.0.1:0": None,
    "127.0.0.1:65536": None,
    "127.0.0.1:²": None,
}


@pytest.mark.parametrize("text", ADDRESSES)
def test_address_of_the_daemon_is_an_ip_address_and_a_port(text: str) -> None:
    assert daemon_in(text) == ADDRESSES[text]


@over(st.text(), st.text())
def test_any_variables_are_read_without_an_error(trace: str, address: str) -> None:
    subsegments_of({"_X_AMZN_TRACE_ID": f"{SAMPLED}{trace}", "AWS_XRAY_DAEMON_ADDRESS": address})
    daemon_in(f"127.0.0.1:{address}")


@pytest.mark.parametrize("url", ["http://[::1", "http://a b/", "nonsense", "http://\ud800/"])
def test_url_that_is_not_valid_is_refused_as_without_sampling(daemon: Daemon, url: str) -> None:
    client = HttpClient(LOCAL_RULES)
    client.observer = subsegments_of(daemon.environ())

    with pytest.raises(HttpError):
        client.send(HttpRequest(method="GET", url=url, timeout_s=1, max_bytes=1))


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("https://api.example/graphql?key=hidden#hidden", "https://api.example/graphql"),
        ("https://hidden:hidden@api.example:8443/g", "https://api.example:8443/g"),
        ("https://[2001:db8::1]/g", "https://[2001:db8::1]/g"),
    ],
)
def test_url_is_told_without_its_query_and_its_credentials(url: str, told: str) -> None:
    request = HttpRequest(method="POST", url=url, timeout_s=1, max_bytes=1)

    assert described(request, None)["http"]["request"] == {"method": "POST", "url": told}
