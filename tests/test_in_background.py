"""These tests where a shell has started them in the background, which has all that it starts ignore SIGINT."""

from __future__ import annotations

import subprocess
import sys

from tests.conftest import ROOT

INTERRUPTING = "tests/examples/test_run.py::test_a_folder_of_your_own_is_served_without_the_demo"
"""A test that ends a process by SIGINT."""


def test_processes_that_tests_interrupt_end_in_the_background_too() -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", INTERRUPTING]

    done = subprocess.run(
        ["bash", "-c", "trap '' INT; exec \"$@\"", "bash", *command],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )

    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout
