"""``stile call``: one call of a tool, answered by the code that answers in the function."""

from __future__ import annotations

import argparse
import asyncio
import json
import shlex
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any

from handler.bundle.tools import CONFIRM, CodeTool, PrescribedTool
from handler.commands.command_line import DONE, PAIR, REFUSED, USAGE, UsageRefused, without_credentials
from handler.commands.console import announce, complain, one_line, say, show_json
from handler.commands.folders.endpoints import add_folder_arguments, compile_all, complain_about
from handler.commands.local.author_view import lines_of, show_authors_frames, told_to_author, why_refused
from handler.commands.local.call_arguments import (
    arguments_file,
    arguments_for,
    merged,
    pair,
    require_single,
    token_file,
)
from handler.commands.local.callers import SKIPS_POLICIES, NamedCaller, add_caller_argument
from handler.commands.local.local_endpoint import local_endpoint, local_settings, stored
from handler.commands.local.local_server import local_http, local_services, observed, unset_secrets
from handler.compiler.compile import Compiled
from handler.errors.access import AccessError, CredentialRefused, CredentialRequired
from handler.errors.calls import ToolNotFound
from handler.errors.protocol import McpError
from handler.server.asgi.request_log import WARNING, level_of
from handler.server.auth.principal import Principal
from handler.server.context import Caller, Services
from handler.server.denials import status_of
from handler.server.mcp.jsonrpc import INVALID_PARAMS, Call, Rejected, Request
from handler.server.mcp.revisions import CLIENT_CAPABILITIES, MODERN, TASKS
from handler.server.mcp.tasks import answer_task_request
from handler.server.mcp.tools_call import call_any_tool
from handler.strict_json import JSONObject

AGREED: JSONObject = {"action": "accept", "content": {CONFIRM: True}}
WITH_TASKS: JSONObject = {"extensions": {TASKS: {}}}

