"""The log of a server: one JSON line a request with its metrics, and lines on endpoints and settings.

CloudWatch makes metrics from members of a request's line (embedded metric format), which have the names of facts where
the line has the fact. No other module has the names of metrics and dimensions. Dimensions are bounded by the owner: a
caller's text never becomes one. An endpoint is in the line only after storage has returned it, so requests for made-up
paths count for the function alone.

Source: the Amazon CloudWatch guide, "Specification: Embedded metric format".
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from logging import INFO, LogRecord, makeLogRecord
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.logging.formatter import LambdaPowertoolsFormatter

from handler.cold.records import record
from handler.errors.calls import EndpointNotFound
from handler.errors.infrastructure import FunctionLacks, SettingsError
from handler.server.asgi.request_log import FOR_MAINTAINERS, WARNING, is_refused_caller, level_of, word_of
from handler.settings import SecretArn, Settings
from handler.strict_json import to_json_bytes, well_formed

MAX_REASON_CHARS = 2_000
"""Characters of a logged reason, because a bundle may name any number of modules."""


def make_logger(environ: Mapping[str, str]) -> Logger:
    """Return the logger of the process. Raise ``SettingsError`` for a level that does not exist."""
    try:
        return Logger(service=environ.get("POWERTOOLS_SERVICE_NAME", "stile"), logger_formatter=_Formatter())
    except ValueError as exc:
        level, expected = environ.get("POWERTOOLS_LOG_LEVEL", ""), "DEBUG, INFO, WARNING, ERROR or CRITICAL"
        raise SettingsError("POWERTOOLS_LOG_LEVEL", level, expected=expected) from exc


def log_trouble(logger: Logger, name: str, trouble: Exception) -> None:
    """Log that an endpoint was not loaded, or that the function lacks a part of it."""
    lacking = isinstance(trouble, FunctionLacks)
    message = "function lacks what the endpoint needs" if lacking else "endpoint not loaded"
    logger.error(message, endpoint=name, reason=str(trouble)[:MAX_REASON_CHARS])


def log_missing(logger: Logger, metrics: Metrics | None, name: str, absence: object) -> None:
    """Log that an endpoint is gone that was served or preloaded, or without a name, that storage has none to serve."""
    facts = {"endpoint": name} if name else {}
    members = metrics.of_event(MISSING) if metrics else {}
    logger.warning("endpoint missing" if name else "no endpoint", extra={**facts, "reason": str(absence), **members})


def log_unread(logger: Logger, secret: SecretArn, reason: str) -> None:
    """Log that one of the owner's secrets was not read."""
    logger.error("secret not read", variable=secret.variable, arn=secret.arn, reason=reason)


def log_begun(logger: Logger, facts: Mapping[str, Any], *, memory_mb: int = 0) -> None:
    """Log that an author's code begins. ``memory_mb``: the memory of the function; 0 elsewhere.

    If the code ends the process, no other line names it.
    """
    logger.info("begun", extra={_FACTS: {**facts, **_memory(memory_mb)}})


def make_metrics(settings: Settings, environ: Mapping[str, str], logger: Logger) -> Metrics | None:
    """Return the metrics of the process; ``None`` if the settings turn them off, or the log leaves out lines.

    Metrics of those requests alone that failed would be worse than none.
    """
    if settings.metrics == "off" or logger.log_level > INFO:
        return None
    function = environ.get("AWS_LAMBDA_FUNCTION_NAME", "")
    provisioned = environ.get("AWS_LAMBDA_INITIALIZATION_TYPE") == "provisioned-concurrency"
    cold = bool(function) and not provisioned  # nobody waits for the start of a server
    version = environ.get("AWS_LAMBDA_FUNCTION_VERSION", "").replace("$LATEST", "")  # a function without a release
    by_endpoint = settings.metrics in ("endpoint", "on")
    return Metrics(function or logger.service, version=version, by_endpoint=by_endpoint, cold=cold)


