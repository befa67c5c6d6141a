"""Read a schema from an API, by introspection or as a subgraph, or from a file of SDL or JSON."""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from graphql import (
    GraphQLError,
    Source,
    TypeDefinitionNode,
    build_client_schema,
    get_introspection_query,
    print_ast,
    print_schema,
)

from handler.commands.command_line import UsageRefused
from handler.commands.console import announce
from handler.commands.local.local_server import address_hint, local_http
from handler.commands.schema_source.schema_file import is_usable
from handler.commands.schema_source.source_options import (
    MIN_SECRET_CHARS,
    RequestHeaders,
    SchemaSource,
    SourceRefused,
    at_path,
    one_line_quote,
)
from handler.compiler.schema.schema import parse_sdl
from handler.compiler.schema.vendor_directives import JOIN, is_join, without_directives
from handler.compiler.source.files import MAX_FILE_BYTES, SCHEMA_FILE
from handler.errors.infrastructure import AddressRefused, HttpError, HttpTimeout, HttpTooLarge
from handler.http.client import HttpClient, HttpRequest, HttpResponse
from handler.server.upstream.failures import MAX_PAGE_CHARS, page_text
from handler.strict_json import parse_json
from handler.text.invisible import invisible_characters
from handler.text.sentences import counted

NO_FILE = "there is no such file, and the URL of an API begins with https:// or http://"

MAX_ANSWER_BYTES = 64_000_000
"""An introspection in JSON is several times larger than its SDL."""

MAX_TYPES = 20_000
"""Types of a schema: ten times those of the largest that is in use."""

INCOMPLETE = "the introspection is not complete or not valid"

QUERIES = (
    get_introspection_query(
        specified_by_url=True,
        directive_is_repeatable=True,
        schema_description=True,
        input_value_deprecation=True,
        one_of=True,
    ),
    get_introspection_query(directive_is_repeatable=True),  # servers of before 2021
    get_introspection_query(descriptions=True, type_depth=4),  # servers of before 2019, or with a limit on depth
    get_introspection_query(descriptions=False, type_depth=3),
)
"""Introspection queries from the largest to the smallest."""

SUBGRAPH = "query Subgraph { _service { sdl } }"
"""Source: Apollo Federation, "Subgraph specification"."""

HEADERS = {
    "content-type": "application/json",
    "accept": "application/graphql-response+json, application/json;q=0.9",
}

LOST_DIRECTIVES = (
    "the API is a subgraph and gives no SDL that can be used, so its directives are not known, and fields that "
    "@inaccessible hides may be open: give its SDL as a file"
)

USUAL_PATHS = ("/graphql", "/graphql/", "/api/graphql")
"""Paths at which servers of GraphQL answer by default."""

UNAUTHORIZED, FORBIDDEN = 401, 403
FINAL = frozenset({UNAUTHORIZED, 429, 502, 503, 504})
"""Statuses with which no other query is tried. Some servers refuse introspection with 403, unknown fields with 500."""

TRUST = (
    "its certificate is not by an authority that this machine trusts; SSL_CERT_FILE names a file with the authority's"
)


class NoGraphQL(SourceRefused):
    """An answer that is not one of GraphQL, and no schema either."""


def read_sdl(
    source: SchemaSource, *, headers: RequestHeaders, timeout_s: float, old: str = "", paths: Sequence[str] = ()
) -> tuple[SchemaSource, str]:
    """Return the SDL of an API, of a document at a URL or of a file, which replaces an ``old`` one, and its source.

    If the source is a URL that answers no GraphQL, the ``paths`` of its origin are tried. A schema without the
    directives of a subgraph is refused if the old one hides fields by them, and else announced. Neither the schema nor
    a refusal repeats the value of a header.

    Raises:
        UsageRefused: there are headers for a file.
        SourceRefused: no schema can be had from there.
        SettingsError: an environment variable that does not fit.
    """
    if not source.is_url:
        if headers:
            raise UsageRefused(f"-H is for the URL of an API, and {source.shown} is a file")
        return _api_part(_sdl_in(_read_bytes(source), source), source)
    with closing(local_http()) as http:
        deadline = time.monotonic() + timeout_s
        api = _Api(source=source, headers=headers, http=http, deadline=deadline, timeout_s=timeout_s, old=old)
        try:
            answered, sdl = api.schema(paths)
        except SourceRefused as exc:
            raise SourceRefused(source.shown, headers.hidden_in(exc.cause)) from None
    if headers.hidden_in(sdl) != sdl:
        raise SourceRefused(source.shown, "the schema repeats the value of a header of -H, so it was not written")
    return _api_part(sdl, answered)


