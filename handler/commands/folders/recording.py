"""The recorded answers of an API, by caller and request, which answer tests of tools without a network."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from handler.bundle.upstream import is_address_of
from handler.cold.records import replaced
from handler.commands.command_line import CREDENTIAL, CommandRefused
from handler.commands.folders.atomic_writes import replace_text
from handler.commands.local.author_view import hiding
from handler.commands.local.call_arguments import json_or_text
from handler.commands.local.callers import NamedCaller
from handler.commands.local.local_endpoint import local_settings
from handler.commands.local.local_server import ObservedHttp
from handler.compiler.compile import Compiled
from handler.compiler.problems import Place, Problems
from handler.compiler.source.files import EndpointFiles
from handler.errors.infrastructure import HttpUnreachable
from handler.http.client import HttpRequest, HttpResponse
from handler.json_schema.checker import Checker
from handler.json_schema.json_bounds import nests_too_deeply
from handler.strict_json import JSONObject, objects_in, parse_json, to_json_bytes
from handler.text.invisible import escaped_json
from handler.text.sentences import is_secret, some

RECORDING = "tools.recording.json"
MAX_BYTES = 2_000_000
MAX_SECRETS = 20

DOCUMENT = {"query": {"type": "array", "items": {"type": "string"}}}
MEMBERS = {
    "as": {"type": "string"},
    "request": {"type": "object", "properties": DOCUMENT},
    "status": {"type": "integer", "minimum": 200, "maximum": 599},
    "answer": {"type": "object"},
}
ENTRY: JSONObject = {"type": "object", "properties": MEMBERS, "required": [*MEMBERS], "additionalProperties": False}
SCHEMA: JSONObject = {"type": "array", "items": ENTRY}

KEY_SHAPES = re.compile(
    r"PRIVATE KEY-----|\b(AKIA|ASIA)[A-Z0-9]{16}\b|\bgh[a-z]_\w{20,}|\bgithub_pat_\w{20,}|\bxox[a-z]-[\w-]{10,}|"
    r"\b[sr]k_(live|test)_\w{10,}|\bAIza[\w-]{30,}"
)
"""Forms of keys of AWS, GitHub, Slack, Stripe and Google."""

NOT_SECRET = re.compile(r"(next|page|cursor|continuation|sync)_?tokens?$", re.IGNORECASE)
SCALAR = re.compile(r'"(?:[^"\\]|\\.)*":?|-?\d[\d.eE+-]*')
"""A text or number in JSON, or a member's name with its colon."""

ALIAS = re.compile(r"(\w+)\s*:\s*(\w+)")

REMEDY = "leave it out of the operation, or record the answers of an API with test data"
ANEW = "`stile test FOLDER --record` writes the file anew"

LEAVING = re.compile(
    r"socket\.(connect|get\w+by\w+|getaddrinfo|send\w+)|subprocess\.\w+|os\.(system|exec|\w*spawn|fork\w*)"
)
"""Events before code uses the network or starts another program. Source: Python, "Audit events table"."""

Recording = dict[str, JSONObject]
"""The key of an entry -> the entry."""


def key_of_entry(caller: str, request: JSONObject) -> str:
    """Return the key by which entries are found and sorted."""
    return json.dumps([request.get("operationName", ""), request, caller], sort_keys=True)


def read_recording(files: EndpointFiles, name: str, problems: Problems) -> Recording:
    """Read a file, and report what is not valid, and the place of each text that looks like a secret."""
    text = files.read(name, max_bytes=MAX_BYTES) if files.exists(name) else None
    at, content, recording, fault = Place(name), [], Recording(), ""
    try:
        content = parse_json((text or "[]").encode())
        faults = ["nested too deeply"] if nests_too_deeply(content) else Checker(SCHEMA).violations(content)
        fault = some(faults, most=3) if faults else ""
        recording = {} if fault else {key_of_entry(each["as"], each["request"]): each for each in content}
    except ValueError as exc:
        fault = f"invalid JSON: {getattr(exc, 'msg', exc)}"
        at = Place(name, getattr(exc, "lineno", 0), getattr(exc, "colno", 0))
    if not fault and len(recording) < len(content):
        fault = "one caller has two answers to one request"
    if fault:
        problems.add(at, f"{fault}: {ANEW}", code="invalid-recording")
    for member, secret in islice((each for entry in recording.values() for each in secrets_in(entry)), MAX_SECRETS):
        places = files.places_of(json.dumps(secret, ensure_ascii=False))
        at = next((place for place in places if place.file == name), Place(name))
        problems.add(at, f'the text of "{member}" looks like a secret: {REMEDY}', code="invalid-recording")
    return recording


def write_recording(file: Path, recording: Recording) -> None:
    """Write the entries in the order of their keys.

    Raises:
        CommandRefused: the file is a link, would be too large, or cannot be written.
    """
    text = escaped_json(json.dumps([recording[key] for key in sorted(recording)], ensure_ascii=False, indent=2)) + "\n"
    try:
        if file.is_symlink() or len(text.encode()) > MAX_BYTES:
            raise CommandRefused(f"{file} was not written: it is a link, or would have more than {MAX_BYTES:,} bytes")
        replace_text(file, text)
    except OSError as exc:
        raise CommandRefused(f"{file} was not written: {exc.strerror}") from exc


