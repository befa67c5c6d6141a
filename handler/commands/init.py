"""``stile init``: an endpoint folder, made from the schema of an API."""

from __future__ import annotations

import argparse
import os
import shlex
import stat
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from handler.commands.command_line import REFUSED, CommandRefused, UsageRefused
from handler.commands.console import announce, say, show_json, slow_work
from handler.commands.editor import SCHEMA_COMMENT, write_editor_files
from handler.commands.folders.atomic_writes import new_folder
from handler.commands.folders.endpoints import Outcome, compile_one, parse_endpoint_name, refuse_url
from handler.commands.questions import ask_user, can_ask, choose
from handler.commands.schema_source.schema_file import INDEX_WITH_TOOL, refuse_problems, write_schema
from handler.commands.schema_source.schema_reading import NO_FILE, USUAL_PATHS, read_sdl
from handler.commands.schema_source.source_options import (
    CREDENTIAL,
    EXPECTED,
    RequestHeaders,
    SchemaSource,
    SourceRefused,
    add_header_argument,
    add_source_argument,
    add_timeout_argument,
    joined_headers,
    parse_source,
    with_heading,
)
from handler.commands.schema_source.starters import Starter, best_starters, candidates
from handler.compiler.config.upstream import may_carry_key
from handler.compiler.schema.schema import AuthorSchema
from handler.compiler.source.files import CONFIG, ENTRY, ENV_FILE, SCHEMA_FILE, STEPZEN_CONFIG
from handler.graph.view import BUILT_IN_SCALARS
from handler.settings import SECRET_PREFIX
from handler.text.sentences import counted

EXAMPLES = ("stile init shop/products --from https://api.example.com/graphql --access keys",)
EXIT_CODES = {REFUSED: "no schema was read, or no folder was made"}

WHO = "Who may use the tools? open: everybody; keys: holders of API keys; identity: holders of your issuer's tokens."

ACCESS: Mapping[str, str] = {
    "open": "# Everybody may use all queries, and nobody may change anything.",
    "keys": "# For holders of API keys: `stile key NAME` makes a key, and prints lines that belong here.",
    "identity": "# For callers with a token of this issuer. They may use all queries, and change nothing.",
}
"""Access -> its comment in ``config.yaml``."""

ISSUER = {"issuer": "issuer", "jwks": "jwksendpoint", "audience": "audience"}
"""Option of ``--access identity`` -> its key in ``config.yaml``."""

REASON = "The API's own schema has it, as stile init found."

GITIGNORE = ".gitignore"
ENV = "# For `stile dev`, `stile call` and `stile serve` on this machine.\n{variable}=\n"

