"""``stile serve`` in processes of its own: the function's settings and rules over HTTP."""

from __future__ import annotations

import json
import re
import signal
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from tests.commands.running import CONFIG, FILES, Stile, interrupt, ran, started
from tests.support.api import Asked, Reply, running_api
from tests.support.endpoints import write_endpoint
from tests.support.moto import Moto
from tests.support.secrecy import SESSION, Output

WAIT_S = 60.0
LOCAL = {"STILE_ALLOW_LOCAL_UPSTREAMS": "true"}


class Served:
    """A running ``stile serve``, its port, and what it printed."""

    def __init__(self, *arguments: str, **environ: str) -> None:
        self.process = started("serve", *arguments, "--port", "0", environ=environ)
        self.printed: list[str] = []
        assert self.process.stdout
        assert self.process.stderr
        streams = (self.process.stdout, self.process.stderr)
        self._readers = [threading.Thread(target=self._read, args=(stream,), daemon=True) for stream in streams]
        for reader in self._readers:
            reader.start()
        try:
            self.port = int(self.wait_for(r"on port (\d+) of")[1])
        except AssertionError:
            self.close()
            raise

    def _read(self, stream: Any) -> None:
        with stream:
            for line in stream:
                SESSION.note(Output.PROCESS, line)
                self.printed.append(line.rstrip("\n"))

    def wait_for(self, pattern: str) -> re.Match[str]:
        deadline = time.monotonic() + WAIT_S
        while time.monotonic() < deadline and self.process.poll() is None:
            if found := re.search(pattern, "\n".join(self.printed), re.MULTILINE):
                return found
            time.sleep(0.02)
        raise AssertionError(f"{pattern!r} was not printed: {self.printed}")

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        """The status and JSON body of a request, sent again until the server's process listens."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=WAIT_S)) as connection:
            text = None if body is None else json.dumps(body)
            json_headers = {"content-type": "application/json", "accept": "application/json"}
            connection.request(method, path, body=text, headers={**json_headers, **sent})
            response = connection.getresponse()
            return response.status, json.loads(response.read())

    def page(self, path: str) -> tuple[int, bytes, str]:
        """The status, the body and the policy of what a browser gets."""
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=WAIT_S)) as connection:
            connection.request("GET", path, headers={"accept": "text/html,*/*;q=0.8"})
            response = connection.getresponse()
            return response.status, response.read(), response.getheader("content-security-policy", "")

    def tools(self, name: str = "api/things", **headers: str) -> list[str] | int:
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
        status, answer = self.send("POST", f"/{name}/mcp", body, **headers)
        return [tool["name"] for tool in answer["result"]["tools"]] if status == 200 else status

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for reader in self._readers:
            reader.join(WAIT_S)


@contextmanager
def serving(*arguments: str, **environ: str) -> Iterator[Served]:
    served = Served(*arguments, **environ)
    try:
        yield served
    finally:
        served.close()


@pytest.fixture
def endpoint(workplace: Path) -> Path:
    return write_endpoint(workplace, FILES)


def with_config(url: str, more: str = "") -> Mapping[str, str]:
    config = FILES["config.yaml"].replace("https://things.example/graphql", url)
    return {**FILES, "config.yaml": config + more}


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_folder_is_served_until_a_signal_and_its_private_copy_removed(
    endpoint: Path, tmp_path: Path, workers: str, number: signal.Signals
) -> None:
    private = tmp_path / "private"
    private.mkdir()
    with serving(str(endpoint), "--workers", workers, TMPDIR=str(private)) as served:
        tools, copies = served.tools(), [*private.glob("stile-*")]
        code = interrupt(served.process, number)

    assert (tools, len(copies), code) == (["a"], 1, 0)
    assert [*private.glob("stile-*")] == []


@pytest.mark.parametrize("workers", ["1", "2"])
def test_server_whose_terminal_may_go_outlives_it(endpoint: Path, workers: str) -> None:
    """As ``nohup`` starts it: a signal that is ignored stays so in the process."""
    former = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with serving(str(endpoint), "--workers", workers) as served:
            served.tools()
            served.process.send_signal(signal.SIGHUP)
            tools = served.tools()
            code = interrupt(served.process, signal.SIGTERM)
    finally:
        signal.signal(signal.SIGHUP, former)

    assert (tools, code) == (["a"], 0)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_no_connection_is_taken_after_sigterm(workplace: Path, workers: str) -> None:
    """A call still runs, so the processes are still there."""
    released = threading.Event()

    def answer(_: Asked) -> Reply:
        released.wait(WAIT_S)
        return Reply({"data": {"a": "late"}})

    with running_api(answer) as api:
        folder = write_endpoint(workplace, with_config(api.url))
        with serving(str(folder), "--workers", workers, **LOCAL) as served:
            body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "a", "arguments": {}}}
            caller = threading.Thread(target=lambda: served.send("POST", "/api/things/mcp", body))
            caller.start()
            deadline = time.monotonic() + WAIT_S
            while not api.asked and time.monotonic() < deadline:
                time.sleep(0.02)
            served.process.send_signal(signal.SIGTERM)
            refused = is_refused(served.port, deadline_s=5)
            running = served.process.poll() is None
            released.set()
            caller.join(WAIT_S)

    assert (refused, running) == (True, True)


def is_refused(port: int, *, deadline_s: float) -> bool:
    """Tell if a port refuses connections within a time."""
    deadline = time.monotonic() + deadline_s
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except ConnectionRefusedError:
            return True
        time.sleep(0.1)
    return False


def test_folder_of_bundles_is_served(endpoint: Path, stile: Stile, tmp_path: Path) -> None:
    assert stile("build", str(endpoint), "--out", str(tmp_path / "bundles")).code == 0

    with serving(str(tmp_path / "bundles")) as served:
        assert served.tools() == ["a"]


def test_bundles_in_s3_are_served(endpoint: Path, moto: Moto) -> None:
    moto.add_bucket("served")
    aws = moto.add_user("server", {"Action": "s3:*", "Resource": "*"})
    assert ran("publish", str(endpoint), "s3://served/endpoints", **aws).code == 0

    with serving("s3://served/endpoints", **aws) as served:
        assert served.tools() == ["a"]
        assert served.tools("api/others") == 404


def test_endpoint_in_s3_that_trusts_an_authorizer_is_refused_at_start(workplace: Path, moto: Moto) -> None:
    moto.add_bucket("trusting")
    aws = moto.add_user("trusting", {"Action": "s3:*", "Resource": "*"})
    config = with_config("https://things.example/graphql", "identity: {trust_authorizer: [abc123]}\n")
    assert ran("publish", str(write_endpoint(workplace, config)), "s3://trusting/endpoints", **aws).code == 0

    refused = ran("serve", "s3://trusting/endpoints", "--port", "0", **aws)

    assert refused.code == 1
    assert "api/things: trust_authorizer names an API Gateway API" in refused.err


def test_bucket_that_may_not_be_listed_is_served_with_a_word_about_it(endpoint: Path, moto: Moto) -> None:
    moto.add_bucket("unlisted")
    writer = moto.add_user("unlisted-writer", {"Action": "s3:*", "Resource": "*"})
    assert ran("publish", str(endpoint), "s3://unlisted/endpoints", **writer).code == 0
    reader = moto.add_user("unlisted-reader", {"Action": "s3:GetObject", "Resource": "arn:aws:s3:::unlisted/*"})

    with serving("s3://unlisted/endpoints", **reader) as served:
        assert served.tools() == ["a"]
        assert any("may not be listed" in line for line in served.printed)


def test_caller_without_a_credential_is_not_the_development_principal(workplace: Path) -> None:
    closed = {
        **FILES,
        "config.yaml": 'upstream: {url: "https://things.example/graphql"}\naccess: {anonymous: challenge}\n',
    }

    with serving(str(write_endpoint(workplace, closed))) as served:
        assert served.tools() == 401


def test_other_names_of_the_server_are_refused_except_for_its_health(endpoint: Path) -> None:
    with serving(str(endpoint), "--public-url", "https://tools.example/", "--allowed-host", "Inner:9") as served:
        answers = {
            host: served.tools(Host=host)
            for host in ("tools.example", "tools.example:443", "inner:9", "TOOLS.example", "evil.example", "inner")
        }
        health = served.send("GET", "/health/live", Host="10.0.0.7")[0]

    assert answers == {
        "tools.example": ["a"],
        "tools.example:443": ["a"],
        "inner:9": ["a"],
        "TOOLS.example": ["a"],
        "evil.example": 421,
        "inner": 421,
    }
    assert health == 200


def test_forwarded_headers_of_strangers_change_nothing(workplace: Path) -> None:
    issuer = "identity: {issuer: 'https://idp.example', jwksendpoint: 'https://idp.example/keys', audience: [x]}\n"
    folder = write_endpoint(workplace, with_config("https://things.example/graphql", issuer))
    with serving(str(folder), "--public-url", "https://tools.example") as served:
        path = "/.well-known/oauth-protected-resource/api/things/mcp"
        status, told = served.send(
            "GET",
            path,
            Host="tools.example",
            X_Forwarded_Host="evil.example",
            X_Forwarded_Proto="http",
            Forwarded="host=evil.example",
        )

    assert (status, told["resource"]) == (200, "https://tools.example/api/things/mcp")


def test_running_call_ends_before_the_server_does(workplace: Path) -> None:
    released = threading.Event()

    def answer(_: Asked) -> Reply:
        released.wait(WAIT_S)
        return Reply({"data": {"a": "late"}})

    with running_api(answer) as api:
        folder = write_endpoint(workplace, with_config(api.url))
        with serving(str(folder), **LOCAL) as served:
            got: list[Any] = []
            body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "a", "arguments": {}}}
            caller = threading.Thread(target=lambda: got.append(served.send("POST", "/api/things/mcp", body)))
            caller.start()
            deadline = time.monotonic() + WAIT_S
            while not api.asked and time.monotonic() < deadline:
                time.sleep(0.02)
            served.process.send_signal(signal.SIGTERM)
            released.set()
            caller.join(WAIT_S)
            code = served.process.wait(WAIT_S)

    assert code == 0
    assert got[0][0] == 200
    assert "late" in str(got[0][1])


def test_each_request_has_the_line_of_the_function(endpoint: Path) -> None:
    with serving(str(endpoint)) as served:
        served.tools()
        line = json.loads(
            served.wait_for(r'^\{.*"message":"request"')[0] and served.wait_for(r'^(\{.*"message":"request".*)$')[1]
        )

    assert (line["endpoint"], line["status"], line["outcome"]) == ("api/things", 200, "ok")


def test_endpoint_that_trusts_an_authorizer_is_refused_at_start(workplace: Path, stile: Stile, tmp_path: Path) -> None:
    config = "identity: {trust_authorizer: [abc123]}\n"
    folder = write_endpoint(workplace, with_config("https://things.example/graphql", config))
    assert stile("build", str(folder), "--out", str(tmp_path / "bundles")).code == 0

    for source in (str(folder), str(tmp_path / "bundles")):
        refused = ran("serve", source, "--port", "0")
        assert refused.code == 1
        assert "api/things: trust_authorizer names an API Gateway API" in refused.err


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["nowhere"], 1, "nowhere: expected an endpoint folder, a folder of bundles, or s3://bucket/prefix"),
        ([".", "--host", "0.0.0.0"], 2, "can be reached from elsewhere: name the server's URL with --public-url"),
        ([".", "--trusted-proxy", "proxy"], 2, "'proxy': expected an address or a network"),
        ([".", "--trusted-proxy", "::/0"], 2, "'::/0': every caller would be a proxy"),
        ([".", "--workers", "0"], 2, "'0': expected a number from 1 to 64"),
        ([".", "--allowed-host", "*"], 2, "'*': expected a whole value of Host, as tools.example.com"),
        ([".", "--allowed-host", "https://tools.example"], 2, "expected a whole value of Host"),
        ([".", "--public-url", "https://tools.example:99999"], 2, "STILE_PUBLIC_URL"),
        ([".", "--public-url", "tools.example"], 2, "STILE_PUBLIC_URL"),
        (["s3://UPPER"], 1, "expected s3://bucket/prefix with a bucket's name"),
    ],
)
def test_what_cannot_be_served_is_said(endpoint: Path, arguments: list[str], code: int, said: str) -> None:
    refused = ran("serve", *(str(endpoint) if each == "." else each for each in arguments), "--port", "0")

    assert (refused.code, said in refused.err) == (code, True), refused.err
    assert "Traceback" not in refused.err
    assert "Serving" not in refused.err


def test_s3_without_a_region_is_refused_before_any_worker_starts(tmp_path: Path) -> None:
    nowhere = {"AWS_REGION": "", "AWS_DEFAULT_REGION": "", "AWS_CONFIG_FILE": str(tmp_path / "none")}

    refused = ran("serve", "s3://bucket/prefix", "--port", "0", "--workers", "2", **nowhere)

    assert refused.code == 2
    assert refused.err.startswith("AWS_REGION='': expected the region")


def test_endpoint_that_may_not_be_published_is_not_served(workplace: Path) -> None:
    folder = write_endpoint(workplace, with_config("http://127.0.0.1:9/graphql"))

    refused = ran("serve", str(folder), "--port", "0")

    assert refused.code == 1
    assert "its address is loopback" in refused.err


def test_taken_port_is_said(endpoint: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        refused = ran("serve", str(endpoint), "--port", str(port))

    assert (refused.code, f"Port {port} on 127.0.0.1 is in use" in refused.err) == (1, True)


def test_page_is_shown_if_asked_for_and_calls_from_it_are_served(endpoint: Path) -> None:
    rule = """rules: [{fields: [b], condition: "$jwt.role:String == 'hr'"}], policyDefault"""
    closed = {
        "operations/b.graphql": 'query B @mcpTool(name: "b") { b }',
        "config.yaml": CONFIG.replace("policyDefault", rule),
    }
    write_endpoint(endpoint.parents[1], closed)
    with serving(str(endpoint), "--page", "--public-url", "https://tools.example/base") as served:
        pages = [served.page(path) for path in ("/", "/api/things", "/api/absent", "/base/api/things")]
        own = [served.tools(origin=origin) for origin in (f"http://localhost:{served.port}", "https://tools.example")]
        other = served.tools(origin="https://evil.example")
        dev_only = [
            served.send("GET", f"/-/{name}", sec_fetch_site="same-origin")[0] for name in ("endpoints", "events")
        ]
        persona = served.tools(stile_caller="author", sec_fetch_site="same-origin")

    assert [status for status, *_ in pages] == [200] * 4
    assert len({(body, policy) for _, body, policy in pages}) == 1
    assert b'data-mode="serve"' in pages[0][1]
    assert "frame-ancestors 'none'" in pages[0][2]
    assert (own, other, dev_only) == ([["a"]] * 2, 403, [404, 404])
    assert persona == ["a"]
