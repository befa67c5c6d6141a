"""The function under AWS's runtime client, warmed, and copied where Lambda takes its snapshot.

python -m awslambdaric tests.support.copied.handler

A fork is a copy as a restore makes one but for four things: it ends threads, it shares the event loop's selector,
it seeds ``random`` anew, and it has another process id. So each copy takes a new event loop and the earlier state of
``random``, and ``SHIM`` gives all of them one process id. Warming makes it harder than Lambda does: there no request
comes before a snapshot.
"""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import random
import ssl
import uuid
from importlib import import_module
from typing import Any

from snapshot_restore_py import register_before_snapshot

from tests.support.function import Context

COPIES = {"at once": 0, "beside it": 0, "days later": 3 * 86_400}
"""Name of a copy -> the seconds that the wall clock is ahead of the snapshot's, while the monotonic one stood still."""

SHIM = """
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static long ahead_s;
void move_wall_clock(long seconds) { ahead_s = seconds; }
pid_t getpid(void) { return 8; }
int clock_gettime(clockid_t clock, struct timespec *found) {
    int failed = syscall(SYS_clock_gettime, clock, found);
    if (!failed && clock == CLOCK_REALTIME) found->tv_sec += ahead_s;
    return failed;
}
"""


def go_on_as_copies() -> None:
    """Return once in each copy, and end here when all copies have ended."""
    state = random.getstate()
    for name, ahead_s in COPIES.items():
        if not os.fork():
            random.setstate(state)
            begin_copy(name, ahead_s)
            return
    for _ in COPIES:
        os.wait()
    os._exit(0)


def begin_copy(name: str, ahead_s: int) -> None:
    """Make of this process the copy of that name."""
    told["copy"] = name
    asyncio.set_event_loop(asyncio.new_event_loop())
    if "LD_PRELOAD" in os.environ:
        ctypes.CDLL(None).move_wall_clock(ctypes.c_long(ahead_s))


def handler(event: Any, context: Any) -> dict[str, Any]:
    """Answer as the function does, with the name of this copy and numbers that it draws."""
    answer = function(event, context)
    drawn = {
        "random": random.getrandbits(64),
        "tls": ssl.RAND_bytes(16).hex(),
        "uuid": str(uuid.uuid4()),
        "kernel": os.urandom(16).hex(),
    }
    return {**told, "answer": answer, "drawn": drawn}


told: dict[str, Any] = {}

if "WARMED_WITH" in os.environ:  # else a test imports the names above
    # Hooks before a snapshot run in the reverse order, so this one comes after the function's.
    register_before_snapshot(go_on_as_copies)
    function = import_module("handler.lambda_function").handler
    ssl.RAND_bytes(1)  # as for TLS with storage
    function(json.loads(os.environ["WARMED_WITH"]), Context())
