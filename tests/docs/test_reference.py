"""The tables of ``docs/reference/`` and ``docs/cli.md``, held against the code in both directions."""

from __future__ import annotations

import argparse
import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from graphql import DocumentNode, build_schema, parse, print_ast, print_schema

from handler.bundle.tools import Limits
from handler.commands import COMMANDS, load_command, parser_of
from handler.commands.command_line import EXIT_CODES
from handler.compiler.json_schemas.scalars import NUMBER_KEYWORDS, TEXT_KEYWORDS
from handler.compiler.schema.directives import DEFINITIONS
from handler.compiler.schema.tool_options import SHARED_ARGUMENTS
from handler.errors import calls, consent_errors, cursor_errors, upstream
from handler.errors.authoring import CompileError
from handler.errors.calls import CallError, NotFound
from handler.server import health
from handler.server.asgi.request_log import FOR_MAINTAINERS, LEFT_OUT, ORDINARY_REFUSALS
from handler.server.log import DIMENSIONS, METRICS
from handler.server.mcp.jsonrpc import STILE_CODES, Rejected
from handler.settings import read_settings
from tests.conftest import ROOT
from tests.docs.accepted_keys import accepted_keys
from tests.docs.config_tables import with_tables
from tests.docs.reference import codes, first_codes, page, table, tables
from tests.infra.cloudformation import read_template
from tests.support.endpoints import compiled

CONFIG, DIRECTIVES, SETTINGS, LOG, CLI = map(
    page, ("reference/config", "reference/directives", "reference/settings", "reference/log", "cli")
)
KEYS = {codes(row[0])[0]: row for rows in tables(CONFIG.text) if rows[0][0] == "key" for row in rows[1:]}


# config.yaml


def test_keys_of_the_page_are_those_that_the_compiler_takes(tmp_path: Path) -> None:
    known = set(accepted_keys(tmp_path))

    assert set(KEYS) - known == set()
    assert known - set(KEYS) == set()


def test_defaults_of_the_page_are_what_an_endpoint_has_that_says_nothing(tmp_path: Path) -> None:
    bundle = compiled(tmp_path, {"index.graphql": "type Query { a: Int }"}).bundle
    is_ = {f"limits.{name}": getattr(bundle.limits, name) for name in Limits.__slots__}
    is_ |= {f"upstream.{name}": getattr(bundle.upstream, name) for name in ("timeout_s", "max_bytes", "documents")}

    assert {name: KEYS[name][2].strip("`") for name in is_} == {
        name: f"{value:g}" if isinstance(value, float) else f"{value}" for name, value in is_.items()
    }


def test_tables_of_the_page_are_those_of_the_code() -> None:
    assert CONFIG.text == with_tables(CONFIG.text)


def test_keywords_of_scalars_are_those_of_the_code() -> None:
    keywords = {name.rpartition(".")[2] for name in KEYS if name.startswith("scalars.NAME.")}
    assert keywords == {"type", *TEXT_KEYWORDS, *NUMBER_KEYWORDS}


@pytest.mark.parametrize("key", [key for key in KEYS if re.search(r"[\d.]+ to [\d.]+$", KEYS[key][1])])
def test_bounds_of_the_page_are_those_of_the_compiler(tmp_path: Path, key: str) -> None:
    least, most = re.findall(r"[\d.]+", KEYS[key][1])
    *above, name = key.split(".")

    def warnings(value: str) -> tuple[Any, ...]:
        text = f"{name}: {value}"
        for section in reversed(above):
            beside = ", issuer: x, jwksendpoint: 'https://a.b/c', audience: d" if section == "identity" else ""
            text = f"{section}: {{{text}{beside}}}"
        return compiled(tmp_path, {"index.graphql": "type Query { a: Int }", "config.yaml": text}).warnings

    warnings(least)
    warnings(most)
    for beyond in (f"-{least}" if float(least) else "-1", f"{most}0"):
        with pytest.raises(CompileError, match=f"{name}.: expected a number from {float(least):.9g} to"):
            warnings(beyond)


# Directives


def test_sdl_of_the_page_is_that_of_the_code() -> None:
    (block,) = (block.text for block in DIRECTIVES.blocks)
    shown = build_schema(f"{block}\ntype Query {{ unused: Int }}")

    assert _plain(parse(print_schema(shown))) == _plain(parse(print_schema(DEFINITIONS)))


