"""Mistakes on the command line, as the commands tell them."""

from __future__ import annotations

import re

from tests.first_use.in_files import Make
from tests.first_use.judging import Mistake
from tests.first_use.workshop import ENDPOINT, Workshop

SCHEMA = f"{ENDPOINT}/schema.graphql"
OF_THE_API = ("--url", "https://api.corp.example/graphql")
TOKEN = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl"


def without_usage(printed: str) -> str:
    """Leave out what argparse prints before its error, which is the same for any mistake."""
    return re.sub(r"(?ms)\Ausage: .*?^(?=stile)", "", printed)


def _typed(*words: str) -> Make:
    return lambda shop: without_usage(shop.stile(*words))


def _with_secret(*words: str) -> Make:
    def make(shop: Workshop) -> str:
        shop.write(".env", f"STILE_SECRET_CORP={'0123456789abcdef' * 3}\n")
        return _typed(*words)(shop)

    return make


ON_COMMAND_LINES = (
    Mistake(
        number=32,
        title="the URL of the API as the folder of init",
        make=_typed("init", "https://api.corp.example/graphql"),
        place=r"argument NAME\b|https://api\.corp\.example/graphql",
        cause=r"https://api\.corp\.example/graphql|is a URL|is the URL",
        remedy=r"--from https://api\.corp\.example/graphql",
    ),
    Mistake(
        number=33,
        title="a folder that may not be written to",
        make=_typed("init", "/proc/corp/pay", "--from", SCHEMA, *OF_THE_API, "--access", "keys"),
        place=r"/proc/corp",
        cause=r"cannot be (made|written|created)|not writable|may not|permission",
        remedy=r"another (folder|place)|a folder (that|where|in which) |can write",
    ),
    Mistake(
        number=34,
        title="a kind of access that init does not know",
        make=_typed("init", "corp/pay", "--from", SCHEMA, *OF_THE_API, "--access", "public"),
        place=r"argument --access\b",
        cause=r"'public'",
        remedy=r"'?open'?, '?keys'?",
    ),
    Mistake(
        number=35,
        title="an argument of the tool as an option",
        make=_typed("call", "endpoints", "card", "--id", "1"),
        place=r"stile call: error: .*--id",
        cause=r"unrecognized arguments: --id|no option --id",
        remedy=r"\bid=1\b|\bid=",
    ),
    Mistake(
        number=36,
        title="a token in place of the file that holds it",
        make=_typed("call", "endpoints", "card", "id=1", "--token", TOKEN),
        place=r"--token",
        cause=r"(is|looks like) a token|expected (the name of )?a file",
        remedy=r"standard input|into a file|a file with",
    ),
    Mistake(
        number=37,
        title="claims as JSON in place of the file that holds them",
        make=_with_secret("token", "endpoints", "--claims", '{"sub": "ada"}'),
        place=r"--claims",
        cause=r'\{"sub": "ada"\}|is JSON',
        remedy=r"\bsub=ada\b|K=V|NAME=VALUE",
    ),
    Mistake(
        number=38,
        title="the folder of an endpoint before the name of a key",
        make=_typed("key", "endpoints", "billing"),
        place=r"stile key: error: .*billing",
        cause=r"unrecognized arguments: billing|one name|takes no folder",
        remedy=r"stile key billing|stile key NAME|takes no folder",
    ),
    Mistake(
        number=39,
        title="a code of a warning where explain takes a folder",
        make=_typed("explain", "untitled-tool"),
        place=r"untitled-tool",
        cause=r"there is no such folder|is (a|the) code",
        remedy=r"stile check --explain untitled-tool",
    ),
    Mistake(
        number=40,
        title="two branches where diff takes folders",
        make=_typed("diff", "main", "HEAD"),
        place=r'argument A: "main"|\bmain: ',
        cause="there is no such folder",
        remedy=r"git (worktree|archive|clone)|check(ed)? out",
    ),
    Mistake(
        number=41,
        title="the words of init behind new",
        make=_typed("new", "corp/pay", "--from", "https://api.corp.example/graphql"),
        place=r"stile new: error: .*--from",
        cause=r"unrecognized arguments: --from|no option --from",
        remedy=r"stile init",
    ),
    Mistake(
        number=42,
        title="publishing into the folder that is published",
        make=_typed("publish", "endpoints", "endpoints"),
        place=r"DESTINATION|\bendpoints(: | is | holds | has )",
        cause=r"same folder|(holds|has|with) .*(sources|index\.graphql|endpoints to publish)|FOLDER itself|is FOLDER",
        remedy=r"another folder|folder of its own|s3://|--create",
    ),
    Mistake(
        number=43,
        title="dev for another machine",
        make=_typed("dev", "endpoints", "--host", "0.0.0.0"),
        place=r"stile dev: error: .*--host",
        cause=r"unrecognized arguments: --host|no option --host",
        remedy=r"stile serve",
    ),
)  # fmt: skip
