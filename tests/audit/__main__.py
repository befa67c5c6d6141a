"""``python -m tests.audit``: audit both GraphQL routes of the demo endpoint, and print how many checks passed.

Ends with 1 unless all of them did.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.audit.auditing import LEVELS, audit, is_installed, passed
from tests.audit.routes import ROUTES, audited_endpoint
from tests.clients.serving import serving
from tests.support.upstream import running_upstream


def main() -> int:
    if not is_installed():
        sys.stderr.write("The audit needs Node.js and its packages: `make audit` installs them.\n")
        return 1
    with (
        tempfile.TemporaryDirectory() as folder,
        running_upstream(Path(folder)) as upstream,
        serving(audited_endpoint(Path(folder), upstream.url)) as url,
    ):
        _say("route", *LEVELS)
        complete = [_audited(route, url) for route in ROUTES]
    return 0 if all(complete) else 1


def _audited(route: str, url: str) -> bool:
    findings = audit(url + route)
    counts = passed(findings)
    _say(route, *(f"{count}/{LEVELS[level]}" for level, count in counts.items()))
    for found in findings:
        if found.status != "ok":
            sys.stdout.write(f"  {found}\n")
    return counts == LEVELS


def _say(route: str, *cells: str) -> None:
    sys.stdout.write(f"{route:<40}" + "".join(f"{cell:>8}" for cell in cells) + "\n")


if __name__ == "__main__":
    sys.exit(main())
