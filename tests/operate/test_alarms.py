"""Incidents that are provoked, and the alarms that ring for them: computed from lines of the log and the templates.

Calls reach the function as events of API Gateway. The metrics of Lambda and API Gateway are those that AWS documents
for such answers; throttling alone, which no process of ours has a part in, is put without a call.
"""

from __future__ import annotations

import ast
import json
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import ValidationError

from handler.bundle.identity import Identity
from handler.compiler.compile import Compiled
from handler.storage.local import FolderStorage
from tests.docs.reference import page
from tests.infra.stack import Stack
from tests.server.mcp.calls.test_begun import lines_of
from tests.support.alarms import CloudWatch, computed, require_accepted
from tests.support.api import Api, Asked, Reply, running_api
from tests.support.emf import metrics_in
from tests.support.endpoints import PUBLIC, compiled
from tests.support.function import Answer, Context, Function, store
from tests.support.identities import HOLDER, api_key
from tests.support.issuers import Provider, ec_key, issuer_of
from tests.support.kits import TOOLS, with_kit
from tests.support.secrecy import SESSION, Output
from tests.support.started import started_function

FUNCTION, API_ID, ENDPOINT = "stile-prod", "a1b2c3d4e5", "api/things"
SDL = "type Query { me: String, count: Int!, wide: [String] } type Mutation { pay: String }"
FILES = {
    "index.graphql": SDL,
    "operations/me.graphql": 'query Me @mcpTool(name: "me") { me }',
    "operations/count.graphql": 'query Count($n: Int) @mcpTool(name: "sum") { count }',
}
SECRET = SESSION.keep("the endpoint's credential", "credential-of-the-api-4711")
DATA = {"data": {"me": "you", "count": 3}}
START = 1_800_000_000.0  # of an incident, on the clock of the simulated CloudWatch
NAMES = {"FunctionName": FUNCTION, "ApiId": API_ID}
VERSION = "7"
LATE_S = 70  # until values of a metric arrive: the newest minute never has any
NAMES_OF_RELEASE = {"HttpApi": API_ID, "StileFunction": FUNCTION, "ReleaseVersion.Version": VERSION}
STACK = Stack("template.yaml", {"Release": "a"}, attributes=NAMES_OF_RELEASE)


def alarms(metrics: str) -> dict[str, Any]:
    """The alarms of the template, for this setting of ``Metrics``."""
    found: dict[str, Any] = Stack("infra/observability.yaml", {**NAMES, "Metrics": metrics}).of_type(
        "AWS::CloudWatch::Alarm"
    )
    return found