def _plain(document: DocumentNode) -> list[str]:
    """Every definition without its description."""
    texts = (print_ast(node) for node in document.definitions)
    return sorted(re.sub(r'"""[\s\S]*?"""\s*', "", text) for text in texts)


def test_arguments_of_each_directive_are_told() -> None:
    shared = set(re.findall(r"^ *(\w+):", SHARED_ARGUMENTS, re.MULTILINE))
    told = {heading: set(first_codes(table(DIRECTIVES.section(heading), "argument", "meaning"))) for heading in (
        "## @sdl", "## @tool", "## @mcpTool", "## @mcpToolArg", "## @mcpBind", "## Shared arguments",
    )}  # fmt: skip

    assert told.pop("## Shared arguments") == shared
    for heading, names in told.items():
        definition = DEFINITIONS.get_directive(heading.removeprefix("## @"))
        assert definition is not None
        assert names == set(definition.args) - shared, heading


# Settings

VARIABLES = table(SETTINGS.text, "variable", "parameter", "default", "meaning")
PARAMETERS = table(SETTINGS.text, "parameter", "default", "sets")


class Asked(dict[str, str]):
    """An environment that notes the variables that are asked for."""

    def get(self, key: str, default: str = "") -> str:  # type: ignore[override] # all values are texts
        self[key] = default
        return "folder" if key == "STILE_BUNDLES" else default


def test_variables_of_the_page_are_those_that_the_function_reads() -> None:
    asked = Asked()
    read_settings(asked)
    powertools = {"POWERTOOLS_LOG_LEVEL", "POWERTOOLS_SERVICE_NAME"}

    assert sorted(first_codes(VARIABLES)) == sorted({*asked, "STILE_SECRET_…", *powertools})


def test_every_secret_by_name_is_read() -> None:
    assert read_settings({"STILE_BUNDLES": "folder", "STILE_SECRET_A": "x"}).secrets == {"A": "x"}


def test_parameters_of_variables_are_those_of_the_template() -> None:
    template = read_template("template.yaml")
    variables = template["Resources"]["StileFunction"]["Properties"]["Environment"]["Variables"]
    told = {codes(row[0])[0]: set(codes(row[1])) for row in VARIABLES}
    parameters = set(template["Parameters"])
    indirect = {"STILE_BUNDLES": {"BundlePrefix", "BucketName"}}  # the bucket by the stack of the storage

    assert {name: told[name] for name in variables} == {
        name: indirect.get(name, set(_references(value)) & parameters) for name, value in variables.items()
    }
    assert {name for name, named in told.items() if named} <= set(variables)


def test_template_parameters_are_all_told_with_their_defaults_and_variables() -> None:
    template = read_template("template.yaml")
    told = {codes(row[0])[0]: row for row in PARAMETERS}
    sets: dict[str, set[str]] = {}
    for row in VARIABLES:
        for parameter in codes(row[1]):
            sets.setdefault(parameter, set()).add(codes(row[0])[0])

    assert {name: (codes(row[1]) or [""])[0] for name, row in told.items()} == {
        name: str(parameter["Default"]) for name, parameter in template["Parameters"].items()
    }
    for name, row in told.items():
        named = {code for code in codes(row[2]) if re.fullmatch(r"(STILE|POWERTOOLS)_\w+", code)}
        assert named == sets.get(name, set()) - ({"STILE_BUNDLES"} if name == "BucketName" else set()), name


def test_outputs_of_the_page_are_those_of_the_template() -> None:
    assert first_codes(table(SETTINGS.text, "output", "is")) == list(read_template("template.yaml")["Outputs"])


def _references(value: Any) -> Iterator[str]:
    match value:
        case {"Ref": name}:
            yield name
        case dict():
            for each in value.values():
                yield from _references(each)
        case list():
            for each in value:
                yield from _references(each)


# The command


@pytest.mark.parametrize("name", COMMANDS)
def test_options_of_each_command_are_told(name: str) -> None:
    parser = argparse.ArgumentParser(prog=name, add_help=False)
    load_command(name).add_arguments(parser)
    there = {_shown(action) for action in parser._actions}
    listed = [rows for rows in tables(CLI.section(f"## {name}")) if rows[0] == ["option", "meaning"]]
    own = {code for rows in listed for code in first_codes(rows[1:])}
    shared = {
        codes(option)[0]
        for option, commands, _ in table(CLI.section("## Options of several commands"), "option", "of", "meaning")
        if (name in codes(commands)) != commands.startswith("all but ")
    }

    assert own | shared == there
    assert not own & shared


