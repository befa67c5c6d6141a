"""What a snapshot of a process must not freeze: Lambda SnapStart starts many containers from one, hours later.

A container's credentials, issuers' keys, tokens and secrets of endpoints are judged by the wall clock, which goes on,
so they need nothing here. Secrets of the owner's are read by each process itself.

Source: AWS Lambda developer guide, "Implement code before or after Lambda function snapshots".
"""

from __future__ import annotations

from collections.abc import Mapping

from handler.server.context.services import Services

SNAP_START = ("AWS_LAMBDA_INITIALIZATION_TYPE", "snap-start")


def renew_after_restore(services: Services, environ: Mapping[str, str]) -> None:
    """Have the runtime call ``renew`` after each restore, where there are snapshots."""
    name, value = SNAP_START
    if environ.get(name) == value:
        from snapshot_restore_py import register_after_restore  # in AWS's runtime

        register_after_restore(renew, services)


def renew(services: Services) -> None:
    """Give this process connections and secrets of its own, and have it ask storage before it answers."""
    services.http.close()
    services.endpoints.doubt()
    services.pseudonyms.renew()
    services.outgoing.own.clear()
