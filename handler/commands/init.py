"""``stile init``: an endpoint folder, made from the schema of an API."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from handler.bundle.model import ENDPOINT_NAME
from handler.commands.folders.atomic_writes import new_folder
from handler.commands.new_endpoint.config_file import ACCESS, EndpointSettings, Issuer
from handler.commands.new_endpoint.draft import Draft, write_draft
from handler.commands.questions import ask, can_ask, choose
from handler.commands.schema_source.header_options import RequestHeaders, add_header_argument, request_headers
from handler.commands.schema_source.origin import EXPECTED, SchemaSource, parse_source
from handler.commands.schema_source.refusal import SourceRefused, UsageRefused
from handler.commands.schema_source.schema_reading import NO_FILE, read_sdl
from handler.commands.schema_source.source_options import add_source_argument, add_timeout_argument, named_source
from handler.commands.terminal.console import announce, complain, say, show_json, slow_work
from handler.commands.terminal.exit_codes import REFUSED
from handler.compiler.source.files import ENTRY
from handler.compiler.source.project import EXPECTED_NAME, STEPZEN_CONFIG
from handler.text.sentences import counted

EXAMPLES = ("stile init shop/products --from https://api.example.com/graphql --access keys",)
EXIT_CODES = {REFUSED: "no schema was read, or no folder was made"}

WHO = "Who may use the tools? open: everybody; keys: holders of API keys; identity: holders of your issuer's tokens."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "target", type=_target, metavar="NAME", help="the folder to make; its last two parts are the endpoint's name"
    )
    add_source_argument(parser, meaning="the URL of the API, or a file with its SDL or the JSON of an introspection")
    parser.add_argument("--url", type=_url, metavar="URL", help="the URL of the API, if the schema is from a file")
    add_header_argument(parser)
    parser.add_argument("--access", choices=ACCESS, help="who may use the tools (default: ask, or keys)")
    parser.add_argument("--issuer", metavar="URL", help="for --access identity: the iss of tokens")
    parser.add_argument("--jwks", metavar="URL", help="for --access identity: the URL of the issuer's keys")
    parser.add_argument("--audience", metavar="TEXT", help="for --access identity: the aud of tokens")
    add_timeout_argument(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON document, and ask nothing")


def run(options: argparse.Namespace) -> int:
    try:
        headers = request_headers(options.headers)
        fault = _why_not(options.target)
        if fault:
            complain(fault)
            return 1
        source, settings = _answers(options)
        draft = _make(options.target, source, settings, headers, timeout_s=options.timeout)
    except UsageRefused as exc:
        complain(str(exc))
        return 2
    except SourceRefused as exc:
        complain(str(exc))
        return 1
    except OSError as exc:
        complain(f"{options.target.as_posix()}: {exc.strerror or 'it exists already'}")
        return 1
    if options.json:
        show_json(_report(options.target, source, settings, draft))
    else:
        _show(options.target, source, settings, draft, headers=headers)
    return 0


def _make(
    target: Path, source: SchemaSource, settings: EndpointSettings, headers: RequestHeaders, *, timeout_s: float
) -> Draft:
    with slow_work(f"Reading the schema of {source.shown}"):
        sdl = read_sdl(
            source, headers=headers, timeout_s=timeout_s, warn=lambda cause: announce(f"{source.shown}: {cause}")
        )
    with slow_work("Writing and compiling the endpoint"), new_folder(target) as folder:
        return write_draft(folder, sdl, source, settings)


def _target(text: str) -> Path:
    path = Path(os.path.abspath(text))  # noqa: PTH100 - a link in its place must not be followed
    name = "/".join(path.parts[-2:])
    if not ENDPOINT_NAME.fullmatch(name):
        raise argparse.ArgumentTypeError(f'"{name}" is not an endpoint name: {EXPECTED_NAME}')
    return Path(text)


def _url(text: str) -> str:
    source = named_source(text)
    if not source.is_url:
        raise argparse.ArgumentTypeError("expected the http(s) URL of a GraphQL API")
    if "?" in source.text:
        raise argparse.ArgumentTypeError("a query string is written nowhere: expected the URL without it")
    return source.shown


def _why_not(target: Path) -> str:
    """Return a sentence if no endpoint can be made at the path; empty string if one can."""
    if os.path.lexists(target):
        return f"{target.as_posix()} exists already: nothing was written. `stile pull` renews its schema"
    for above in Path(os.path.abspath(target)).parents:  # noqa: PTH100 - as written
        if any((above / name).is_file() for name in (ENTRY, STEPZEN_CONFIG)):
            return f"{above} is an endpoint folder itself: nothing was written. Make the new one beside it"
    return ""


def _answers(options: argparse.Namespace) -> tuple[SchemaSource, EndpointSettings]:
    """Return the source and the settings that options or answers name."""
    asking = can_ask() and not options.json
    source = options.source or (_asked_source() if asking else None)
    if source is None:
        raise UsageRefused(f"--from is missing: {EXPECTED}")
    if source.is_url and options.url:
        raise UsageRefused("--url is for a schema from a file: --from names the API already")
    url = source.endpoint_url or options.url or (_asked_url() if asking else "")
    if not url and not os.path.lexists(source.text):
        raise UsageRefused(f"{source.named}: {NO_FILE}")
    if not url:
        raise UsageRefused(f"{source.named} is a file: --url names the API that it is the schema of")
    if options.access is None and asking:
        access = choose(f"{WHO}\nAccess:", ACCESS, default="keys")
    else:
        access = options.access or "keys"
    return source, EndpointSettings(url=url, access=access, issuer=_issuer(options, access, asking=asking))


def _asked_source() -> SchemaSource:
    while True:
        try:
            source = parse_source(ask("The URL of the API, or a file with its schema:"))
        except ValueError as exc:
            complain(str(exc))
            continue
        if source.is_url or os.path.lexists(source.text):
            return source
        complain(f"{source.named}: {NO_FILE}")


def _asked_url() -> str:
    while True:
        try:
            return _url(ask("The URL of the API, for calls:"))
        except argparse.ArgumentTypeError as exc:
            complain(str(exc))


def _issuer(options: argparse.Namespace, access: str, *, asking: bool) -> Issuer | None:
    given = {"--issuer": options.issuer, "--jwks": options.jwks, "--audience": options.audience}
    if access != "identity":
        extra = [name for name, value in given.items() if value]
        if extra:
            raise UsageRefused(f"{', '.join(extra)}: only --access identity takes it")
        return None
    missing = [name for name, value in given.items() if not value]
    if missing and not asking:
        raise UsageRefused(f"--access identity needs {', '.join(missing)}")
    values = {name: value or ask(f"{name.removeprefix('--')} of your tokens:") for name, value in given.items()}
    return Issuer(issuer=values["--issuer"], jwks_url=values["--jwks"], audience=values["--audience"])


def _report(target: Path, source: SchemaSource, settings: EndpointSettings, draft: Draft) -> dict[str, Any]:
    return {
        "endpoint": _endpoint(target),
        "folder": target.as_posix(),
        "source": source.shown,
        "url": settings.url,
        "access": settings.access,
        "types": draft.types,
        "files": draft.files(),
        "tools": [starter.tool for starter in draft.starters],
        "ignored": list(draft.ignored),
    }


def _endpoint(target: Path) -> str:
    return "/".join(Path(os.path.abspath(target)).parts[-2:])  # noqa: PTH100 - as written


def _show(
    target: Path, source: SchemaSource, settings: EndpointSettings, draft: Draft, *, headers: RequestHeaders
) -> None:
    say(f"{_endpoint(target)}: {counted(draft.types, 'type')} of {source.shown}, access: {settings.access}", "green")
    for file in draft.files():
        say(f"  {(target / file).as_posix()}")
    if draft.ignored:
        codes = ", ".join(draft.ignored)
        say(f"The API's schema has faults that its users can live with; config.yaml silences {codes}.", "yellow")
    if not draft.starters:
        say(
            "No root field suits a starter tool, so one tool takes all queries: write operations of your own.", "yellow"
        )
    if _has_query_string(source):
        say("The query string of the URL was sent and is written nowhere: `stile pull` needs the whole URL.", "yellow")
    say("\nNext:")
    for command, meaning in _next_steps(target, source, settings, draft):
        say(f"  {command}\n      {meaning}")
    if headers:
        say("  upstream.auth in config.yaml\n      give the credential for calls: no header of -H was written")


def _has_query_string(source: SchemaSource) -> bool:
    return source.is_url and "?" in source.text


def _next_steps(
    target: Path, source: SchemaSource, settings: EndpointSettings, draft: Draft
) -> Iterator[tuple[str, str]]:
    folder = shlex.quote(target.as_posix())
    yield f"stile dev {folder}", "serve the tools to MCP clients on this machine"
    callable_tools = [
        each.tool for each in draft.starters if all(taken.role in ("size", "next") for taken in each.field.takes)
    ]
    if callable_tools:
        yield f"stile call {folder} {callable_tools[0]}", "call a tool"
    yield f"stile check {folder}", "see what each tool costs, and who gets in"
    if settings.access == "keys":
        yield "stile key NAME", "make an API key, and put the printed lines into config.yaml"
    from_where = " --from URL" if _has_query_string(source) else ""
    yield f"stile pull {folder}{from_where}", "renew the schema when the API changes"
