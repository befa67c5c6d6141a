"""``stile key``: an API key, and the lines of config.yaml that let its holder in."""

from __future__ import annotations

import argparse
import hashlib
import secrets
import sys
from collections.abc import Mapping

import yaml

from handler.commands.console import say, show_json
from handler.server.auth.principal import KEY_PREFIX

EXAMPLES = ("stile key partner",)
EXIT_CODES: Mapping[int, str] = {}

KEY_BYTES = 32


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="the name by which the log knows the key")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead")


def run(options: argparse.Namespace) -> int:
    key = KEY_PREFIX + secrets.token_urlsafe(KEY_BYTES)
    digest = hashlib.sha256(key.encode()).hexdigest()
    if options.json:
        show_json({"name": options.name, "key": key, "sha256": digest})
        return 0
    say("The key, shown this once; give it to its holder:\n", "bold")
    say(f"  {key}\n")
    say("For config.yaml, which keeps only the digest:\n", "bold")
    # The console would expand a tab in the name.
    sys.stdout.write(lines_for_config(options.name, digest))
    return 0


def lines_for_config(name: str, digest: str) -> str:
    """Return the YAML that lets a key in, whatever characters the name has."""
    section = {"identity": {"api_keys": [{"name": name, "sha256": digest}]}}
    return str(yaml.safe_dump(section, sort_keys=False, width=sys.maxsize))
