"""``python -m tests.conformance``: run the official suite, and print what passed; ``--write``: into RESULT.md too.

``--way http`` or ``--way events``: how the application is served.

Ends with 1 unless all required scenarios passed but those of the baseline.
"""

from __future__ import annotations

import argparse
import sys

from tests.conformance.fixture import WAYS
from tests.conformance.report import RESULT, judge_all, report
from tests.conformance.suite import is_installed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--way", choices=WAYS, default="events")
    options = parser.parse_args()
    if not is_installed():
        sys.stderr.write("The suite needs Node.js and its packages: `make conformance` installs them.\n")
        return 1
    verdicts = judge_all(options.way)
    text = report(verdicts)
    sys.stdout.write(text)
    if options.write:
        RESULT.write_text(text, encoding="utf-8")
    return 0 if all(verdict.code == 0 for verdict in verdicts.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
