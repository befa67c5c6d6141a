"""The log of a server: one JSON line a request, and lines on endpoints and settings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from logging import INFO
from typing import Any

from aws_lambda_powertools import Logger

from handler.errors.infrastructure import FunctionLacks
from handler.secret_variables import SecretArn
from handler.server.asgi.request_log import WARNING, level_of
from handler.server.metrics import METADATA, EncodedJson, Metrics, metrics_of
from handler.settings import Settings
from handler.strict_json import well_formed

MAX_REASON_CHARS = 2_000
"""Characters of a logged reason, because a bundle may name any number of modules."""


def make_logger(environ: Mapping[str, str]) -> Logger:
    """Return the logger of the process."""
    return Logger(service=environ.get("POWERTOOLS_SERVICE_NAME", "stile"), json_serializer=_json_line)


def log_trouble(logger: Logger, name: str, trouble: Exception) -> None:
    """Log that an endpoint was not loaded, or that the function lacks a part of it."""
    lacking = isinstance(trouble, FunctionLacks)
    what = "function lacks what the endpoint needs" if lacking else "endpoint not loaded"
    logger.error(what, endpoint=name, reason=str(trouble)[:MAX_REASON_CHARS])


def log_unread(logger: Logger, secret: SecretArn, reason: str) -> None:
    """Log that one of the owner's secrets was not read."""
    logger.error("secret not read", variable=secret.variable, arn=secret.arn, reason=reason)


def make_metrics(settings: Settings, environ: Mapping[str, str], logger: Logger) -> Metrics | None:
    """Return the metrics of the process; ``None`` if the settings turn them off, or the log leaves out lines.

    Metrics of those requests alone that failed would be worse than none.
    """
    choice = settings.metrics if logger.log_level <= INFO else "off"
    return metrics_of(environ, choice=choice, service=logger.service)


def write_line(
    logger: Logger, facts: Mapping[str, Any], *, failure: BaseException | None, metrics: Metrics | None = None
) -> None:
    """Log one request, with its metrics, and with the traceback of an unexpected error."""
    if metrics:
        facts = {**facts, **metrics.members(facts)}
    if failure is not None:
        logger.error("request", **facts, exc_info=failure)
    elif level_of(facts) == WARNING:
        logger.warning("request", **facts)
    else:
        logger.info("request", **facts)


def _json_line(line: dict[str, Any]) -> str:
    """Encode a line without half surrogate pairs, which exceptions may quote and streams refuse.

    ``taskName``, which records have from Python 3.12 on, is left out: it names the task of the event loop alone.
    """
    line.pop("taskName", None)
    metrics = line.pop(METADATA) if isinstance(line.get(METADATA), EncodedJson) else ""
    text = json.dumps(line, separators=(",", ":"), ensure_ascii=False, default=str)
    return well_formed(f'{text[:-1]},"{METADATA}":{metrics}}}' if metrics else text)
