"""Lambda SnapStart: many processes begin as copies of one snapshot, which may be months old.

A snapshot is taken after init, before any request. Keys of issuers, checked signatures and circuit breakers go by the
wall clock, which a restore does not stop, and need no hook. Authors' modules load with a first call, so a snapshot has
none of them.

Source: AWS Lambda developer guide, "Implement code before or after Lambda function snapshots" and "Handling uniqueness
with Lambda SnapStart".
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from handler.server.context.services import Services

SNAP_START = ("AWS_LAMBDA_INITIALIZATION_TYPE", "snap-start")

SEED_BYTES = 48


def renew_after_restore(
    services: Services, environ: Mapping[str, str], *, settle: Callable[[], None] = lambda: None
) -> None:
    """Have the runtime call ``let_go`` before a snapshot and ``renew`` after each restore, if SnapStart is on.

    ``settle`` waits for reads in other threads: each would give its connection back after the restore.
    """
    name, value = SNAP_START
    if environ.get(name) == value:
        from snapshot_restore_py import register_after_restore, register_before_snapshot  # in AWS's runtime

        register_before_snapshot(settle_and_let_go, services, settle)
        register_after_restore(renew, services)


def settle_and_let_go(services: Services, settle: Callable[[], None]) -> None:
    """Finish what other threads do, and keep no connection and no credential in the snapshot."""
    settle()
    let_go(services)


def let_go(services: Services) -> None:
    """Close connections, and forget secrets, tokens and credentials."""
    services.http.close()
    services.outgoing.forget()


def renew(services: Services) -> None:
    """Give this copy its own connections, secrets and random numbers. Storage confirms an endpoint before it serves."""
    let_go(services)
    services.endpoints.doubt()
    services.pseudonyms.renew()
    seed_generators()


def seed_generators() -> None:
    """Seed OpenSSL's generator, which makes the keys of TLS, and the one of ``random``: copies share their states.

    OpenSSL by itself seeds its generator again if the process id changes, and copies have one process id.
    """
    import random
    import ssl

    ssl.RAND_add(os.urandom(SEED_BYTES), 0.0)
    random.seed()
