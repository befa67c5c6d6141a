"""The function with its page behind an HTTP server, in a process of its own: ``python -m tests.page.function_front``.

The driver of the browser keeps an event loop in the process of the tests, and the function wants one there, too.
"""

from __future__ import annotations

import signal
import sys
from pathlib import Path

from handler.compiler.compile import compile_endpoint
from tests.support.front import running_front


def main(folder: Path) -> int:
    """Serve until SIGTERM."""
    with running_front(compile_endpoint(folder), page="function") as url:
        sys.stdout.write(f"{url}\n")
        sys.stdout.flush()
        signal.sigwait({signal.SIGTERM})
    return 0


if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    sys.exit(main(Path(sys.argv[1])))
