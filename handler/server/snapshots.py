"""Renewal of state after a restore: Lambda SnapStart starts many containers from one snapshot, hours later.

Container credentials, issuers' keys, tokens and secrets of endpoints expire by the wall clock, which goes on, so they
need no renewal. Each process reads the owner's secrets itself.

Source: AWS Lambda developer guide, "Implement code before or after Lambda function snapshots".
"""

from __future__ import annotations

from collections.abc import Mapping

from handler.server.context.services import Services

SNAP_START = ("AWS_LAMBDA_INITIALIZATION_TYPE", "snap-start")


def renew_after_restore(services: Services, environ: Mapping[str, str]) -> None:
    """Have the runtime call ``renew`` after each restore, if SnapStart is on."""
    name, value = SNAP_START
    if environ.get(name) == value:
        from snapshot_restore_py import register_after_restore  # in AWS's runtime

        register_after_restore(renew, services)


def renew(services: Services) -> None:
    """Give this process its own connections and secrets, and have it ask storage before it serves an endpoint."""
    services.http.close()
    services.endpoints.doubt()
    services.pseudonyms.renew()
    services.outgoing.own.clear()