@dataclass
class Scene:
    """The function behind its front door, the API behind the function, and CloudWatch."""

    folder: Path
    storage: FolderStorage
    api: Api
    capsys: pytest.CaptureFixture[str]
    cloudwatch: CloudWatch = field(default_factory=CloudWatch)
    lines: list[dict[str, Any]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    now: float = START
    pace_s: float = 15  # between requests

    def publish(self, *, config: str = "", identity: Identity | None = None) -> None:
        upstream = f"upstream: {{url: '{self.api.url}', timeout_s: 0.3, auth: {{bearer: env:K}}}}\n"
        made: Compiled = with_kit(
            compiled(self.folder, {**FILES, "config.yaml": config or f"{upstream}graphql: on\n{PUBLIC}"}), TOOLS
        )
        known = identity or Identity(issuers=(), api_keys=(api_key(),), trusted_apis=())
        store(self.storage, replace(made, bundle=replace(made.bundle, identity=known)))

    @contextmanager
    def function(self, location: str = "", *, remaining_ms: int = 29_000, **environ: Any) -> Iterator[Function]:
        given = {
            "AWS_LAMBDA_FUNCTION_NAME": FUNCTION,
            "STILE_ALLOW_LOCAL_UPSTREAMS": "true",
            "STILE_CODE_MODULES": TOOLS.partition(":")[0],
            "STILE_METRICS": "endpoint",
            "STILE_SECRET_K": SECRET,
            **environ,
        }
        with started_function(location or self.storage.location, f"/{ENDPOINT}/mcp", **given) as function:
            yield replace(function, context=Context(remaining_ms=remaining_ms))

    def ask(self, send: Callable[[], Answer], times: int = 20, *, every_s: float = 0) -> None:
        """Send a request again and again, and take what AWS and the function say of each."""
        for _ in range(times):
            answer = send()
            self.answers.append(answer)
            self.gateway(answer.status)
            self.invoked()
            self.read(self.capsys.readouterr().out)
            self.now += every_s or self.pace_s

    def read(self, printed: str) -> None:
        SESSION.note(Output.HANDLER_LOG, printed)
        for text in printed.splitlines():
            if "STILE_ALLOW_LOCAL_UPSTREAMS" in text:  # a warning of the start, for tests alone
                continue
            self.texts.append(text)
            self.lines.append(json.loads(text))
            self.cloudwatch.read(text, at=self.now)

    def gateway(self, status: int) -> None:
        """Count an answer of the HTTP API, and write its line of the access log."""
        for name, value in (("Count", 1), ("4xx", 400 <= status < 500), ("5xx", status >= 500)):
            self.cloudwatch.put("AWS/ApiGateway", name, {"ApiId": API_ID}, float(value), at=self.now)
        filters = STACK.of_type("AWS::Logs::MetricFilter")
        self.cloudwatch.filtered({"status": str(status)}, filters, at=self.now)

    def invoked(self, *, errors: int = 0, throttles: int = 0) -> None:
        """Count an invocation of the function, or a refusal to start it."""
        of_function = {"FunctionName": FUNCTION}
        of_version = {**of_function, "Resource": f"{FUNCTION}:live", "ExecutedVersion": VERSION}
        for name, value in (("Invocations", not throttles), ("Errors", errors), ("Throttles", throttles)):
            self.cloudwatch.put("AWS/Lambda", name, of_function, float(value), at=self.now)
            self.cloudwatch.put("AWS/Lambda", name, of_version, float(value), at=self.now)
        self.cloudwatch.put("AWS/Lambda", "ConcurrentExecutions", {}, 3.0, at=self.now)


@pytest.fixture
def scene(tmp_path: Path, folder_storage: FolderStorage, capsys: pytest.CaptureFixture[str]) -> Iterator[Scene]:
    with running_api(lambda _: Reply(DATA)) as api:
        yield Scene(tmp_path, folder_storage, api, capsys)


def calls(scene: Scene, tool: str = "me", times: int = 20, *, every_s: float = 0, **environ: Any) -> None:
    scene.publish()
    with scene.function(**environ) as function:
        scene.ask(lambda: function.call(tool, {}), times, every_s=every_s)


def answering(reply: Reply | Callable[[Asked], Reply], tool: str = "me", times: int = 20) -> Callable[[Scene], None]:
    def provoke(scene: Scene) -> None:
        scene.api.answer = reply if callable(reply) else lambda _: reply
        calls(scene, tool, times)

    return provoke


def graphql(code: str, **more: Any) -> Reply:
    return Reply({"data": None, "errors": [{"message": "No.", "path": ["me"], "extensions": {"code": code}}], **more})


def _slow(_: Asked) -> Reply:
    time.sleep(0.1)
    return Reply(DATA)


def _hanging(_: Asked) -> Reply:
    time.sleep(0.6)
    return Reply(DATA)


def breaking(scene: Scene) -> None:
    scene.api.answer = lambda _: Reply(b"", headers={"content-length": "100"})
    calls(scene)


def without_secret(scene: Scene) -> None:
    calls(scene, STILE_SECRET_K="")


def without_bucket(scene: Scene) -> None:
    with running_api(lambda _: Reply(b"", status=503)) as s3:
        aws: dict[str, Any] = {
            "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
            "AWS_SECRET_ACCESS_KEY": "s" * 40,
            "AWS_REGION": "eu-central-1",
        }
        with scene.function("s3://bucket/endpoints", **aws, AWS_ENDPOINT_URL=s3.url) as function:
            scene.ask(lambda: function.call("me", {}))


def without_bucket_of_that_name(scene: Scene) -> None:
    gone = b"<Error><Code>NoSuchBucket</Code><Message>The specified bucket does not exist</Message></Error>"
    with running_api(lambda _: Reply(gone, status=404)) as s3:
        aws: dict[str, Any] = {
            "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
            "AWS_SECRET_ACCESS_KEY": "s" * 40,
            "AWS_REGION": "eu-central-1",
        }
        with scene.function("s3://bucket/endpoints", **aws, AWS_ENDPOINT_URL=s3.url) as function:
            scene.ask(lambda: function.call("me", {}))


def with_another_prefix(scene: Scene, **environ: Any) -> None:
    (scene.folder / "nothing").mkdir()
    with scene.function(str(scene.folder / "nothing"), **environ) as function:
        scene.ask(lambda: function.call("me", {}))


def gone_after_it_was_served(scene: Scene) -> None:
    scene.publish()
    with scene.function(STILE_REFRESH_S="0") as function:
        scene.ask(lambda: function.call("me", {}), 3)
        shutil.rmtree(Path(scene.storage.location) / "api")
        scene.answers.clear()
        scene.ask(lambda: function.call("me", {}))


def without_key_set(scene: Scene) -> None:
    provider = Provider("https://login.example/", (ec_key(),))
    with running_api(lambda _: Reply(b"", status=500)) as login:
        issuer = issuer_of(provider, jwks_url=f"{login.url}/keys", algorithms=("ES256",))
        scene.publish(identity=Identity(issuers=(issuer,), api_keys=(), trusted_apis=()))
        headers = {"authorization": f"Bearer {provider.token()}"}
        with scene.function() as function:
            scene.ask(lambda: function.call("me", {}, headers=headers))


def with_withdrawn_keys(scene: Scene) -> None:
    scene.publish()
    with scene.function() as function:
        scene.ask(lambda: function.call("me", {}, headers={"x-api-key": "stile_withdrawn"}), 50, every_s=6)


def late(scene: Scene) -> None:
    scene.publish()
    with scene.function(remaining_ms=400) as function:
        scene.ask(lambda: function.call("slow", {}), 4)


def leaking(scene: Scene) -> None:
    _, lines = lines_of(scene.folder, *[("leak", {})] * 6, memory="256")
    for line in lines:
        scene.read(json.dumps({**line, "function": FUNCTION}))
        scene.gateway(200)
        scene.invoked()
        scene.now += 15


def killing(scene: Scene) -> None:
    _, lines = lines_of(scene.folder, *[("kill", {"secret": "none"})])
    for _ in range(3):
        for line in lines:
            scene.read(json.dumps(line))
        scene.gateway(500)
        scene.invoked(errors=1)
        scene.now += 15


def throttled_by_lambda(scene: Scene) -> None:
    for _ in range(20):
        scene.gateway(503)
        scene.invoked(throttles=1)
        scene.now += 15


def throttled_by_the_gateway(scene: Scene) -> None:
    for number in range(40):
        scene.gateway(429 if number % 2 else 200)
        scene.now += 7


def crowded(scene: Scene) -> None:
    for minute in range(10):
        at = START + minute * 60
        scene.cloudwatch.put("AWS/Lambda", "ConcurrentExecutions", {}, 950.0, at=at)


FIELD_GONE = [{"message": 'Cannot query field "me" on type "Query".', "locations": [{"line": 1, "column": 3}]}]
FAILING = {"UpstreamFailuresAlarm", "RareUpstreamFailuresAlarm"}
ERRORS = {"ApiErrorsAlarm", "RareApiErrorsAlarm"}
UNLOADED = {"RequestErrorsAlarm", "GatewayErrorsAlarm"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """What is provoked, the alarms of ``Metrics: function``, and whether the endpoint's own alarm names it as well.

    ``told`` is in the model's answer, ``reason`` begins the log's. Empty: no call reaches the function.
    """

    provoke: Callable[[Scene], None]
    rings: set[str]
    is_down: bool = False
    told: str = ""
    reason: str = ""
    level: str = "WARNING"


INCIDENTS: Mapping[str, Incident] = {
    "API answers 503": Incident(
        provoke=answering(Reply(b"<html>", status=503)),
        rings=FAILING,
        is_down=True,
        told="The API answered with status 503",
        reason="UpstreamStatus: 503",
    ),
    "API breaks connections": Incident(
        provoke=breaking, rings=FAILING, is_down=True, told="broke off", reason="UpstreamBroken"
    ),
    "API hangs": Incident(
        provoke=answering(_hanging), rings=FAILING, is_down=True, told="did not answer within", reason="UpstreamTimeout"
    ),
    "API is slow within its limit": Incident(provoke=answering(_slow), rings=set(), told="you", level="INFO"),
    "credential rotated, HTTP 401": Incident(
        provoke=answering(Reply({"message": "no"}, status=401)),
        rings=FAILING,
        is_down=True,
        told="The API refused the endpoint's own credential (status 401)",
        reason="UpstreamRefused: 401",
    ),
    "credential rotated, GraphQL with 200": Incident(
        provoke=answering(graphql("UNAUTHENTICATED")),
        rings=FAILING,
        is_down=True,
        told="The API refused the endpoint's own credential (UNAUTHENTICATED)",
        reason="UpstreamRefused: UNAUTHENTICATED",
    ),
    "resolvers fail, GraphQL with 200": Incident(
        provoke=answering(graphql("INTERNAL_SERVER_ERROR")),
        rings=ERRORS,
        is_down=True,
        told="INTERNAL_SERVER_ERROR",
        reason="GraphQLErrors: INTERNAL_SERVER_ERROR",
    ),
    "API limits, HTTP 429": Incident(
        provoke=answering(Reply(b"", status=429, headers={"retry-after": "30"})),
        rings={"UpstreamLimitsAlarm"},
        told="The API asks to wait 30 s.",
        reason="UpstreamLimit: 429",
    ),
    "API limits, GraphQL with 200": Incident(
        provoke=answering(graphql("THROTTLED")), rings={"UpstreamLimitsAlarm"}, told="No.", reason="UpstreamLimit"
    ),
    "field dropped": Incident(
        provoke=answering(Reply({"errors": FIELD_GONE}, status=400)),
        rings={"SchemaDriftAlarm"},
        told="its schema has changed since",
        reason="Drift: Query.me",
    ),
    "null where the schema has none": Incident(
        provoke=answering(Reply({"data": {"count": None}}), "sum"),
        rings={"SchemaDriftAlarm"},
        told="violates its published schema",
        reason="answer_schema",
    ),
    "four calls, all fail": Incident(
        provoke=answering(Reply(b"", status=503), times=4),
        rings=FAILING,
        is_down=True,
        told="The API answered with status 503",
        reason="UpstreamStatus",
    ),
    "storage unreachable at a cold start": Incident(
        provoke=without_bucket, rings=UNLOADED, told="cannot be loaded at the moment", level="ERROR"
    ),
    "bucket gone": Incident(
        provoke=without_bucket_of_that_name, rings=UNLOADED, told="cannot be loaded at the moment", level="ERROR"
    ),
    "prefix wrong, nothing published": Incident(
        provoke=with_another_prefix,
        rings={"MissingEndpointsAlarm"},
        told="there is no such endpoint",
    ),
    "endpoint gone that was served": Incident(
        provoke=gone_after_it_was_served,
        rings={"MissingEndpointsAlarm"},
        told="there is no such endpoint",
    ),
    "secret of the endpoint missing": Incident(
        provoke=without_secret,
        rings=FAILING,
        is_down=True,
        told="credential for the API was not available",
        reason="CredentialUnavailable",
    ),
    "key set of the issuer unreachable": Incident(provoke=without_key_set, rings=UNLOADED, told="", reason="key_set"),
    "all callers refused": Incident(
        provoke=with_withdrawn_keys, rings={"CallersRefusedAlarm"}, told="", reason="unknown_api_key"
    ),
    "tool in Python raises": Incident(
        provoke=lambda scene: calls(scene, "boom"),
        rings={"RequestErrorsAlarm"},
        is_down=True,
        told="Tool execution failed",
        reason="AuthorFailed",
    ),
    "tool outlives the deadline": Incident(
        provoke=late, rings={"RequestErrorsAlarm"}, is_down=True, told="timed out", reason="Expired"
    ),
    "tool leaks": Incident(provoke=leaking, rings={"MemoryAlarm"}),
    "tool ends its instance": Incident(
        provoke=killing, rings={"FunctionErrorsAlarm", "GatewayErrorsAlarm"}, level="INFO"
    ),
    "Lambda throttles": Incident(provoke=throttled_by_lambda, rings={"ThrottlesAlarm", "GatewayErrorsAlarm"}, level=""),
    "API Gateway throttles": Incident(provoke=throttled_by_the_gateway, rings={"GatewayThrottlesAlarm"}, level=""),
    "account runs out of instances": Incident(provoke=crowded, rings={"ConcurrencyAlarm"}, level=""),
}
LEVELS = ("", "INFO", "WARNING", "ERROR")


@pytest.mark.parametrize("name", INCIDENTS)
def test_incident_rings_its_alarms_and_no_others(scene: Scene, name: str) -> None:
    incident = INCIDENTS[name]
    incident.provoke(scene)
    ringing = scene.cloudwatch.ringing(alarms("endpoint"))

    assert set(scene.cloudwatch.ringing(alarms("function"))) == incident.rings
    assert set(scene.cloudwatch.ringing(alarms("function"), delay_s=LATE_S)) == incident.rings
    assert ringing.pop("EndpointDownAlarm", set()) == ({ENDPOINT} if incident.is_down else set())
    assert set(ringing) == incident.rings
    # What the model reads, and the line that leads to the endpoint.
    assert not scene.answers or any(incident.told in answer.body.decode() for answer in scene.answers)
    line = max(scene.lines, key=lambda line: LEVELS.index(line["level"]), default={"level": ""})
    assert line["level"] == incident.level
    assert incident.level == "" or line.get("endpoint", ENDPOINT) == ENDPOINT in "".join(scene.texts)
    assert incident.reason in str(line.get("reason"))
    assert SECRET not in str(scene.texts)


def healthy(scene: Scene) -> None:
    """Requests as clients and models send them, with mistakes of callers and answers about rows among them."""
    scene.publish()
    expired = Provider("https://login.example/", (ec_key(),)).token(exp=1)

    def answer(asked: Asked) -> Reply:
        return graphql("FORBIDDEN") if b"count" in asked.body else Reply(DATA)

    scene.api.answer = answer
    with scene.function() as function:
        requests: list[Callable[[], Answer]] = [
            lambda: function.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}}),
            lambda: function.request("tools/list"),
            *[lambda: function.call("me", {}, headers=HOLDER)] * 5,
            lambda: function.call("sum", {}),
            lambda: function.call("sum", {"n": "many"}),
            lambda: function.call("absent", {}),
            lambda: function.call("refuse", {}),
            lambda: function.call("me", {}, headers={"authorization": f"Bearer {expired}"}),
            lambda: function.graphql({"query": "{ nothing }"}),
            lambda: function.graphql({"query": "{ me }"}),
            lambda: function.send("GET", "/health"),
        ]
        for send in requests * 3:
            scene.ask(send, 1, every_s=10)


