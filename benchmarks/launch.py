"""Run one command and print what it took: nanoseconds, those of the processor, peak memory in bytes, exit code.

A program of its own, because Linux counts to a process's peak what its parent held when it started it. Run as
``python -I -S launch.py COMMAND ...`` this one holds less than any Python that is measured.
"""

import os
import sys
import time

BYTES_PER_UNIT = 1 if sys.platform == "darwin" else 1024
"""Of ``ru_maxrss``. Source: getrusage(2) of either system."""


def main() -> None:
    quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    started = time.perf_counter_ns()
    pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=quiet)
    _, status, usage = os.wait4(pid, 0)
    took = time.perf_counter_ns() - started
    computed = int((usage.ru_utime + usage.ru_stime) * 1e9)
    sys.stdout.write(f"{took} {computed} {usage.ru_maxrss * BYTES_PER_UNIT} {os.waitstatus_to_exitcode(status)}\n")


if __name__ == "__main__":
    main()