def _api_part(sdl: str, source: SchemaSource) -> tuple[SchemaSource, str]:
    """Return the part of a composed supergraph that its API has; a schema of another kind as it is."""
    if JOIN not in sdl:
        return source, sdl
    try:
        definitions = parse_sdl(Source(sdl)).definitions
    except GraphQLError:
        return source, sdl  # refused where the schema is built
    parts = (without_directives(node, is_join) for node in definitions if not is_join(node))
    return replace(source, has_sdl=False), _file_text("\n\n".join(map(print_ast, parts)), source.named)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Api:
    """An API that is asked for its schema until a deadline. ``headers`` go to its URL only."""

    source: SchemaSource
    headers: RequestHeaders
    http: HttpClient
    deadline: float  # of time.monotonic()
    timeout_s: float
    old: str  # SDL

    def schema(self, paths: Sequence[str] = ()) -> tuple[SchemaSource, str]:
        """Return the schema of the API, of a document that the URL serves, or of the first API at other paths.

        Raises:
            NoGraphQL: neither an API nor such a document.
            SourceRefused: the API does not give its schema, or one that cannot be used.
        """
        try:
            return self.source, self._sdl()
        except NoGraphQL as exc:
            if sdl := self._document():
                return replace(self.source, is_api=False), sdl
            for other in (at_path(self.source, path) for path in paths):
                try:
                    if other.shown != self.source.shown:
                        return replace(self, source=other).schema()
                except NoGraphQL:
                    continue
                except SourceRefused as of_other:  # an API, which does not give its schema
                    raise SourceRefused(exc.source, f"{exc.cause}. {of_other}") from None
            raise

    def _sdl(self) -> str:
        refusals: list[tuple[int, Mapping[str, Any]]] = []
        for query in QUERIES:
            status, content = self._ask(query, "IntrospectionQuery")
            data = content.get("data")
            if isinstance(data, dict) and isinstance(data.get("__schema"), dict):
                return self._subgraph(data) or sdl_of_introspection(data, self.source.shown)
            refusals.append((status, content))
        sdl = self._service()
        if sdl:
            return sdl
        raise self._refused(self._why_not(*refusals[0]))

    def _document(self) -> str:
        """Return the SDL of a document, such as a registry's; empty string if the URL serves none."""
        try:
            response = self._send(None)
            if response.status != HTTPStatus.OK or _is_page(response):
                return ""
            sdl = _sdl_in(response.body, self.source)
            nodes = parse_sdl(Source(sdl)).definitions
        except SourceRefused:
            return ""
        except GraphQLError:
            return sdl if self.source.has_sdl else ""  # its fault is shown where the schema is built
        return sdl if any(isinstance(node, TypeDefinitionNode) for node in nodes) else ""

    def _subgraph(self, data: Mapping[str, Any]) -> str:
        """Return a subgraph's own SDL, which has its directives; empty string if introspection has to do."""
        names: list[Any] = []
        match data["__schema"]:
            case {"queryType": {"name": root}, "types": [*types]}:
                queries = [each for each in types if isinstance(each, dict) and each.get("name") == root]
                lists = [each["fields"] for each in queries if isinstance(each.get("fields"), list)]
                names = [field.get("name") for fields in lists for field in fields if isinstance(field, dict)]
        if "_service" not in names:
            return ""
        sdl = self._service()
        if sdl and is_usable(sdl, self.source):
            return sdl
        if "inaccessible" in self.old:  # also with the prefix of Federation's import
            raise self._refused(f"{SCHEMA_FILE} hides fields by @inaccessible, and {LOST_DIRECTIVES}")
        announce(f"{self.source.shown}: {LOST_DIRECTIVES}")
        return ""

    def _service(self) -> str:
        """Return a subgraph's SDL; empty string if the API gives none that can be read."""
        try:
            data = self._ask(SUBGRAPH, "Subgraph")[1].get("data")
        except SourceRefused:
            return ""
        service = data.get("_service") if isinstance(data, dict) else None
        sdl = service.get("sdl") if isinstance(service, dict) else None
        if not isinstance(sdl, str) or not sdl.strip():
            return ""
        text = _file_text(sdl, self.source.shown)
        try:
            parse_sdl(Source(text))
        except GraphQLError:
            return ""
        return text

    def _ask(self, query: str, name: str) -> tuple[int, Mapping[str, Any]]:
        """Return the status and the object of a GraphQL response. A refusal that no other query can change is final."""
        response = self._send(json.dumps({"query": query, "operationName": name}).encode())
        status = response.status
        try:
            content = parse_json(response.body)
        except ValueError:
            content = None
        has_errors = isinstance(content, dict) and isinstance(content.get("errors"), list)
        if status in FINAL:
            raise self._refused(self._why_not(status, content if has_errors else {}))
        if status == FORBIDDEN and not has_errors:
            raise NoGraphQL(self.source.shown, self._why_not(status, {}))
        is_there = status not in (HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED)
        if is_there and isinstance(content, dict) and (has_errors or isinstance(content.get("data"), dict)):
            return status, content
        raise NoGraphQL(self.source.shown, self._not_graphql(response))

    def _send(self, body: bytes | None) -> HttpResponse:
        too_late = f"no complete answer within {self.timeout_s:g} s (--timeout)"
        rest_s = self.deadline - time.monotonic()
        if rest_s <= 0:
            raise self._refused(too_late)
        request = HttpRequest(
            method="POST" if body else "GET",
            url=self.source.text,
            headers={**self.headers.fields, **(HEADERS if body else {"accept": "*/*"})},
            body=body,
            timeout_s=rest_s,
            max_bytes=MAX_ANSWER_BYTES,
        )
        try:
            return self.http.send(request)
        except HttpTimeout as exc:
            raise self._refused(too_late) from exc
        except HttpTooLarge as exc:
            raise self._refused(f"the answer is larger than {MAX_ANSWER_BYTES:,} bytes") from exc
        except AddressRefused as exc:
            raise self._refused(f"this address may not be asked: {exc.reason}") from exc
        except HttpError as exc:
            remedy = TRUST if exc.reason == "TLS verification failed" else address_hint(self.source.text, exc)
            raise self._refused(f"{exc.reason}: {remedy}" if remedy else exc.reason) from exc

    def _why_not(self, status: int, content: Mapping[str, Any]) -> str:
        errors = [error for error in content.get("errors") or () if isinstance(error, dict)]
        messages = [error["message"] for error in errors if isinstance(error.get("message"), str)]
        message = one_line_quote(self.headers.hidden_in(messages[0])) if messages else ""
        answer = f"the API answered {status}{f' ({message})' if message else ''}"
        if status in (UNAUTHORIZED, FORBIDDEN):
            give = "-H 'Authorization: Bearer $TOKEN' gives a credential"
            return f"{answer}: {'check the credential of -H' if self.headers else give}"
        if status in FINAL:
            return f"{answer}: try again later"
        credential = "" if self.headers else " give a credential with -H,"
        return (
            f"the API does not answer introspection ({message or 'it gave no schema and no error'}): switch "
            f"introspection on,{credential} or give the schema as a file"
        )

    def _not_graphql(self, response: HttpResponse) -> str:
        if 300 <= response.status < 400:
            location = self.headers.hidden_in(response.headers.get("location", ""))
            address = location.partition("?")[0].partition("#")[0]  # a query string may hold a secret
            target = f" to {one_line_quote(address)}" if address and "@" not in address else ""
            return f"the API answered with a redirect{target}, which is not followed: name the address itself"
        # Secrets are hidden before the text is cut: no part of one is left at its end.
        query = self.source.text.partition("?")[2]
        values = (value for _, value in parse_qsl(query) if len(value) >= MIN_SECRET_CHARS)
        hiding = replace(self.headers, secrets=self.headers.secrets.union(filter(None, (query, *values))))
        body = hiding.hidden_in(response.body[: 2 * MAX_PAGE_CHARS].decode(errors="replace"))[:MAX_PAGE_CHARS]
        line = page_text(body.encode()) or next((line for line in body.splitlines() if line.strip()), "")
        begin = f". It begins {one_line_quote(line)}" if line else ". It is empty"
        if hint := address_hint(self.source.text, response):
            return f"the API answered {response.status}: {hint}{begin}"
        kind = "a web page" if _is_page(response) else "not one of GraphQL"
        return f"the answer ({response.status}) is {kind}: expected the address of a GraphQL API{begin}"

    def _refused(self, cause: str) -> SourceRefused:
        return SourceRefused(self.source.shown, cause)