def test_healthy_traffic_rings_nothing(scene: Scene) -> None:
    healthy(scene)

    assert len(scene.answers) == 45
    assert scene.cloudwatch.ringing(alarms("endpoint")) == {}


def test_api_whose_every_answer_is_about_rows_rings_nothing(scene: Scene) -> None:
    answering(graphql("FORBIDDEN"))(scene)

    assert scene.cloudwatch.ringing(alarms("endpoint")) == {}
    assert {line["level"] for line in scene.lines} == {"INFO"}


def replayed(scene: Scene, reply: Reply, times: int) -> None:
    """Call once, and count the line for as many calls in five minutes."""
    scene.api.answer = lambda _: reply
    with scene.function() as function:
        function.call("me", {})
    *_, text = scene.capsys.readouterr().out.splitlines()
    for number in range(times):
        scene.cloudwatch.read(text, at=START + number * 300 / times)


@pytest.mark.parametrize(("good", "bad", "rings"), [(29_994, 6, False), (6, 2, False), (60, 3, False), (11, 3, True)])
def test_share_of_calls_rings_and_their_number_does_not(scene: Scene, good: int, bad: int, *, rings: bool) -> None:
    scene.publish()
    replayed(scene, Reply(DATA), good)
    replayed(scene, Reply(b"", status=503), bad)

    assert set(scene.cloudwatch.ringing(alarms("endpoint"))) == (FAILING if rings else set())