EXAMPLES = (
    "stile call shop/products list_products first=5",
    'stile call shop/products show_product \'ids=["1", "2"]\' --as claims.json',
)
EXIT_CODES = {
    REFUSED: "an endpoint has problems, or the call or its job failed",
    USAGE: "the command line or an environment variable is not valid, or the tool does not exist",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_folder_arguments(parser)
    parser.add_argument("tool", metavar="TOOL", help="the tool's name")
    parser.add_argument(
        "arguments",
        metavar=PAIR,
        nargs="*",
        type=pair,
        default=[],
        help="an argument or a variable: a text where the tool takes one, else JSON",
    )
    parser.add_argument(
        "--arguments",
        dest="given",
        metavar="FILE",
        type=arguments_file,
        default={},
        help="a JSON file with the arguments, - for standard input; K=V wins over it",
    )
    add_caller_argument(parser)
    parser.add_argument(
        "--token",
        metavar="FILE",
        type=token_file,
        help="a file with a token of the caller, such as stile token prints, - for standard input; in place of --as",
    )
    parser.add_argument(
        "-v",
        "--verbose",
        action="store_true",
        help="print the requests to the API and their answers, and whole tracebacks",
    )
    parser.add_argument("--yes", action="store_true", help="agree where the tool asks its user first")
    parser.add_argument("--wait", action="store_true", help="wait for the end of the job that the tool starts")
    parser.add_argument("--json", action="store_true", help="print the whole MCP result")


def run(options: argparse.Namespace) -> int:
    if options.token and options.caller != SKIPS_POLICIES:
        raise UsageRefused("--token and --as both name the caller: use one of them.")
    require_single(options.arguments)
    show_authors_frames(whole=options.verbose)
    outcomes = compile_all(options.folder, stage=options.stage, endpoint=options.endpoint)
    compiled = [outcome.compiled for outcome in outcomes if outcome.compiled]
    holders = [
        one for one in compiled if any(options.tool in (tool.name, *tool.options.aliases) for tool in one.bundle.tools)
    ]
    if not holders:  # a toolkit per caller may have the tool
        toolkits = [one for one in compiled if any(kit.per_caller for kit in one.bundle.code)]
        holders = toolkits if len(toolkits) == 1 else []
    if len(holders) == 1:
        return _call(holders[0], options)
    if holders:
        names = ", ".join(one.bundle.endpoint for one in holders)
        raise UsageRefused(f'"{options.tool}" is a tool of several endpoints: {names}. Name the folder of one.')
    complain_about(outcomes)  # the tool may be in an endpoint that has problems
    tools = sorted({tool.name for one in compiled for tool in one.bundle.tools})
    if compiled:
        fault = f". There are: {', '.join(tools)}" if tools else ": no tool is declared."
        complain(without_credentials(f'There is no tool "{options.tool}"{fault}'))
    return REFUSED if any(outcome.problems for outcome in outcomes) else USAGE


def _call(compiled: Compiled, options: argparse.Namespace) -> int:
    endpoint = local_endpoint(compiled)
    tool = endpoint.tools.get(options.tool)
    pairs = arguments_for(tool, options.arguments) if options.arguments or not options.given else {}
    arguments = merged(options.given, pairs)
    try:
        with closing(local_http()) as http, _log_facts(compiled, verbose=options.verbose) as facts:
            services = local_services(
                stored(compiled), http, find=lambda _: compiled, trusts_trials=True, development=True
            )
            principal = _principal(compiled, services, options)
            caller = Caller(
                endpoint=endpoint,
                principal=principal,
                evaluation=endpoint.evaluation_of(principal),
                services=services,
                credential=options.token or "",
                facts=facts,
            )
            result = asyncio.run(_result(caller, arguments, options))
    except (AccessError, ToolNotFound) as exc:
        complain(f'"{options.tool}" is not for this caller: {refusal_sentence(exc)}. `stile explain` says why')
        return REFUSED
    except (McpError, Rejected) as exc:
        complain(f"The function answers {exc.code}, {exc}{': use --wait' if TASKS in str(exc) else ''}")
        return REFUSED
    asks = "inputRequests" in result
    bindings = tool.bindings if isinstance(tool, PrescribedTool) and principal.claims is None else ()
    if result.get("isError") and any(binding.source == "claim" for binding in bindings):
        complain("The tool fills a variable from a claim of its caller: name a file with claims with --as claims.json.")
    if options.json:
        show_json(result)
    elif asks:
        _show_questions(result["inputRequests"])
    else:
        _show_result(result)
        match result:
            case {"structuredContent": {"extensions": {"task": {"taskId": str(task_id)}}}}:
                announce(f"To wait for the end of the job: {_resuming(caller, task_id, options)}")
    return REFUSED if result.get("isError") or asks or "taskId" in result else DONE


async def _result(caller: Caller, arguments: JSONObject, options: argparse.Namespace) -> JSONObject:
    """Return the result of the call. With ``--wait``, return that of its job, or the task of a job without a result.

    Raises: as ``call_any_tool``, and ``InvalidParams``: the task is unknown, or has become too old.
    """
    tool, sentence = caller.endpoint.tools.get(options.tool), ""
    if options.wait and isinstance(tool, PrescribedTool) and tool.polls:
        task: JSONObject = {"taskId": arguments.get("taskId"), "status": "working", "pollIntervalMs": 0}
    else:
        task = await call_result(caller, options.tool, arguments, agreed=options.yes, waits=options.wait)
    params = {"taskId": task.get("taskId"), "_meta": {CLIENT_CAPABILITIES: WITH_TASKS}}
    request = Request(id=1, method="tasks/get", params=params, revision=MODERN[0])
    try:
        while task.get("status") == "working":
            if sentence != (sentence := str(task.get("statusMessage", sentence))):
                announce(sentence)
            await asyncio.sleep(task["pollIntervalMs"] / 1_000)
            caller.facts.clear()  # of a failed question before
            try:
                task = await answer_task_request(Call(request=request, caller=caller))
            except McpError as exc:
                if exc.code == INVALID_PARAMS:
                    raise
                task = {**task, "statusMessage": one_line(str(exc))}
    except asyncio.CancelledError:
        if "taskId" in task:
            announce(f"The job goes on. To wait for its end: {_resuming(caller, str(task['taskId']), options)}")
        raise
    return dict(task.get("result", task))


def _resuming(caller: Caller, task_id: str, options: argparse.Namespace) -> str:
    """Return the command that waits for the end of a job."""
    starter = caller.endpoint.tools.get(task_id.partition(".")[2])
    name = starter.task.status_tool if isinstance(starter, PrescribedTool) and starter.task else options.tool
    given = {"--stage": options.stage, "--endpoint": options.endpoint, "--as": options.caller.text}
    given |= {"--token": options.token and "FILE"}
    words = [word for option, value in given.items() if value for word in (option, str(value))]
    return shlex.join(["stile", "call", str(options.folder), name, f"taskId={task_id}", *words, "--wait"])


def _principal(compiled: Compiled, services: Services, options: argparse.Namespace) -> Principal:
    """Return the principal of the token, verified as the endpoint would, or of ``--as``.

    Raises:
        AccessError: the endpoint refuses the caller.
        UnknownCaller: as ``NamedCaller.admitted``.
    """
    bundle, now = compiled.bundle, time.time()
    if not options.token:
        caller: NamedCaller = options.caller
        return caller.admitted(bundle, now=now)
    try:
        verifier = services.verifier_of(bundle.endpoint)
        claims = asyncio.run(verifier.verify(options.token, bundle.identity.issuers, now=now))
    except CredentialRefused as exc:
        unset = unset_secrets(compiled, local_settings())
        headers = {"authorization": f"Bearer {options.token}"}
        why = why_refused(exc.reason, headers, bundle.identity, unset=unset, now=now)
        complain(f"--token: {exc.reason}{f': {one_line(why)}' if why else ''}")
        raise
    return Principal(kind="token", claims=claims)


def refusal_sentence(exc: AccessError | ToolNotFound) -> str:
    """Return the sentence on the function's answer to a caller who may not call a tool."""
    status = INVALID_PARAMS if isinstance(exc, ToolNotFound) else status_of(exc)
    scopes = exc.scopes if isinstance(exc, CredentialRequired) else ()
    with_scopes = f", with the scopes {' '.join(scopes)}" if scopes else ""
    return f"the function answers {status}, {exc}{with_scopes}"


async def call_result(
    caller: Caller, name: str, arguments: JSONObject, *, agreed: bool, waits: bool = False
) -> dict[str, Any]:
    """Call the tool and return its result. If the tool asks for consent and ``agreed``, call again with consent.

    ``waits``: the result may be a task.
    """
    tool = caller.endpoint.tools.get(name)
    capabilities: JSONObject = {}
    if tool is None or isinstance(tool, CodeTool):  # the command prints the questions of tools in Python
        capabilities = {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}}
    elif tool.options.confirm == "required":
        capabilities = {"elicitation": {}}
    if waits:
        capabilities = capabilities | WITH_TASKS
    params: JSONObject = {"name": name, "arguments": arguments, "_meta": {CLIENT_CAPABILITIES: capabilities}}

    def call() -> Call:
        return Call(request=Request(id=1, method="tools/call", params=params, revision=MODERN[0]), caller=caller)

    result = await call_any_tool(call(), name, arguments)
    if agreed and CONFIRM in result.get("inputRequests", {}):
        params |= {"inputResponses": {CONFIRM: AGREED}, "requestState": result["requestState"]}
        result = await call_any_tool(call(), name, arguments)
    return result


