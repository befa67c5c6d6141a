"""``stile key``: an API key, and the lines of config.yaml that let its holder in."""

from __future__ import annotations

import argparse
import hashlib
import json
import secrets
import sys
import time
from collections.abc import Mapping
from contextlib import suppress

import yaml

from handler.commands.console import announce, say, show_json
from handler.compiler.config.identity import expiry_in
from handler.server.auth.principal import KEY_PREFIX
from handler.strict_json import JSONObject, parse_json

EXAMPLES = ('stile key partner --claims \'{"kind": "partner"}\' --expires 2030-01-31',)
EXIT_CODES: Mapping[int, str] = {}

KEY_BYTES = 32
SKIPS = "Its holder skips all policies, and the conditions and scopes of tools: --claims makes a key that they judge."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="the name by which the log knows the key")
    parser.add_argument("--claims", metavar="JSON", type=_claims, help="the claims by which policies judge the holder")
    parser.add_argument("--expires", metavar="DATE", type=_expiry, help="the end of the key, in ISO 8601")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead")


def run(options: argparse.Namespace) -> int:
    key = KEY_PREFIX + secrets.token_urlsafe(KEY_BYTES)
    digest = hashlib.sha256(key.encode()).hexdigest()
    given = {"expires": options.expires, "claims": options.claims}
    entry = {"name": options.name, "sha256": digest, **{name: each for name, each in given.items() if each is not None}}
    if options.json:
        show_json({"key": key, **entry})
        return 0
    say("The key, shown this once; give it to its holder:\n", "bold")
    say(f"  {key}\n")
    say("For config.yaml, which keeps only the digest:\n", "bold")
    line = yaml.safe_dump(entry, default_flow_style=True, sort_keys=False, width=sys.maxsize)
    sys.stdout.write(f"identity:\n  api_keys:\n    - {line}")  # the console would expand a tab in the name
    announce(SKIPS if options.claims is None else "Policies, and conditions and scopes of tools, judge its holder.")
    return 0


def _claims(text: str) -> JSONObject:
    with suppress(ValueError):
        claims = parse_json(text.encode())
        json.dumps(claims, ensure_ascii=False).encode()  # refuses half a surrogate pair, as YAML does
        if isinstance(claims, dict):
            return claims
    raise argparse.ArgumentTypeError(f'{text!r}: expected a JSON object, as {{"kind": "partner"}}')


def _expiry(text: str) -> str:
    with suppress(ValueError):
        if expiry_in(text) > time.time():
            return text
    raise argparse.ArgumentTypeError(f"{text!r}: expected a date or time to come in ISO 8601, as 2030-01-31")