def _is_page(response: HttpResponse) -> bool:
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    return kind in ("text/html", "application/xhtml+xml") or response.body[:200].lstrip().startswith(b"<")


def _sdl_in(document: bytes, source: SchemaSource) -> str:
    """Return the SDL of a document that is SDL or the JSON of an introspection."""
    try:
        text = document.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SourceRefused(source.named, "the file is not UTF-8") from None
    if not text.strip():
        raise SourceRefused(source.named, "the file is empty: expected SDL, or the JSON of an introspection")
    if text.lstrip()[0] not in "{[":
        return _file_text(text, source.named)
    try:
        content = parse_json(text.encode())
    except ValueError as exc:
        raise SourceRefused(source.named, f"invalid JSON: {exc}") from None
    # A response, its ``data``, or the schema alone.
    data = content.get("data") if isinstance(content, dict) and "__schema" not in content else content
    if isinstance(data, dict) and isinstance(data.get("__schema"), dict):
        return sdl_of_introspection(data, source.named)
    raise SourceRefused(
        source.named, 'the JSON is not an introspection: expected {"data": {"__schema": …}} or {"__schema": …}'
    )


def _read_bytes(source: SchemaSource) -> bytes:
    path = Path(source.text)
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # before opening: a pipe would wait for a writer
            raise SourceRefused(source.named, "it is not a file")
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size > MAX_ANSWER_BYTES:
                raise SourceRefused(source.named, f"the file has {size:,} bytes; {MAX_ANSWER_BYTES:,} are read")
            return file.read(MAX_ANSWER_BYTES)
    except FileNotFoundError:
        raise SourceRefused(source.named, NO_FILE) from None
    except (OSError, ValueError) as exc:
        raise SourceRefused(source.named, f"the file cannot be read: {getattr(exc, 'strerror', None) or exc}") from exc