def write_line(
    logger: Logger,
    facts: Mapping[str, Any],
    *,
    failure: BaseException | None,
    metrics: Metrics | None = None,
    memory_mb: int = 0,
) -> None:
    """Log one request, with its metrics, its memory as ``log_begun``, and the traceback of an unexpected error."""
    line = {**facts, **_memory(memory_mb)}
    if metrics:
        line |= metrics.members(line)
    write = logger.info if failure is None else logger.error
    if failure is None and level_of(line) == WARNING:
        write = logger.warning
    write("request", extra={_FACTS: line}, exc_info=failure)


def _memory(whole_mb: int) -> dict[str, int]:
    """Return the most memory that the process has had, and its share of the whole if that is known."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # KiB; bytes on macOS
    peak_mb = peak >> (20 if sys.platform == "darwin" else 10)
    return {"memory_mb": peak_mb, **({MEMORY: peak_mb * 100 // whole_mb} if whole_mb else {})}


_FACTS = "facts"  # the member of a record with all facts of a request
_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, default=str).encode


class _Formatter(LambdaPowertoolsFormatter):
    """Powertools' formatter, with a short way for requests: Powertools looks at each member of a record many times."""

    def format(self, record: LogRecord) -> str:
        facts = getattr(record, _FACTS, {})
        if not facts or record.exc_info or self.thread_safe_get_current_keys():
            members = {name: value for name, value in vars(record).items() if name != _FACTS}
            return super().format(makeLogRecord({**members, **facts}))
        line = {**self.log_format, "level": record.levelname, "location": f"{record.funcName}:{record.lineno}"}
        line |= {"message": record.msg, "timestamp": self.formatTime(record), **facts}
        line["xray_trace_id"] = self._get_latest_trace_id()
        return self.serialize({name: value for name, value in line.items() if value is not None})

    def serialize(self, log: Any) -> str:
        """Encode a line without half surrogate pairs, which exceptions may quote and streams refuse.

        ``taskName``, which records have from Python 3.12 on, is left out: it names the task of the event loop alone.
        """
        log.pop("taskName", None)
        metrics = log.pop(METADATA) if isinstance(log.get(METADATA), EncodedJson) else ""
        text = _encode(log)
        return well_formed(f'{text[:-1]},"{METADATA}":{metrics}}}' if metrics else text)


MAX_VALUES = 100
"""Values of one metric that CloudWatch takes in a line."""

MAX_DIMENSION_CHARS = 255

FAULTS = frozenset({"AuthorFailed", "CodeChanged", "DeadlinePassed", "Expired", "UpstreamError"})
"""First words of reasons that count as errors: the function or an author's code fails, and not the API."""

DRIFT = frozenset({"Drift", "UpstreamDocuments", "answer_schema"})
"""First words of reasons that count as drift: the API works, and has another schema or other documents."""

OTHERS = DRIFT | {"NotReady", "UpstreamLimit", "key_set", "no_verifier", "secret"}
"""First words of reasons for maintainers that count otherwise: as drift, as a limit, or as an error by their status."""

FAILURES = FOR_MAINTAINERS - FAULTS - OTHERS | {"CircuitOpen"}
"""First words of reasons that count as failures of the API."""

METRIC_OF_WORD: Mapping[str, str] = {
    **dict.fromkeys(FAILURES, "upstream_failures"),
    **dict.fromkeys(DRIFT, "schema_drift"),
    "UpstreamLimit": "upstream_limits",
}
"""First word of a reason about the API -> the metric that counts it."""

STREAK = 3
"""Calls in a row, of one instance, that all failed: their endpoint is down."""


class EncodedJson(str):
    """JSON that a line takes as it is."""

    __slots__ = ()