def _shown(action: argparse.Action) -> str:
    choices = f"{{{','.join(action.choices)}}}" if action.choices else ""
    value = action.metavar or choices or ("" if action.nargs == 0 else action.dest.upper())
    return " ".join(filter(None, [*action.option_strings, str(value)]))


def test_every_command_is_told() -> None:
    assert first_codes(table(CLI.text, "command", "does")) == list(COMMANDS)


def test_exit_codes_of_the_page_are_those_of_all_commands() -> None:
    told = {int(code): means for code, means in table(CLI.section("## Exit codes"), "code", "means")}

    assert told == EXIT_CODES


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_each_command_tells_its_exit_codes(name: str) -> None:
    command = load_command(name)
    _, _, told = parser_of(name, command).format_help().partition("exit codes:\n")
    lines = re.findall(r"^  (\d+) +(.+(?:\n {5,}.+)*)", told, re.MULTILINE)

    assert {int(code): " ".join(means.split()) for code, means in lines} == {**EXIT_CODES, **command.EXIT_CODES}


def test_commands_with_a_json_document_are_all_told() -> None:
    told = [code.split()[0] for code in first_codes(table(page("reference/json").text, "command", "members"))]

    assert list(dict.fromkeys(told)) == [
        name for name in COMMANDS if "--json" in parser_of(name, load_command(name)).format_help()
    ]


# The log


def test_facts_of_the_page_are_those_that_are_noted() -> None:
    told = set(first_codes(table(LOG.text, "fact", "of", "says")))
    of_the_logger = {"level", "message", "timestamp", "service", "location", "xray_trace_id"}
    of_every_line = {
        "release",
        "request_id",
        "gateway_request_id",
        "stile",
        "status",
        "duration_ms",
        "answer_bytes",
        "memory_mb",
    }
    of_begun = {"toolkit"}
    of_metrics = {"_aws", *DIMENSIONS, *(each.name for each in METRICS)}

    assert told == {*_keywords("note"), *of_the_logger, *of_every_line, *of_begun, *of_metrics, LEFT_OUT} - {"failure"}


def test_facts_of_a_batch_are_some_of_them() -> None:
    facts = {code: row for row in table(LOG.text, "fact", "of", "says") for code in codes(row[0])}

    assert set(codes(facts["calls"][2])) < set(facts)


def test_outcomes_of_the_page_are_those_of_the_code() -> None:
    told = first_codes(table(LOG.text, "outcome", "says"))
    of_mcp = {"asked", "ok", CallError.log_outcome, consent_errors.ConsentDeclined.log_outcome}

    assert set(told) == {*_literals("outcome"), *of_mcp, *health.STATUS_OF_REPORT}


def test_reasons_with_their_levels_are_those_of_the_code() -> None:
    rows = table(LOG.section("### The API"), "reason", "level", "the API")
    by_level: dict[str, set[str]] = {"`WARNING`": set(), "`INFO`": set()}
    for row in rows:
        by_level[row[1]] |= set(codes(row[0]))

    beside = {"AuthorFailed", "Expired", "key_set", "secret"}  # in words, beside the tables of the others
    assert by_level["`WARNING`"] == FOR_MAINTAINERS - beside
    assert by_level["`INFO`"] & FOR_MAINTAINERS == set()


def test_reasons_about_credentials_are_those_of_the_code() -> None:
    raised = {
        *_first_arguments("CredentialRefused"),
        *_first_arguments("KeysUnavailable"),
        *_literals("reason", "access.py"),
    }
    told = set(first_codes(table(LOG.section("### Credentials"), "reason", "the credential")))

    assert told == {_word(each) for each in raised} - (FOR_MAINTAINERS - {"secret"}) | {"key_set"}


def test_reasons_that_clients_cause_in_the_ordinary_course_are_those_of_the_code() -> None:
    told = LOG.section("### Credentials").partition("The level is `INFO` for")[2].partition(", which clients cause")[0]

    assert set(codes(told)) == ORDINARY_REFUSALS