def sdl_of_introspection(introspection: Any, source: str) -> str:
    """Return the SDL of an introspection's ``{"__schema": …}``.

    Raises:
        SourceRefused: a schema that GraphQL does not allow, or one that is too large.
    """
    types = introspection["__schema"].get("types")
    if isinstance(types, list) and len(types) > MAX_TYPES:
        raise SourceRefused(source, f"the schema has {counted(len(types), 'type')}; {MAX_TYPES:,} are read")
    try:
        for type_ in types:  # some servers have null in place of empty lists
            if type_.get("kind") == "OBJECT" and type_.get("interfaces") is None:
                type_["interfaces"] = []
            for field in type_.get("fields") or ():
                field["args"] = field.get("args") or []
        sdl = print_schema(build_client_schema(introspection, assume_valid=True))
    except RecursionError as exc:
        raise SourceRefused(source, f"{INCOMPLETE}: its types are nested too deeply") from exc
    except (GraphQLError, KeyError, TypeError, ValueError, AttributeError) as exc:
        raise SourceRefused(source, f"{INCOMPLETE}: {_why_invalid(exc)}") from exc
    return _file_text(f"{sdl}\n", source)


def _why_invalid(failure: Exception) -> str:
    match failure:
        case GraphQLError():
            return one_line_quote(failure.message)
        case KeyError(args=(str() as name, *_)):
            return f"a part of it has no {one_line_quote(name)}"
        case AttributeError():
            return "a part of it is not an object"
        case _:
            # graphql-core quotes the whole value behind its sentence.
            return one_line_quote(str(failure).partition(": {")[0])


def _file_text(sdl: str, source: str) -> str:
    """Return SDL as a file of an endpoint has it: with line feeds, the last at its end, and no invisible characters.

    In place of an invisible character stands an escape of GraphQL. In a block string or a comment the escape is visible
    text; between names it is a syntax error. Half of a surrogate pair has no escape, in GraphQL or in UTF-8.

    Raises:
        SourceRefused: more bytes than the compiler reads.
    """
    text = sdl.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    pieces: list[str] = []
    end = 0
    for offset, character in invisible_characters(text):
        code = ord(character)
        pieces += [text[end:offset], "�" if 0xD800 <= code <= 0xDFFF else f"\\u{{{code:04X}}}"]
        end = offset + 1
    text = "".join([*pieces, text[end:]])
    text = text if text.endswith("\n") else f"{text}\n"
    size = len(text.encode())
    if size > MAX_FILE_BYTES:
        raise SourceRefused(source, f"the schema has {size:,} bytes of SDL; a file may have {MAX_FILE_BYTES:,}")
    return text