def test_tool_that_is_called_a_few_times_an_hour_and_always_fails_rings(scene: Scene) -> None:
    scene.api.answer = lambda _: Reply(b"", status=503)
    calls(scene, times=12, every_s=1_800)

    assert set(scene.cloudwatch.ringing(alarms("function"))) == {"RareUpstreamFailuresAlarm"}


@pytest.mark.parametrize(
    ("reply", "every_s", "period_s", "rings"),
    [
        (Reply(b"", status=503), 15, 300, FAILING),
        (Reply(b"", status=503), 1_800, 21_600, {"RareUpstreamFailuresAlarm"}),
        (graphql("INTERNAL_SERVER_ERROR"), 15, 300, ERRORS),
        (graphql("THROTTLED"), 15, 300, {"UpstreamLimitsAlarm"}),
    ],
    ids=["failures", "rare failures", "errors", "limits"],
)
def test_alarm_ends_when_its_period_has_calls_and_no_failure(
    scene: Scene, reply: Reply, every_s: float, period_s: float, rings: set[str]
) -> None:
    scene.api.answer = lambda _: reply
    calls(scene, times=8, every_s=every_s)
    recovered = scene.now
    scene.api.answer = lambda _: Reply(DATA)
    calls(scene, times=3 * int(period_s / every_s), every_s=every_s)
    by_period = {name: each for name, each in alarms("function").items() if f"'Period': {period_s}" in str(each)}

    assert set(scene.cloudwatch.ringing(alarms("function"))) == rings
    assert scene.cloudwatch.ringing(by_period, since=recovered + period_s + 60) == {}