class Metrics:
    """The metrics of a process. ``by_endpoint``: also those of each endpoint, which CloudWatch charges for each.

    ``version`` is Lambda's version of a release; empty string if there is none.
    """

    def __init__(self, function: str, *, version: str = "", by_endpoint: bool = True, cold: bool = True) -> None:
        self._function = dimension_value(function)
        self._version = {VERSION: version} if version else {}
        self._by_endpoint = by_endpoint
        self._cold = cold  # the next request is the first one of this process
        self._streaks: dict[str, int] = {}  # endpoint -> calls in a row that failed

    def warmed(self) -> None:
        """Take the process for warm: an event started it that no caller waited for."""
        self._cold = False

    def members(self, line: Mapping[str, Any]) -> dict[str, Any]:
        """Return the members that make metrics of a request's line; an empty dictionary if it has none.

        ``METADATA`` is ``EncodedJson``: it takes most of a line with metrics, and few lines differ in it.
        """
        cold, self._cold = self._cold, False
        if line.get("route") == "health":  # probes of a load balancer would hide the function's callers
            return {}
        values = values_of(line)
        if cold:
            values["cold_starts"] = 1
        if self._version and line.get("route") in CALLED:
            values[UNSERVED] = int(line.get("code") == EndpointNotFound.stile_code)
        if not values:
            return {}
        version = self._version if values.keys() & OF_VERSION else {}
        by_endpoint = self._by_endpoint and ENDPOINT in line
        if by_endpoint and CALLS in values:
            streak = self._streaks.get(line[ENDPOINT], 0) + 1 if values.keys() & FAILED else 0
            self._streaks[line[ENDPOINT]] = streak
            values[DOWN] = int(streak >= STREAK)
        directives = _directives(tuple(values), by_endpoint=by_endpoint, by_version=bool(version))
        return {FUNCTION: self._function, **version, **values, METADATA: _metadata(directives)}

    def of_event(self, name: str) -> dict[str, Any]:
        """Return the members that count one event beside requests, for the whole function."""
        return {FUNCTION: self._function, name: 1, METADATA: _metadata(_directives((name,)))}


