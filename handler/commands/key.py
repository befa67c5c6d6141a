from __future__ import annotations

import argparse
import hashlib
import secrets

from handler.commands.console import say
from handler.server.principal import KEY_PREFIX

HELP = "Make an API key, and the lines for config.yaml that let it in."

KEY_BYTES = 32


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="the name by which the log knows the key")


def run(options: argparse.Namespace) -> int:
    key = KEY_PREFIX + secrets.token_urlsafe(KEY_BYTES)
    digest = hashlib.sha256(key.encode()).hexdigest()
    say("The key, shown this once; give it to its holder:\n", "bold")
    say(f"  {key}\n")
    say("For config.yaml, which keeps only the digest:\n", "bold")
    say(f'  identity:\n    api_keys:\n      - name: "{options.name}"\n        sha256: {digest}')
    return 0