def test_drifted_tool_does_not_hide_an_api_that_dies(scene: Scene) -> None:
    dead = False

    def answer(asked: Asked) -> Reply:
        return Reply(b"", status=503) if dead else Reply({"data": {"count": None, "me": "you"}})

    scene.api.answer = answer
    scene.publish()
    with scene.function() as function:
        scene.ask(lambda: function.call("sum", {}), 10)
        assert set(scene.cloudwatch.ringing(alarms("function"))) == {"SchemaDriftAlarm"}
        dead = True
        scene.ask(lambda: function.call("me", {}), 10)

    assert set(scene.cloudwatch.ringing(alarms("function"))) == {"SchemaDriftAlarm"} | FAILING


@pytest.mark.parametrize(
    ("incident", "rings"),
    [
        (lambda scene: calls(scene, AWS_LAMBDA_FUNCTION_VERSION=VERSION), set()),
        (lambda scene: calls(scene, "boom", AWS_LAMBDA_FUNCTION_VERSION=VERSION), {"ReleaseFailures"}),
        (lambda scene: with_another_prefix(scene, AWS_LAMBDA_FUNCTION_VERSION=VERSION), {"ReleaseUnserved"}),
        (killing, {"ReleaseErrors"}),
    ],
    ids=["healthy", "failing", "without bundles", "ending"],
)
def test_release_rings_an_alarm_by_which_it_is_rolled_back(
    scene: Scene, incident: Callable[[Scene], None], rings: set[str]
) -> None:
    scene.pace_s = 3  # alarms of a release look at one minute
    incident(scene)
    alarms_of_release = STACK.of_type("AWS::CloudWatch::Alarm")

    assert {"ReleaseFailures", "ReleaseUnserved", "ReleaseErrors"} <= set(alarms_of_release)
    assert set(scene.cloudwatch.ringing(alarms_of_release)) == rings
    assert set(scene.cloudwatch.ringing(alarms_of_release, delay_s=LATE_S)) == rings