MAX_TRIALS = 12


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "target", type=new_target, metavar="NAME", help="the folder to make; its last two parts are the endpoint's name"
    )
    add_source_argument(parser, meaning="the URL of the API, or a file or URL of its SDL or an introspection's JSON")
    parser.add_argument("--url", type=_url, metavar="URL", help="the URL of the API, if the schema is from elsewhere")
    add_header_argument(parser)
    parser.add_argument("--access", choices=tuple(ACCESS), help="who may use the tools (default: ask, or keys)")
    parser.add_argument("--issuer", metavar="URL", help="for --access identity: the iss of tokens")
    parser.add_argument("--jwks", metavar="URL", help="for --access identity: the URL of the issuer's keys")
    parser.add_argument("--audience", metavar="TEXT", help="for --access identity: the aud of tokens")
    add_timeout_argument(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON document, and ask nothing")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Settings:
    """The settings of a new endpoint. ``issuer`` has the keys of ``identity``, if the access is for its tokens."""

    url: str
    access: str
    issuer: Mapping[str, str]
    credential: CallSecret | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSecret:
    """The secret that calls send in place of a header of ``-H``: ``upstream.auth``, and the variable that has it."""

    header: str
    auth: Mapping[str, str]
    variable: str
    written: str  # for a shell, such as "JWT $TOKEN"; empty if it was typed


def run(options: argparse.Namespace) -> int:
    target: Path = options.target
    headers = joined_headers(options.headers)
    try:
        require_free(target)
        source, settings = _answers(options)
        with slow_work(f"Reading the schema of {source.shown}"):
            asked = source.shown
            source, sdl = read_sdl(source, headers=headers, timeout_s=options.timeout, paths=USUAL_PATHS)
        if source.shown != asked:
            announce(f"{asked} answers no GraphQL, and {source.shown} does: the endpoint is made of that")
        url = settings.url or _url_of_api(source, asking=can_ask() and not options.json)
        is_asked = source.is_api and urlsplit(url)[:2] == urlsplit(source.shown)[:2]  # -H is for it, and no registry
        settings = replace(settings, url=url, credential=upstream_credential(headers) if is_asked else None)
        with slow_work("Writing and compiling the endpoint"), new_folder(target) as folder:
            starters, draft = _write_draft(folder, sdl, source, settings)
    except OSError as exc:
        cause = f"it cannot be made ({exc.strerror or 'it exists already'}): name a folder that you can write to"
        raise CommandRefused(f"{target.as_posix()}: {cause}") from exc
    report = {
        "endpoint": _endpoint(target),
        "folder": target.as_posix(),
        "source": source.shown,
        "url": settings.url,
        "access": settings.access,
        "secret": settings.credential.variable if settings.credential else None,
        **draft,
    }
    if options.json:
        show_json(report)
    else:
        steps = _steps_of_headers(shlex.quote(target.as_posix()), headers, settings.credential)
        _show(report, starters, steps, has_query_string="?" in source.text and source.is_url)
    return 0


def new_target(text: str) -> Path:
    refuse_url(text)
    parse_endpoint_name(_endpoint(text))
    return Path(text)


def _endpoint(target: Path | str) -> str:
    return "/".join(Path(os.path.abspath(target)).parts[-2:])  # noqa: PTH100 - a link must not be followed


def _url(text: str) -> str:
    source = parse_source(text)
    if not source.is_url:
        raise argparse.ArgumentTypeError("expected the http(s) URL of a GraphQL API")
    if "?" in source.text:
        raise argparse.ArgumentTypeError("a query string is written nowhere: expected the URL without it")
    return source.shown


def require_free(target: Path) -> None:
    """Refuse a path at which no endpoint can be made."""
    if os.path.lexists(target):
        is_endpoint = (target / ENTRY).is_file()
        remedy = "`stile pull` renews its schema" if is_endpoint else "Name a folder that is to be made"
        raise CommandRefused(f"{target.as_posix()} exists already: nothing was written. {remedy}")
    for above in Path(os.path.abspath(target)).parents:  # noqa: PTH100 - as written
        if any((above / name).is_file() for name in (ENTRY, STEPZEN_CONFIG)):
            cause = "is an endpoint folder itself: nothing was written. Make the new one beside it"
            raise CommandRefused(f"{above} {cause}")


def _answers(options: argparse.Namespace) -> tuple[SchemaSource, _Settings]:
    """Return the source and the settings that options or answers name."""
    asking = can_ask() and not options.json
    source = options.source
    if source is None and asking:
        source = ask_user("The URL of the API, or a file with its schema:", _existing_source)
    if source is None:
        raise UsageRefused(f"--from is missing: {EXPECTED}")
    url = options.url or ("" if source.is_url else _url_of_api(source, asking=asking))
    if options.access is None and asking:
        access = choose(f"{WHO}\nAccess:", tuple(ACCESS), default="keys")
    else:
        access = options.access or "keys"
    return source, _Settings(url=url, access=access, issuer=_issuer(options, access, asking=asking))


def _url_of_api(source: SchemaSource, *, asking: bool) -> str:
    """Return the URL for calls, where no option names it."""
    if source.is_api:
        return source.shown
    if not asking and not source.is_url and not os.path.lexists(source.text):
        raise UsageRefused(f"{source.named}: {NO_FILE}")
    if not asking:
        kind = "serves a document, and answers no GraphQL" if source.is_url else "is a file"
        raise UsageRefused(f"{source.named} {kind}: --url names the API that it is the schema of")
    return ask_user("The URL of the API, for calls:", _url)


def _existing_source(text: str) -> SchemaSource:
    source = parse_source(text)
    if not source.is_url and not os.path.lexists(source.text):
        raise argparse.ArgumentTypeError(f"{source.named}: {NO_FILE}")
    return source


def _issuer(options: argparse.Namespace, access: str, *, asking: bool) -> Mapping[str, str]:
    values = {name: getattr(options, name) for name in ISSUER}
    if access != "identity":
        extra = [f"--{name}" for name, value in values.items() if value]
        if extra:
            raise UsageRefused(f"{', '.join(extra)}: only --access identity takes it")
        return {}
    missing = [f"--{name}" for name, value in values.items() if not value]
    if missing and not asking:
        raise UsageRefused(f"--access identity needs {', '.join(missing)}")
    return {ISSUER[name]: value or ask_user(f"{name} of your tokens:", str) for name, value in values.items()}


def upstream_credential(headers: RequestHeaders) -> CallSecret | None:
    """Return what calls send in place of a header of ``-H``; ``None`` if no header has a credential."""

    def unlikeliness(name: str) -> tuple[bool, bool, bool]:
        return name.lower() != "authorization", not CREDENTIAL.search(name), not headers.written[name]

    names = [name for name, text in headers.written.items() if text or CREDENTIAL.search(name)]
    header = min((name for name in names if may_carry_key(name.lower())), key=unlikeliness, default="")
    if not header:
        return None
    written, scheme = headers.written[header], headers.fields[header].partition(" ")[0]
    own = written.rpartition("$")[2].strip("{}") or header.replace("-", "_").upper()
    name = own.removeprefix(SECRET_PREFIX)
    auth = {"header": header.lower(), "value": f"secret:{name}"}
    if header.lower() == "authorization" and scheme.lower() == "bearer":
        auth, written = {"bearer": f"secret:{name}"}, written.rpartition(" ")[2]
    return CallSecret(header=header, auth=auth, variable=f"{SECRET_PREFIX}{name}", written=written)


def _write_draft(
    folder: Path, sdl: str, source: SchemaSource, settings: _Settings
) -> tuple[Sequence[Starter], dict[str, Any]]:
    """Write an endpoint's files to an empty folder, and try them by compiling. Return the starters, and a report.

    The folder compiles without warnings. ``ignored`` has the codes of those about the API's schema, which config.yaml
    silences.

    Raises:
        SourceRefused: the schema has problems, so that no endpoint can be made of it.
        OSError: the files cannot be written.
    """
    author = write_schema(folder, with_heading(sdl, source), source)
    schema = author.schema
    write_file(folder, CONFIG, _config_text(settings, author))
    write_file(folder, GITIGNORE, f"{ENV_FILE}\n")
    if settings.credential:
        write_file(folder, ENV_FILE, ENV.format(variable=settings.credential.variable))
    trials = candidates(schema, author.hidden) if schema else []
    clean, outcome = _without_faults(folder, trials, source)
    starters = best_starters(clean)
    for starter in trials:
        if starter not in starters:
            (folder / starter.file).unlink(missing_ok=True)
    if not starters:  # one tool for all queries stands in
        with suppress(OSError):
            (folder / "operations").rmdir()
        query = schema.query_type.name if schema and schema.query_type else ""
        write_file(folder, ENTRY, INDEX_WITH_TOOL.replace("QUERY", query))
        outcome = compile_one(folder, stage=None, endpoint=None)
        _refuse_problems(outcome, source)
    ignored = sorted({each.code for each in outcome.warnings if each.file == SCHEMA_FILE})
    if ignored:
        write_file(folder, CONFIG, _config_text(settings, author, ignored=ignored))
    names = schema.type_map if schema else ()
    files = [SCHEMA_FILE, ENTRY, CONFIG, GITIGNORE, *([ENV_FILE] if settings.credential else [])]
    files += [*(starter.file for starter in starters), *write_editor_files(folder)]
    return starters, {
        "types": sum(name not in BUILT_IN_SCALARS and not name.startswith("__") for name in names),
        "files": files,
        "tools": [starter.tool for starter in starters],
        "ignored": ignored,
    }


def _config_text(settings: _Settings, author: AuthorSchema, *, ignored: Iterable[str] = ()) -> str:
    """Return the ``config.yaml`` of a new endpoint. ``ignored`` has codes of warnings to silence."""
    access: dict[str, Any] = {"anonymous": "allow" if settings.access == "open" else "challenge"}
    if settings.access != "keys":
        schema = author.schema
        query, mutation = (schema.query_type, schema.mutation_type) if schema else (None, None)
        condition = True if settings.access == "open" else "?$jwt"
        access["policies"] = [{"type": query.name if query else "", "policyDefault": {"condition": condition}}]
        access["policies"] += [{"type": mutation.name, "policyDefault": {"condition": False}}] if mutation else []
    upstream = {"url": settings.url, **({"auth": settings.credential.auth} if settings.credential else {})}
    parts = [f"{SCHEMA_COMMENT}\n{_yaml('upstream', upstream)}"]
    parts.append(f"{ACCESS[settings.access]}\n{_yaml('access', access)}")
    if settings.issuer:
        parts.append(_yaml("identity", settings.issuer))
    ignores = [{"code": code, "reason": REASON} for code in ignored]
    if ignores:
        parts.append(_yaml("checks", {"ignore": ignores}))
    return "\n".join(parts)


def _yaml(key: str, section: Mapping[str, Any]) -> str:
    return str(yaml.safe_dump({key: section}, sort_keys=False, allow_unicode=True, width=sys.maxsize))


def _without_faults(
    folder: Path, starters: Sequence[Starter], source: SchemaSource
) -> tuple[Sequence[Starter], Outcome]:
    """Write starters, and return those without problems and warnings, with the outcome of the last trial."""
    for starter in starters:
        write_file(folder, starter.file, starter.text)
    for _ in range(MAX_TRIALS):
        outcome = compile_one(folder, stage=None, endpoint=None)
        faulty = {problem.file for problem in (*outcome.problems, *outcome.warnings)}
        former, starters = starters, [each for each in starters if each.file not in faulty]
        if len(starters) == len(former):
            break  # one warning may be about several files, and name the first
        for starter in former:
            if starter not in starters:
                (folder / starter.file).unlink()
    _refuse_problems(outcome, source)
    return starters, outcome


def _refuse_problems(outcome: Outcome, source: SchemaSource) -> None:
    """Refuse the first problem, be it of the options that ``config.yaml`` has or of the schema."""
    in_config = [problem for problem in outcome.problems if problem.file == CONFIG]
    if in_config:
        raise SourceRefused(CONFIG, f"{in_config[0].sentence} [{in_config[0].code}]")
    refuse_problems(outcome.problems, source)


def write_file(folder: Path, name: str, text: str) -> None:
    """Write a file of a new endpoint. No other user may read the file of secrets."""
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8", newline="\n")
    if name == ENV_FILE:
        file.chmod(stat.S_IRUSR | stat.S_IWUSR)


def _steps_of_headers(folder: str, headers: RequestHeaders, credential: CallSecret | None) -> list[tuple[str, str]]:
    """Return the ways by which the values of headers get to calls: no file has one."""
    steps = []
    if credential:
        file, name = f"{folder}/{ENV_FILE}", credential.variable
        typed = f"put the secret of {credential.header} behind {name}=: what -H has is written nowhere"
        sends = f"""printf "%s='%s'\\n" {name} "{credential.written}" >> {file}"""
        meaning = f"give calls the secret of {credential.header}, which upstream.auth sends from there"
        steps.append((sends, meaning) if credential.written else (file, typed))
    others = [name for name in headers.fields if not credential or name != credential.header]
    if others:
        names = ", ".join(others)
        meaning = f"if calls need {names} of -H: auth sends one secret, and headers sends other values"
        steps.append(("upstream in config.yaml", meaning))
    return steps


def _show(
    report: Mapping[str, Any], starters: Sequence[Starter], steps: list[tuple[str, str]], *, has_query_string: bool
) -> None:
    target = Path(report["folder"])
    types = counted(report["types"], "type")
    say(f"{report['endpoint']}: {types} of {report['source']}, access: {report['access']}", "green")
    for file in report["files"]:
        say(f"  {(target / file).as_posix()}")
    if report["ignored"]:
        codes = ", ".join(report["ignored"])
        say(f"The API's schema has faults that its users can live with; config.yaml silences {codes}.", "yellow")
    if not starters:
        say(
            "No root field suits a starter tool, so one tool takes all queries: write operations of your own.", "yellow"
        )
    if has_query_string:
        say("The query string of the URL was sent and is written nowhere: `stile pull` needs the whole URL.", "yellow")
    folder = shlex.quote(target.as_posix())
    steps.append((f"stile dev {folder}", "serve the tools to MCP clients on this machine"))
    for each in starters:
        if all(argument.role in ("size", "next") for argument in each.takes):
            steps.append((f"stile call {folder} {each.tool}", "call a tool"))
            break
    steps.append((f"stile check {folder}", "see what each tool costs, and who gets in"))
    if report["access"] == "keys":
        steps.append(("stile key NAME", "make an API key, and put the printed lines into config.yaml"))
    from_where = " --from URL" if has_query_string else ""
    steps.append((f"stile pull {folder}{from_where}", "renew the schema when the API changes"))
    say("\nNext:")
    for command, meaning in steps:
        say(f"  {command}\n      {meaning}")