def values_of(line: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metrics of a line, without those that are zero."""
    items: Sequence[Mapping[str, Any]] = line.get("calls") or (line,)
    status = line.get("status", 0)
    values: dict[str, Any] = {}
    for item in items:
        for name in _counted(item, line.get("route"), status):
            values[name] = values.get(name, 0) + 1
    if BUNDLE_AGE in line:
        values[BUNDLE_AGE] = line[BUNDLE_AGE]
    if CALLS in values:
        values |= {name: line[name] for name in ("duration_ms", "answer_bytes", MEMORY) if name in line}
    for name in ("upstream_ms", "answer_tokens"):
        numbers = [item[name] for item in items if name in item]
        if numbers:
            values[name] = numbers[0] if len(numbers) == 1 else numbers[:MAX_VALUES]
    return values


def dimension_value(text: str) -> str:
    """Return a text as the value of a dimension: printable ASCII that does not begin with a colon."""
    printable = "".join(each if " " <= each <= "~" else "?" for each in text[:MAX_DIMENSION_CHARS])
    return printable.lstrip(" :").rstrip() or "stile"


def _counted(item: Mapping[str, Any], route: Any, status: int) -> Iterable[str]:
    """Yield the metrics that a request, or an item of a batch, counts for."""
    word = word_of(item)
    refusal = _refusal(item)
    if item.get("outcome") == "failed" or word in FAULTS or (refusal and status >= 500):
        yield ERRORS
    elif refusal:
        yield refusal
        if is_refused_caller(item):
            yield "callers_refused"
    if item.get("decision") == "allowed" and (item.get("method") == "tools/call" or route in ("graphql", "tool")):
        yield CALLS
    if word in METRIC_OF_WORD:
        yield METRIC_OF_WORD[word]
    if "no_data" in item:
        yield "api_errors"
    if "truncated" in item:
        yield "answers_cut"
    if item.get("task") == "failed":
        yield "tasks_failed"


def _refusal(item: Mapping[str, Any]) -> str:
    """Return the metric of a refused request; empty string if the request was not refused."""
    outcome, decision = item.get("outcome"), item.get("decision")
    if outcome == "denied":
        return "refusals_credential"
    if decision == "denied":
        return "refusals_unknown"
    if outcome == "rejected":
        return "" if decision == "allowed" else "refusals_protocol"
    return "refusals_input" if decision == "refused" else ""


def _metadata(directives: str) -> EncodedJson:
    return EncodedJson(f'{{"Timestamp":{time.time_ns() // 1_000_000},"CloudWatchMetrics":{directives}}}')


@lru_cache(maxsize=256)
def _directives(names: tuple[str, ...], *, by_endpoint: bool = False, by_version: bool = False) -> str:
    """Return the member ``CloudWatchMetrics`` as JSON. All lines with the same metrics share it."""
    counted = [metric for metric in METRICS if metric.name in names]
    split = [metric for metric in counted if by_endpoint and metric.by_endpoint]
    whole = [metric for metric in counted if metric not in split]
    released = [metric for metric in counted if by_version and metric.name in OF_VERSION]
    sets = ((split, [[FUNCTION], [FUNCTION, ENDPOINT]]), (whole, [[FUNCTION]]), (released, [[FUNCTION, VERSION]]))
    directives = [
        {
            "Namespace": NAMESPACE,
            "Dimensions": dimensions,
            "Metrics": [{"Name": metric.name, "Unit": metric.unit} for metric in metrics],
        }
        for metrics, dimensions in sets
        if metrics
    ]
    return to_json_bytes(directives).decode()


NAMESPACE = "Stile"

METADATA = "_aws"
"""The member of a line that names its metrics, by CloudWatch's word."""

FUNCTION = "function"
"""The dimension of every metric: the name of the Lambda function, or the name of the service elsewhere."""

ENDPOINT = "endpoint"
"""The second dimension of the metrics ``by_endpoint``: ``folder/name`` of a published endpoint."""

VERSION = "version"
"""The second dimension of ``OF_VERSION`` in a release: Lambda's version. Alarms of a canary judge the new one alone."""

DIMENSIONS = (FUNCTION, ENDPOINT, VERSION)


@record(frozen=True, slots=True)
class Metric:
    """One metric. ``by_endpoint``: CloudWatch has it for each endpoint, too."""

    name: str
    unit: str
    by_endpoint: bool = False


CALLS = "calls_run"
ERRORS = "errors"
BUNDLE_AGE = "bundle_age_s"
MEMORY = "memory_percent"
DOWN = "endpoint_down"
MISSING = "endpoints_missing"
UNSERVED = "requests_unserved"
OF_VERSION = frozenset({ERRORS, UNSERVED})

CALLED = frozenset({"mcp", "graphql", "tool"})
"""The routes that an endpoint's clients call. Scanners of the Internet ask for other paths."""

FAILED = frozenset({"upstream_failures", "api_errors", ERRORS})
"""Metrics of a call that failed."""

METRICS = (
    Metric(CALLS, "Count", by_endpoint=True),
    Metric("duration_ms", "Milliseconds", by_endpoint=True),
    Metric("upstream_ms", "Milliseconds", by_endpoint=True),
    Metric("upstream_failures", "Count", by_endpoint=True),
    Metric("api_errors", "Count"),
    Metric("schema_drift", "Count"),
    Metric("upstream_limits", "Count"),
    Metric(ERRORS, "Count", by_endpoint=True),
    Metric("refusals_credential", "Count"),
    Metric("refusals_unknown", "Count"),
    Metric("refusals_input", "Count"),
    Metric("refusals_protocol", "Count"),
    Metric("answer_bytes", "Bytes"),
    Metric("answer_tokens", "Count"),
    Metric("answers_cut", "Count"),
    Metric("tasks_failed", "Count"),
    Metric("cold_starts", "Count"),
    Metric(BUNDLE_AGE, "Seconds"),
    Metric(MISSING, "Count"),
    Metric(UNSERVED, "Count"),  # 0 or 1 of each request
    Metric(MEMORY, "Percent"),
    Metric("callers_refused", "Count"),
    Metric(DOWN, "Count", by_endpoint=True),
)