def test_alarm_names_the_endpoint_that_is_down_and_not_its_neighbour(scene: Scene) -> None:
    scene.publish()
    with scene.function() as function, ExitStack() as stack:
        dead = stack.enter_context(running_api(lambda _: Reply(b"", status=503)))
        config = f"upstream: {{url: '{dead.url}'}}\n{PUBLIC}"
        other = compiled(scene.folder / "other", {**FILES, "config.yaml": config})
        renamed = replace(other, bundle=replace(other.bundle, endpoint="api/dead"))
        store(scene.storage, renamed)
        broken = replace(function, path="/api/dead/mcp")
        for _ in range(3):
            scene.ask(lambda: function.call("me", {}), 40, every_s=1)
            scene.ask(lambda: broken.call("me", {}), 1)

    ringing = scene.cloudwatch.ringing(alarms("endpoint"))
    assert ringing == {"EndpointDownAlarm": {"api/dead"}}
    assert scene.cloudwatch.ringing(alarms("function")) == {}


# The simulator


def test_alarm_on_metric_math_is_judged_as_cloudwatch_documents_it() -> None:
    cloudwatch = CloudWatch()
    alarm = alarms("function")["UpstreamFailuresAlarm"]
    of_function = {"function": FUNCTION}

    def put(name: str, times: int, *, at: float = START) -> None:
        for number in range(times):
            cloudwatch.put("Stile", name, of_function, 1.0, at=at + number)

    put("upstream_failures", 2)
    put("calls_run", 2)
    assert not cloudwatch.ringing({"a": alarm})
    put("upstream_failures", 1, at=START + 250)
    assert cloudwatch.ringing({"a": alarm}) == {"a": set()}
    put("calls_run", 20)  # now 3 of 22, and no longer a fifth
    assert not cloudwatch.ringing({"a": alarm})
    put("upstream_failures", 2, at=START + 900)  # in another period, without the three
    assert not cloudwatch.ringing({"a": alarm})


