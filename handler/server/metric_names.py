"""The names of the metrics in the log: CloudWatch's namespace, dimensions, metrics and units. No other module has them.

Metrics and dimensions are members of a request's log line, and have the names of facts where the line has the fact.
"""

from __future__ import annotations

from typing import NamedTuple

NAMESPACE = "Stile"

METADATA = "_aws"
"""The member of a line that names its metrics, by CloudWatch's word."""

FUNCTION = "function"
"""The dimension of every metric: the name of the Lambda function, or the name of the service elsewhere."""

ENDPOINT = "endpoint"
"""The second dimension of the metrics ``by_endpoint``: ``folder/name`` of a published endpoint."""

VERSION = "version"
"""The second dimension of ``ERRORS`` in a release: Lambda's version. The alarm of a canary judges the new one alone."""

DIMENSIONS = (FUNCTION, ENDPOINT, VERSION)


class Metric(NamedTuple):
    """One metric. ``by_endpoint``: CloudWatch has it for each endpoint, too."""

    name: str
    unit: str
    by_endpoint: bool = False


CALLS = "calls_run"
DURATION = "duration_ms"
UPSTREAM_DURATION = "upstream_ms"
UPSTREAM_FAILURES = "upstream_failures"
ERRORS = "errors"
REFUSED_CREDENTIALS = "refusals_credential"
REFUSED_NAMES = "refusals_unknown"
REFUSED_INPUT = "refusals_input"
REFUSED_PROTOCOL = "refusals_protocol"
ANSWER_BYTES = "answer_bytes"
ANSWER_TOKENS = "answer_tokens"
ANSWERS_CUT = "answers_cut"
COLD_STARTS = "cold_starts"
BUNDLE_AGE = "bundle_age_s"

METRICS = (
    Metric(CALLS, "Count", by_endpoint=True),
    Metric(DURATION, "Milliseconds", by_endpoint=True),
    Metric(UPSTREAM_DURATION, "Milliseconds", by_endpoint=True),
    Metric(UPSTREAM_FAILURES, "Count", by_endpoint=True),
    Metric(ERRORS, "Count", by_endpoint=True),
    Metric(REFUSED_CREDENTIALS, "Count"),
    Metric(REFUSED_NAMES, "Count"),
    Metric(REFUSED_INPUT, "Count"),
    Metric(REFUSED_PROTOCOL, "Count"),
    Metric(ANSWER_BYTES, "Bytes"),
    Metric(ANSWER_TOKENS, "Count"),
    Metric(ANSWERS_CUT, "Count"),
    Metric(COLD_STARTS, "Count"),
    Metric(BUNDLE_AGE, "Seconds"),
)
