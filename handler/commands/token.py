"""``stile token``: a test token of a caller, for `stile dev` and `stile call`."""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
from typing import Any

from handler.commands.command_line import DONE, PAIR, REFUSED, UsageRefused
from handler.commands.console import announce, complain, show_json
from handler.commands.folders.endpoints import add_folder_arguments, compile_or_complain
from handler.commands.local.call_arguments import json_or_text, pair, require_single
from handler.commands.local.callers import caller_argument
from handler.commands.local.development_tokens import audiences_of, mint, require_issuer
from handler.errors.access import CredentialRefused
from handler.errors.authoring import KeyFileRefused
from handler.server.auth.tokens import parse_token
from handler.strict_json import JSONObject
from handler.text.sentences import some

EXAMPLES = ("stile token shop/products sub=ada role=manager --for 30m",)
EXIT_CODES = {REFUSED: "an endpoint has problems, or the secret cannot be used"}

DEFAULT_LIFE = "1h"
SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
MAX_LIFE_S = 7 * SECONDS["d"]

OWN_CLAIMS = ("iss", "iat", "nbf", "exp")
"""The claims that the command sets."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_folder_arguments(parser)
    parser.add_argument(
        "pairs",
        metavar=PAIR,
        nargs="*",
        type=_pair,
        default=[],
        help="a claim: JSON, else a text; it replaces the claim in the file",
    )
    parser.add_argument("--claims", metavar="FILE", type=_claims, default={}, help="a JSON file with the claims")
    parser.add_argument(
        "--for",
        dest="life_s",
        metavar="TIME",
        type=_life,
        default=DEFAULT_LIFE,
        help="how long the token is valid, as 30m, 1h or 7d, the longest (default: %(default)s)",
    )
    parser.add_argument(
        "--audience",
        metavar="TEXT",
        help="the claim aud; by default that of the claims, else the audience that identity expects",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def run(options: argparse.Namespace) -> int:
    require_single(options.pairs)
    compiled = compile_or_complain(options.folder, stage=options.stage, endpoint=options.endpoint)
    if not compiled:
        return REFUSED
    if len(compiled) > 1:
        names = some([one.bundle.endpoint for one in compiled], most=10)
        raise UsageRefused(f"A token is for one endpoint, and there are several: {names}. Name the folder of one.")
    (one,) = compiled
    claims = {**options.claims, **dict(options.pairs)}
    replaced = [name for name in OWN_CLAIMS if name in claims]
    audiences = [options.audience] if options.audience else list(audiences_of(one.bundle.identity))
    if audiences and (options.audience or "aud" not in claims):
        claims["aud"] = audiences if len(audiences) > 1 else audiences[0]
    now = int(time.time())
    claims |= {"iat": now, "nbf": now, "exp": now + options.life_s}
    try:
        issuer = require_issuer(one.env_file.parent, one.bundle.identity, environ=os.environ)
        text = mint(issuer, claims)
        parse_token(text)
    except KeyFileRefused as exc:
        complain(str(exc))
        return REFUSED
    except CredentialRefused:
        complain("The claims are too large or nested too deeply for a token.")
        return REFUSED
    if options.json:
        show_json({"endpoint": one.bundle.endpoint, "token": text, "claims": {**claims, "iss": issuer.issuer}})
        return DONE
    sys.stdout.write(f"{text}\n")
    ends = time.strftime("%H:%M:%S on %Y-%m-%d", time.localtime(claims["exp"]))
    announce(f"For {one.bundle.endpoint} on this machine, until {ends}, as Authorization: Bearer TOKEN.")
    if replaced:
        announce(f"The command sets {', '.join(replaced)} itself, exp by --for. `--as` takes the claims as they are.")
    return DONE


def _pair(word: str) -> tuple[str, Any]:
    name, text = pair(word)
    return name, json_or_text(text)


def _claims(text: str) -> JSONObject:
    if text.lstrip().startswith("{"):
        raise argparse.ArgumentTypeError(f"expected a JSON file, and this is JSON: {PAIR} gives a claim, as sub=ada")
    caller = caller_argument(text).known
    if caller is None or caller.claims is None:
        raise argparse.ArgumentTypeError(f"{text}: expected a JSON file with claims")
    return dict(caller.claims)


def _life(text: str) -> int:
    match = re.fullmatch(r"([0-9]{1,9})([smhd])", text)
    life_s = int(match[1]) * SECONDS[match[2]] if match else 0
    if not 0 < life_s <= MAX_LIFE_S:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a time such as 30m or 1h, up to 7d")
    return life_s