def test_period_without_a_value_is_passed_over_for_an_older_one() -> None:
    cloudwatch = CloudWatch()
    alarm = {"a": alarms("function")["RequestErrorsAlarm"]}
    cloudwatch.put("Stile", "errors", {"function": FUNCTION}, 1.0, at=START)
    cloudwatch.put("Stile", "calls_run", {"function": FUNCTION}, 1.0, at=START + 3_600)

    assert cloudwatch.ringing(alarm, since=START + 600)
    assert not cloudwatch.ringing(alarm, since=START + 960)


def test_gap_of_a_metric_is_filled_and_a_metric_without_any_value_is_not() -> None:
    node = ast.parse("10 / FILL(calls, 2)", mode="eval").body

    assert computed(node, {"calls": None}, exist={"calls": True}) == 5
    assert computed(node, {"calls": None}, exist={"calls": False}) is None
    assert computed(node, {"calls": 0.0}, exist={"calls": True}) is None
    with pytest.raises(AssertionError, match="not simulated"):
        computed(ast.parse("RATE(calls)", mode="eval").body, {"calls": 1.0}, exist={"calls": True})


SHARE, DOWN = alarms("endpoint")["UpstreamFailuresAlarm"], alarms("endpoint")["EndpointDownAlarm"]
REFUSED_ALARMS: Mapping[str, dict[str, Any]] = {
    "looks too far back": {**SHARE, "EvaluationPeriods": 289},
    "needs more periods than it judges": {**SHARE, "DatapointsToAlarm": 2},
    "returns no series, or several": {**SHARE, "Metrics": [{**each, "ReturnData": True} for each in SHARE["Metrics"]]},
    "has more than 10 metrics": {
        **SHARE,
        "Metrics": [*SHARE["Metrics"], *({**SHARE["Metrics"][0], "Id": f"more{number}"} for number in range(9))],
    },
    "returns what no alarm takes": {
        **DOWN,
        "Metrics": [{"Id": "down", "Expression": "SEARCH('{Stile,function} errors', 'Sum')", "Period": 300}],
    },
    "a query sees three hours": {**DOWN, "EvaluationPeriods": 37},
}