@contextmanager
def _log_facts(compiled: Compiled, *, verbose: bool) -> Iterator[dict[str, Any]]:
    """Yield the facts of a log line, and print at the end the reasons of a failed call, which are for its author."""
    facts: dict[str, Any] = {}
    with observed() as exchanges:
        try:
            yield facts
        finally:
            for line in (line for exchange in exchanges if verbose for line in lines_of(exchange, compiled)):
                announce(line)
            reason = str(facts.get("reason", ""))
            lines = told_to_author(reason, exchanges, compiled, local_settings())
            is_news = level_of(facts) == WARNING and reason != "AuthorFailed"  # which has printed its traceback
            for line in lines or ([reason] if is_news else []):
                complain(one_line(line))


def _show_result(result: Mapping[str, Any]) -> None:
    """Print a tool's result. JSON is indented; content that is not text is only named."""
    if "taskId" in result:
        complain(result["statusMessage"])
    elif not result["content"]:
        show_json(result.get("structuredContent"))
    for block in result.get("content", ()):
        match block:
            case {"type": "text", "text": text}:
                words = str(text)
            case {"type": "resource", "resource": {"uri": uri, **rest}}:
                words = str(rest.get("text", f"[{uri}]"))
            case {"type": "resource_link", "uri": uri}:
                words = f"[{uri}]"
            case {"type": kind, "mimeType": mime_type, "data": data}:
                words = f"[{kind}, {mime_type}, {len(data) * 3 // 4:,} bytes]"
            case _:
                words = f"[{block['type']}]"
        try:
            show_json(json.loads(words))
        except ValueError:
            (complain if result.get("isError") else say)(words)


def _show_questions(requests: Mapping[str, Any]) -> None:
    """Print the questions that a tool asks first."""
    for key, request in requests.items():
        params = request.get("params") or {}
        if key == CONFIRM:
            complain(params["message"])
            continue
        complain(f"{key}: {request['method']}")
        if "message" in params:
            complain(f"  {params['message']}")
        if "url" in params:
            complain(f"  to open: {params['url']}")
        for name, field in params.get("requestedSchema", {}).get("properties", {}).items():
            complain(f"  to fill in: {name} ({field.get('type', 'anything')})")
    if CONFIRM in requests:
        complain("Nothing was done yet: repeat the call with --yes to agree.")
    else:
        complain("The tool asks its user this first. A client that speaks MCP 2026-07-28 answers it.")