def test_reasons_of_the_oauth_proxy_are_those_of_the_code() -> None:
    told = set(first_codes(table(LOG.section("### Sign-in through an OAuth proxy"), "reason", "the client")))

    assert told == {*_first_arguments("OAuthRefused"), "invalid_redirect_uri"}


def test_reasons_of_requests_and_of_the_api_are_the_classes_of_errors() -> None:
    told = {
        *first_codes(table(LOG.section("### Requests"), "reason", "the request")),
        *first_codes(table(LOG.section("### The API"), "reason", "level", "the API")),
    } - {"Not Found"}
    of_calls = _names_of(CallError) - {"CallError"}
    renamed = {"AnswerMisfit", "UpstreamFailure"}  # answer_schema; the words of ``Trouble``
    not_found = _names_of(NotFound) - {"NotFound"} | {"DocumentNotFound"}
    words = {*upstream.FAILURE_CODES, *_words_for_drift(), "answer_schema", "NotReady", "no_verifier"}
    of_messages = {Rejected(code, "").log_reason for code in (*STILE_CODES, -1)}
    of_messages |= {"BatchExceeded", "AuthorFailed", "Expired"}
    http = {"foreign origin", "foreign host", "foreign page", "encoded slash"}

    assert told == (of_calls - renamed) | not_found | words | of_messages | http
    assert http < {*_literals("reason")}


def test_every_word_of_the_page_is_a_word_of_the_code() -> None:
    code = "\n".join(path.read_text("utf-8") for path in (ROOT / "handler").rglob("*.py"))
    rows = [row for rows in tables(LOG.section("## Reasons")) for row in rows[1:]]

    of_messages = {Rejected(number, "").log_reason for number in STILE_CODES}
    assert [word for word in first_codes(rows) if word not in code and word not in {"Not Found", *of_messages}] == []


def test_lines_beside_requests_are_those_of_the_code() -> None:
    told = {message.partition(":")[0] for message in first_codes(table(LOG.text, "`message`", "level", "says"))}
    logged = (
        call for call in _calls() if ast.unparse(call.func).endswith(("logger.info", "logger.warning", "logger.error"))
    )
    written = {text.partition(":")[0] for call in logged for text in _texts(call.args[0])}
    troubles = {"endpoint not loaded", "function lacks what the endpoint needs"}  # by a name, in ``_log_trouble``

    assert told == written - {"request"} | troubles


def _names_of(root: type[Exception]) -> set[str]:
    """The errors of the product below one of them, and itself."""
    defined = {**vars(calls), **vars(consent_errors), **vars(cursor_errors), **vars(upstream)}
    return {name for name, each in defined.items() if isinstance(each, type) and issubclass(each, root)}


def _words_for_drift() -> set[str]:
    source = (ROOT / "handler" / "server" / "upstream" / "graphql_errors.py").read_text("utf-8")
    return set(re.findall(r'"(Drift|GraphQLErrors|UpstreamDocuments|UpstreamLimit)', source)) | {"GraphQLErrors"}


@cache
def _calls(pattern: str = "*.py") -> tuple[ast.Call, ...]:
    """Every call in the product."""
    trees = (ast.parse(path.read_text("utf-8")) for path in (ROOT / "handler").rglob(pattern))
    return tuple(node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call))


def _named(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _keywords(function: str) -> set[str]:
    """The keywords that calls of a function have anywhere in the product."""
    return {word.arg for call in _calls() if _named(call) == function for word in call.keywords if word.arg}


def _literals(keyword: str, pattern: str = "*.py") -> set[str]:
    """The texts that calls give for a keyword; of a text with values in it, its beginning."""
    given = (word.value for call in _calls(pattern) for word in call.keywords if word.arg == keyword)
    return {text for value in given for text in _texts(value)}


def _first_arguments(function: str) -> set[str]:
    return {text for call in _calls() if _named(call) == function and call.args for text in _texts(call.args[0])}


def _texts(value: ast.expr) -> Iterator[str]:
    match value:
        case ast.Constant(value=str() as text):
            yield text
        case ast.JoinedStr(values=[ast.Constant(value=str() as text), *_]):
            yield text
        case ast.IfExp(body=body, orelse=orelse):
            yield from _texts(body)
            yield from _texts(orelse)


def _word(reason: str) -> str:
    return reason.partition(":")[0]