def test_page_of_costs_counts_the_metrics_that_alarms_watch() -> None:
    watched = sum(
        len([1 for one in each.get("Metrics", [{"MetricStat": {}}]) if "MetricStat" in one])
        for each in alarms("function").values()
    )

    assert f"each of the {watched} metrics that its" in page("operate/money").text


@pytest.mark.parametrize("fault", REFUSED_ALARMS)
def test_alarm_that_cloudwatch_does_not_take_is_refused(fault: str) -> None:
    with pytest.raises(AssertionError, match=fault):
        require_accepted(REFUSED_ALARMS[fault])


GOOD_LINE = {
    "_aws": {
        "Timestamp": int(time.time()) * 1_000,
        "CloudWatchMetrics": [
            {"Namespace": "Stile", "Dimensions": [["function"]], "Metrics": [{"Name": "errors", "Unit": "Count"}]}
        ],
    },
    "function": "stile",
    "errors": 1,
}
BAD_LINES: Mapping[str, dict[str, Any]] = {
    "a value that is a text": {**GOOD_LINE, "errors": "1"},
    "no value": {name: value for name, value in GOOD_LINE.items() if name != "errors"},
    "more values than CloudWatch takes": {**GOOD_LINE, "errors": [1] * 101},
    "no dimension": {name: value for name, value in GOOD_LINE.items() if name != "function"},
    "a dimension that is a number": {**GOOD_LINE, "function": 1},
    "an unknown unit": json.loads(json.dumps(GOOD_LINE).replace('"Count"', '"Calls"')),
    "no namespace": json.loads(json.dumps(GOOD_LINE).replace('"Namespace": "Stile", ', "")),
    "seconds in place of milliseconds": json.loads(json.dumps(GOOD_LINE).replace('000, "Cloud', ', "Cloud')),
    "dimensions that are not a list of lists": json.loads(
        json.dumps(GOOD_LINE).replace('[["function"]]', '["function"]')
    ),
    "a metric twice": json.loads(json.dumps(GOOD_LINE).replace('[["function"]]', '[["function"], ["function"]]')),
}


def test_line_of_the_specification_is_read() -> None:
    assert metrics_in(json.dumps(GOOD_LINE)) == {("errors", (("function", "stile"),)): [1.0]}


@pytest.mark.parametrize("fault", BAD_LINES)
def test_line_that_breaks_the_specification_is_refused(fault: str) -> None:
    with pytest.raises((AssertionError, KeyError, ValidationError)):
        metrics_in(json.dumps(BAD_LINES[fault]))
