"""``stile adopt``: an endpoint folder, made from the folder of Apollo MCP Server or of Cosmo's router.

No value that may be a secret is copied. What to do about a setting that is not taken is in the table of
``compiler/config/foreign.py``.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import sys
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

from handler.commands.command_line import REFUSED, CommandRefused, UsageRefused
from handler.commands.console import say, show_json, slow_work
from handler.commands.editor import SCHEMA_COMMENT, write_editor_files
from handler.commands.folders.atomic_writes import new_folder
from handler.commands.folders.endpoints import compile_one
from handler.commands.init import ENV, GITIGNORE, REASON, new_target, require_free, upstream_credential, write_file
from handler.commands.schema_source.foreign_folder import (
    ForeignFolder,
    adopted_operations,
    find_foreign,
    foreign_schema,
)
from handler.commands.schema_source.schema_file import write_schema
from handler.commands.schema_source.schema_reading import read_sdl
from handler.commands.schema_source.source_options import (
    HEADER_NAME,
    RequestHeaders,
    add_header_argument,
    add_source_argument,
    add_timeout_argument,
    joined_headers,
    with_heading,
)
from handler.compiler.config.table import SCALAR_KEYS
from handler.compiler.config.upstream import NEVER_FORWARDED, header_fault
from handler.compiler.config.values import is_http_url
from handler.compiler.source.files import CONFIG, ENTRY, ENV_FILE, SCHEMA_FILE
from handler.strict_json import parse_json
from handler.text.sentences import counted

EXAMPLES = ("stile adopt weather", "stile adopt router shop/products --from https://api.example.com/graphql")
EXIT_CODES = {REFUSED: "no settings of another server or no schema was found, or no folder was made"}

PARTS = {"taken": "Taken", "left_out": "Without a counterpart", "decisions": "You decide"}
VARIABLE = re.compile(r"\$\{(?:env\.)?([A-Za-z_]\w*)[^}]*\}", re.ASCII)

IDENTIFYING = re.compile(r"(apollographql|graphql|x)-client(-name|-version)?|apollo-require-preflight|accept-language")
"""Headers whose values are never secret. Those of all others are not copied."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=_folder, metavar="FOLDER", help="the folder of the other server")
    meaning = "the folder to make, as shop/products (default: FOLDER-stile, beside FOLDER)"
    parser.add_argument("target", nargs="?", type=new_target, metavar="TO", help=meaning)
    parser.add_argument("--config", metavar="FILE", help="the configuration in FOLDER, if several files may be it")
    add_source_argument(parser, meaning="the API, or a file with its schema, if FOLDER has none")
    add_header_argument(parser)
    add_timeout_argument(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def run(options: argparse.Namespace) -> int:
    here = options.folder.resolve()
    try:
        beside = Path(os.path.relpath(here.parent), f"{here.name}-stile")
        target: Path = options.target or new_target(beside.as_posix())
    except argparse.ArgumentTypeError as exc:
        raise UsageRefused(f"TO, the folder to make, is missing: {exc}") from None
    require_free(target)
    if target.resolve().is_relative_to(here):
        raise CommandRefused(f"{target.as_posix()} is in the folder that stays as it is: name another one")
    foreign = find_foreign(options.folder, options.config)
    try:
        with slow_work("Writing and compiling the endpoint"), new_folder(target) as draft:
            report = {"folder": target.as_posix(), **_write_adopted(draft, foreign, options)}
    except OSError as exc:
        cause = f"it cannot be made ({exc.strerror or 'it exists already'}): name a folder that you can write to"
        raise CommandRefused(f"{target.as_posix()}: {cause}") from exc
    if options.json:
        show_json(report)
    else:
        _show_adopted(report)
    return 0


def _folder(text: str) -> Path:
    if not Path(text).is_dir():
        raise argparse.ArgumentTypeError(f"{text}: expected the folder of the other server's configuration")
    return Path(text)


def _write_adopted(draft: Path, foreign: ForeignFolder, options: argparse.Namespace) -> dict[str, Any]:
    """Write the files of an endpoint to an empty folder, compile it, and return a report."""
    source = options.source or foreign_schema(draft, foreign)
    foreign.take(f"{SCHEMA_FILE}, from {source.shown}", "schema", "execution_config", "router_config_path")
    source, sdl = read_sdl(source, headers=joined_headers(options.headers), timeout_s=options.timeout)
    schema = write_schema(draft, with_heading(sdl, source), source).schema
    operations = list(adopted_operations(foreign))
    upstream, variable = _upstream(foreign)
    own = {GITIGNORE: f"{ENV_FILE}\n", **({ENV_FILE: ENV.format(variable=variable)} if variable else {})}
    for name, text in (*operations, *own.items()):
        write_file(draft, name, text)
    config = _config(foreign, upstream, scalars=schema.type_map if schema else ())
    _write_config(draft, config)
    outcome = compile_one(draft, stage=None, endpoint=None)
    if ignored := sorted({each.code for each in outcome.warnings if each.file == SCHEMA_FILE}):
        _write_config(draft, {**config, "checks": {"ignore": [{"code": each, "reason": REASON} for each in ignored]}})
    for each in foreign.settings:
        if each.name in foreign.taken:
            continue
        if each.is_superfluous or not each.remedy:
            words = each.remedy.replace("remove it", "left out") or "left out: Stile has no setting of this name"
            foreign.left_out[each.name] = words
        elif foreign.at(each.name, object) is False:
            foreign.taken[each.name] = "false, as it is without a setting"
        else:
            foreign.decisions[each.name] = each.remedy
    foreign.decisions["access"] = "holders of API keys alone get in: `stile key NAME` makes a key"
    names = [CONFIG, ENTRY, SCHEMA_FILE, *own, *(name for name, _ in operations), *write_editor_files(draft)]
    return {
        "server": foreign.server,
        "config": foreign.name,
        "files": names,
        "tools": [made.tool.name for made in outcome.compiled.made] if outcome.compiled else [],
        "problems": len(outcome.problems),
        **{part: getattr(foreign, part) for part in PARTS},
    }


def _write_config(draft: Path, config: dict[str, Any]) -> None:
    text = yaml.safe_dump(config, sort_keys=False, allow_unicode=True, width=sys.maxsize)
    write_file(draft, CONFIG, f"{SCHEMA_COMMENT}\n{text}")


def _config(foreign: ForeignFolder, upstream: dict[str, Any], *, scalars: Collection[str]) -> dict[str, Any]:
    """Return the ``config.yaml`` of the endpoint."""
    tools = {"operations": "queries_and_mutations" if foreign.takes_mutations else "queries"}
    foreign.take(f"tools: {tools}".replace("'", ""), "mcp.exclude_mutations", "overrides.mutation_mode")
    config = {"upstream": upstream, "tools": tools, "access": {"anonymous": "challenge"}}
    if instructions := foreign.at("instructions"):
        config["instructions"] = instructions
        foreign.take("instructions", "instructions")
    if name := foreign.find(foreign.at("custom_scalars")):
        with suppress(ValueError, AttributeError):  # not an object of objects
            schemas = parse_json(foreign.read(name).encode())
            texts = {key: each.items() for key, each in schemas.items() if key in scalars}
            config["scalars"] = {key: {k: v for k, v in each if k in SCALAR_KEYS} for key, each in texts.items()}
            foreign.take("scalars, without the keys that Stile does not have", "custom_scalars")
    return config


def _upstream(foreign: ForeignFolder) -> tuple[dict[str, Any], str]:
    """Return ``upstream``, and the variable of its secret; empty if it has none."""
    upstream: dict[str, Any] = {}
    url = foreign.at("endpoint") or foreign.at("mcp.router_url")
    if is_http_url(url) and not set("@?$") & set(url):
        upstream["url"] = url
        foreign.take("upstream.url", "endpoint", "mcp.router_url")
    else:
        foreign.decisions["upstream.url"] = "write the URL of the API: there is none without a variable or a secret"
    of_apollo = {} if foreign.is_cosmo else foreign.at("headers", dict)  # those of Cosmo are rules for subgraphs
    headers = {name: str(value) for name, value in of_apollo.items()}
    variables = {name: f"${match[1]}" if (match := VARIABLE.search(headers[name])) else "" for name in headers}
    credential = upstream_credential(RequestHeaders(headers, variables, frozenset()))
    if credential:
        upstream["auth"] = credential.auth
        value = "what follows Bearer" if "bearer" in credential.auth else "its value"
        words = f"put {value} behind {credential.variable}= in .env; docs/upstream.md has the place for the function"
        foreign.decisions[f"headers.{credential.header}"] = words
    for name in (name for name in headers if not credential or name != credential.header):
        if IDENTIFYING.fullmatch(name.lower()) and not variables[name]:
            upstream.setdefault("headers", {})[name.lower()] = headers[name]
        else:
            setting = f"headers.{name}" if HEADER_NAME.fullmatch(name) else "headers"
            foreign.decisions[setting] = "if it is no secret, write it in upstream.headers; upstream.auth is one header"
    if headers:
        foreign.take("upstream.auth and upstream.headers", "headers")
    for name in map(str, foreign.at("forward_headers", list)):
        foreign.take("upstream.forward_headers", "forward_headers")
        if header_fault(name.lower()) or name.lower() in NEVER_FORWARDED:
            foreign.decisions[f"forward_headers: {name}"] = "write upstream.auth: {passthrough: …} for a credential"
        else:
            upstream.setdefault("forward_headers", []).append(name.lower())
    return upstream, credential.variable if credential else ""


def _show_adopted(report: dict[str, Any]) -> None:
    tools = counted(len(report["tools"]), "tool")
    say(f"{report['folder']}: {tools} of {report['config']}, for {report['server']}", "green")
    for file in report["files"]:
        say(f"  {report['folder']}/{file}")
    for part, heading in PARTS.items():
        if report[part]:
            say(f"\n{heading}:")
        for name, words in report[part].items():
            say(f"  {name}: {words}")
    if report["problems"]:
        say(f"\nThe new folder has {counted(report['problems'], 'problem')}.", "yellow")
    say(f"\nNext:\n  stile check {shlex.quote(report['folder'])}")