def secrets_in(entry: JSONObject) -> Iterator[tuple[str, str]]:
    """Yield the member and text of each text that looks like a secret, by its form, its name or the field's."""
    aliases = ALIAS.findall("\n".join(entry["request"].get("query", [])))
    names = {alias for alias, name in aliases if is_secret(name)}
    for name, value in (member for each in objects_in(entry) for member in each.items()):
        is_named = name in names or (is_secret(name) and not NOT_SECRET.search(name))
        for text in _texts(value):
            if not text.startswith("$jwt[") and (is_named or CREDENTIAL.search(text) or KEY_SHAPES.search(text)):
                yield name, text


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str) and value:
        yield value
    for part in value if isinstance(value, list) else ():
        yield from _texts(part)


class RecordedHttp(ObservedHttp):
    """A client for one call of a caller, whose requests to the API are answered from a recording.

    ``may_send``: the API may be asked, too, and its answers are added to the recording if there is one. ``None``:
    nothing is sent at all. ``troubles`` says why a request has no answer: the tool only says that there is none.
    """

    def __init__(
        self,
        recording: Recording | None,
        compiled: Compiled,
        caller: NamedCaller,
        may_send: Callable[[HttpRequest], bool] | None,
    ) -> None:
        super().__init__(replace(local_settings().addresses, local=True))
        self.troubles: list[str] = []
        self._recording, self._may_send = recording, may_send
        self._compiled, self._caller = compiled, caller

    async def send_async(self, request: HttpRequest) -> HttpResponse:
        """Answer a request to the API from the recording, or send it and record the answer."""
        if not is_address_of(self._compiled.bundle.upstream, request.url):
            return await super().send_async(request)
        body = self._recorded_form(parse_json(request.body or b"{}"))
        name = body.get("operationName") or f"{' '.join(body['query']) or 'a document'!s:.80}"
        key = key_of_entry(self._caller.text, body)
        if self._recording and key in self._recording:
            entry = self._recording[key]
            headers = {"content-type": "application/json"}
            return HttpResponse(status=entry["status"], headers=headers, body=to_json_bytes(entry["answer"]))
        if self._may_send is None:
            variables = json.dumps(body["variables"], ensure_ascii=False)
            raise self._trouble(f"no answer to {name} with {variables:.200} is recorded: {ANEW}")
        if not self._may_send(request):
            raise self._trouble(f"{name} may change something, and is not sent: --allow-mutations sends it")
        answer = await super().send_async(request)
        if self._recording is not None:
            self._recording[key] = self._entry(body, request, answer)
        return answer

    def _send(self, *arguments: Any) -> Any:
        if self._may_send is None:
            raise self._trouble("a request to another server than the API is not recorded")
        return super()._send(*arguments)

    def _trouble(self, sentence: str) -> HttpUnreachable:
        self.troubles.append(sentence)
        return HttpUnreachable("", "not recorded")

    def _recorded_form(self, body: JSONObject) -> JSONObject:
        """Return a request with its document as lines, and with numbers of claims in place of their values."""
        compact = json.JSONEncoder(separators=(",", ":")).encode
        claims = SCALAR.findall(compact(self._caller.principal(self._compiled.bundle).claims))

        def without_claim(scalar: re.Match[str]) -> str:
            is_claim = scalar[0] in claims and not scalar[0].endswith(":")
            return f'"$jwt[{claims.index(scalar[0])}]"' if is_claim else scalar[0]

        variables = json.loads(SCALAR.sub(without_claim, compact(body.get("variables", {}))))
        return {**body, "query": body.get("query", "").splitlines(), "variables": variables}

    def _entry(self, body: JSONObject, request: HttpRequest, answer: HttpResponse) -> JSONObject:
        """Return the entry for an answer without extensions, and note the reasons for which it is not to be written."""
        of_claims = self._compiled.bundle.upstream.claim_headers
        sent = {name: value for name, value in request.headers.items() if name not in of_claims}
        text = hiding(replaced(request, headers=sent), self._compiled)(answer.body.decode(errors="replace"))
        variables = json.dumps(body["variables"])
        content = json_or_text(text.removeprefix("\ufeff"))
        is_readable = isinstance(content, dict) and not nests_too_deeply(content)
        kept = {name: content[name] for name in ("data", "errors") if name in content} if is_readable else {}
        entry = {"as": self._caller.text, "request": body, "status": answer.status, "answer": kept}
        if not kept:
            self.troubles.append(f"the API answers {answer.status}, and not GraphQL, which is not recorded")
        elif hiding(replaced(request, headers={}), self._compiled)(variables) != variables:
            self.troubles.append("a variable has a secret of this machine, which is not recorded: use another value")
        elif members := [name for name, _ in secrets_in(entry)]:
            self.troubles.append(f"{some(members, most=3)} looks like a secret, and is not recorded: {REMEDY}")
        return entry


_OFFLINE: list[list[str]] = []  # the troubles of a call without network


@contextmanager
def offline(troubles: list[str]) -> Iterator[None]:
    """Keep tools in Python from the network and from other programs until the block ends, and note each attempt."""
    _add_audit_hook()
    _OFFLINE.append(troubles)
    try:
        yield
    finally:
        _OFFLINE.pop()


@cache
def _add_audit_hook() -> None:
    def refuse(event: str, _: tuple[Any, ...]) -> None:
        if _OFFLINE and LEAVING.fullmatch(event):
            _OFFLINE[-1].append(f"code in Python uses the network or a program ({event}), which only --live allows")
            raise OSError(_OFFLINE[-1][-1])

    sys.addaudithook(refuse)
