"""Lambda SnapStart: many processes begin as copies of one snapshot, which may be months old.

A snapshot is taken after init, before any request. Keys of issuers, checked signatures and circuit breakers go by the
wall clock, which goes on meanwhile, and need no hook. Authors' modules load with a first call, so a snapshot has none.

Source: AWS Lambda developer guide, "Implement code before or after Lambda function snapshots" and "Handling uniqueness
with Lambda SnapStart".
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

from handler.server.context.caller import Services

SNAP_START = ("AWS_LAMBDA_INITIALIZATION_TYPE", "snap-start")

SEED_BYTES = 48


def renew_after_restore(
    services: Services,
    environ: Mapping[str, str],
    *,
    preload: Sequence[str] = (),
    settle: Callable[[], None] = lambda: None,
) -> None:
    """Have the runtime call ``prepare`` before a snapshot and ``renew`` after each restore, if SnapStart is on.

    ``preload``: the endpoints that init has loaded. ``settle`` waits for reads in other threads: each would give its
    connection back after the restore.
    """
    name, value = SNAP_START
    if environ.get(name) == value:
        from snapshot_restore_py import register_after_restore, register_before_snapshot  # in AWS's runtime

        register_before_snapshot(prepare, services, preload, settle)
        register_after_restore(renew, services)


def prepare(services: Services, preload: Sequence[str], settle: Callable[[], None]) -> None:
    """Load the modules of first calls, because nobody waits for a snapshot; keep no connection and no credential."""
    import asyncio
    import gc

    from handler.server.other_events import warm

    settle()
    asyncio.get_event_loop().run_until_complete(warm(services.endpoints, preload))
    let_go(services)
    gc.freeze()  # a collection would have Lambda load the memory of all that was imported


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
