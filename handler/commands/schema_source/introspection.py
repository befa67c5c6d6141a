"""Ask a GraphQL API for its schema: by introspection, in a smaller form if refused, and as a subgraph."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from graphql import GraphQLError, Source, get_introspection_query

from handler.commands.schema_source.header_options import RequestHeaders
from handler.commands.schema_source.origin import SchemaSource
from handler.commands.schema_source.refusal import SourceRefused, quoted
from handler.commands.schema_source.schema_file import is_usable
from handler.commands.schema_source.sdl_file import bounded, printable, sdl_of_introspection
from handler.compiler.schema.sdl_parser import parse_sdl
from handler.errors.infrastructure import AddressRefused, HttpError, HttpTimeout, HttpTooLarge
from handler.http.client import HttpClient, HttpRequest, HttpResponse
from handler.strict_json import parse_json

MAX_ANSWER_BYTES = 64_000_000
"""An introspection in JSON is several times larger than its SDL."""

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

UNAUTHORIZED, FORBIDDEN = 401, 403
FINAL = frozenset({UNAUTHORIZED, 429, 502, 503, 504})
"""Statuses with which no other query is tried. Some servers refuse introspection with 403, unknown fields with 500."""

TRUST = (
    "its certificate is not by an authority that this machine trusts; SSL_CERT_FILE names a file with the authority's"
)


@dataclass(frozen=True, slots=True)
class _Answer:
    """A GraphQL response: its status and its JSON object."""

    status: int
    content: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class IntrospectedApi:
    """An API that is asked for its schema until a deadline. ``headers`` go to its URL only."""

    source: SchemaSource
    headers: RequestHeaders
    http: HttpClient
    deadline: float  # of time.monotonic()
    timeout_s: float
    warn: Callable[[str], None]  # is told why a schema is not the whole one

    def sdl(self) -> str:
        """Return the API's schema.

        Raises:
            SourceRefused: the API does not give its schema, or one that cannot be used.
        """
        refusals: list[_Answer] = []
        for query in QUERIES:
            answer = self._ask(query, "IntrospectionQuery")
            data = answer.content.get("data")
            if isinstance(data, dict) and isinstance(data.get("__schema"), dict):
                return self._subgraph(data) or sdl_of_introspection(data, self.source.shown)
            refusals.append(answer)
        sdl = self._service()
        if sdl:
            return sdl
        raise self._refused(self._why_not(refusals[0]))

    def _subgraph(self, data: Mapping[str, Any]) -> str:
        """Return a subgraph's own SDL, which has its directives; empty string if introspection has to do."""
        fields = [field for type_ in _query_types(data) for field in type_.get("fields") or ()]
        if not any(isinstance(field, dict) and field.get("name") == "_service" for field in fields):
            return ""
        sdl = self._service()
        if sdl and is_usable(sdl, self.source):
            return sdl
        self.warn(LOST_DIRECTIVES)
        return ""

    def _service(self) -> str:
        """Return a subgraph's SDL; empty string if the API gives none that can be read."""
        try:
            data = self._ask(SUBGRAPH, "Subgraph").content.get("data")
        except SourceRefused:
            return ""
        service = data.get("_service") if isinstance(data, dict) else None
        sdl = service.get("sdl") if isinstance(service, dict) else None
        if not isinstance(sdl, str) or not sdl.strip():
            return ""
        text = bounded(printable(sdl if sdl.endswith("\n") else f"{sdl}\n"), self.source.shown)
        try:
            parse_sdl(Source(text))
        except GraphQLError:
            return ""
        return text

    def _ask(self, query: str, name: str) -> _Answer:
        """Return a GraphQL response. A refusal that no other query can change ends the search."""
        response = self._send(json.dumps({"query": query, "operationName": name}).encode())
        content = _json_of(response)
        has_errors = isinstance(content, dict) and isinstance(content.get("errors"), list)
        if response.status in FINAL or (response.status == FORBIDDEN and not has_errors):
            raise self._refused(self._why_not(_Answer(response.status, content if has_errors else {})))
        if isinstance(content, dict) and (has_errors or isinstance(content.get("data"), dict)):
            return _Answer(response.status, content)
        raise self._refused(self._not_graphql(response))

    def _send(self, body: bytes) -> HttpResponse:
        left_s = self.deadline - time.monotonic()
        if left_s <= 0:
            raise self._refused(f"no complete answer within {self.timeout_s:g} s (--timeout)")
        request = HttpRequest(
            method="POST",
            url=self.source.text,
            headers={**self.headers.fields(), **HEADERS},
            body=body,
            timeout_s=left_s,
            max_bytes=MAX_ANSWER_BYTES,
        )
        try:
            return self.http.send(request)
        except HttpError as exc:
            raise self._refused(self._failure(exc)) from exc

    def _failure(self, failure: HttpError) -> str:
        match failure:
            case HttpTimeout():
                return f"no complete answer within {self.timeout_s:g} s (--timeout)"
            case HttpTooLarge():
                return f"the answer is larger than {MAX_ANSWER_BYTES:,} bytes"
            case AddressRefused():
                return f"this address may not be asked: {failure.reason}"
            case _ if failure.reason == "TLS verification failed":
                return f"{failure.reason}: {TRUST}"
            case _:
                return failure.reason

    def _why_not(self, answer: _Answer) -> str:
        said = self._said(answer.content)
        if answer.status in (UNAUTHORIZED, FORBIDDEN):
            give = "-H 'Authorization: Bearer $TOKEN' gives a credential"
            remedy = "check the credential of -H" if self.headers else give
            return f"the API answered {answer.status}{f' ({said})' if said else ''}: {remedy}"
        if answer.status in FINAL:
            return f"the API answered {answer.status}{f' ({said})' if said else ''}: try again later"
        credential = "" if self.headers else " give a credential with -H,"
        return (
            f"the API does not answer introspection ({said or 'it gave no schema and no error'}): switch introspection "
            f"on,{credential} or give the schema as a file"
        )

    def _said(self, answer: Mapping[str, Any]) -> str:
        """Return the first error of an answer, in quotation marks; empty string if there is none."""
        errors = [error for error in answer.get("errors") or () if isinstance(error, dict)]
        messages = [error["message"] for error in errors if isinstance(error.get("message"), str)]
        return quoted(self.headers.hidden_in(messages[0])) if messages else ""

    def _not_graphql(self, response: HttpResponse) -> str:
        if 300 <= response.status < 400:
            target = _redirect(self.headers.hidden_in(response.headers.get("location", "")))
            return f"the API answered with a redirect{target}, which is not followed: name the address itself"
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind in ("text/html", "application/xhtml+xml") or response.body[:200].lstrip().startswith(b"<"):
            return f"the answer ({response.status}) is a web page: expected the address of a GraphQL API"
        found = _instead_of_graphql(response.body)
        return f"the answer ({response.status}) is not one of GraphQL ({found}): expected the address of a GraphQL API"

    def _refused(self, cause: str) -> SourceRefused:
        return SourceRefused(self.source.shown, cause)


def _query_types(data: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the query type of an introspection."""
    schema = data["__schema"]
    root = schema.get("queryType")
    types = schema.get("types")
    for type_ in types if isinstance(types, list) and isinstance(root, dict) else ():
        if isinstance(type_, dict) and type_.get("name") == root.get("name") and isinstance(type_.get("fields"), list):
            yield type_


def _json_of(response: HttpResponse) -> Any:
    try:
        return parse_json(response.body)
    except ValueError:
        return None


def _instead_of_graphql(body: bytes) -> str:
    """Return a phrase on the body of an answer that is not a GraphQL response."""
    if not body.strip():
        return "it is empty"
    try:
        content = parse_json(body)
    except UnicodeDecodeError:
        return "it is not UTF-8"
    except ValueError as exc:
        return f"it is not valid JSON: {exc}"
    return (
        "it has neither an object as data nor a list as errors"
        if isinstance(content, dict)
        else "it is not a JSON object"
    )


def _redirect(location: str) -> str:
    """Return the target of a redirect without its query string, as a part of a sentence."""
    target = location.partition("?")[0].partition("#")[0]
    return f" to {quoted(target)}" if target and "@" not in target else ""
