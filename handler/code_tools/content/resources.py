"""Resources: content of a URI, or of all URIs of a template, that a function reads."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any
from urllib.parse import unquote

from handler.bundle.resource_uris import EXPRESSION, UriPattern, pattern_of
from handler.code_tools.content.content_blocks import EmbeddedResource
from handler.code_tools.functions.awaiting import answer_of
from handler.code_tools.functions.context import Context
from handler.code_tools.functions.continuation import InputRequired
from handler.code_tools.functions.docstrings import parse_docstring
from handler.code_tools.functions.option_checks import check_options
from handler.code_tools.functions.options import ResourceOptions
from handler.code_tools.functions.signature import Signature, read_signature, resolve_hints
from handler.code_tools.functions.source_location import SourceLocation, name_of, place_of, plain_function
from handler.code_tools.type_hints.type_schemas import to_json
from handler.cold.records import record
from handler.strict_json import JSONObject, to_well_formed_json


@record(frozen=True, slots=True, kw_only=True)
class ResourceDefinition:
    """A resource, or a template of resources: ``docs://{page}``; ``{+path}`` is a part that may hold slashes.

    Source: RFC 6570, levels 1 and 2.
    """

    uri: str
    name: str
    title: str | None
    description: str | None
    mime_type: str | None
    meta: Mapping[str, Any]
    hidden: bool
    signature: Signature
    function: Callable[..., Any]
    pattern: UriPattern

    @property
    def is_template(self) -> bool:
        """True if the URI has expressions."""
        return self.pattern.is_template

    @property
    def entry(self) -> JSONObject:
        """The entry of ``resources/list`` or ``resources/templates/list``."""
        members = {
            "title": self.title,
            "description": self.description,
            "mimeType": self.mime_type,
            "_meta": self.meta,
        }
        key = "uriTemplate" if self.is_template else "uri"
        return {key: self.uri, "name": self.name, **{name: each for name, each in members.items() if each}}

    @property
    def contract(self) -> str:
        """The URI."""
        return self.uri

    def values_in(self, uri: str) -> dict[str, str] | None:
        """Return the values of the template's expressions in a URI; ``None`` if the URI is of another resource."""
        found = self.pattern.values_in(uri)
        return None if found is None else {name: unquote(value) for name, value in found.items()}


def define_resource(
    function: Callable[..., Any], uri: str, given: Mapping[str, Any], names: Mapping[str, Any]
) -> ResourceDefinition:
    """Make a resource of a function.

    Raises:
        ToolDefinitionError: the function cannot be a resource of that URI, or an option does not fit.
    """
    place = place_of(function, f"resource {uri}")
    said = check_options(given, ResourceOptions.__annotations__, place)
    if not re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", uri):
        place.refuse("expected a URI with its scheme, as docs://intro")
    signature = read_signature(function, resolve_hints(function, names, place), bound={}, place=place)
    _require_expressions(signature, uri, place)
    return ResourceDefinition(
        uri=uri,
        name=said.get("name") or name_of(function) or uri,
        title=said.get("title"),
        description=said.get("description") or parse_docstring(plain_function(function).__doc__ or "").description,
        mime_type=said.get("mime_type"),
        meta=said.get("meta") or {},
        hidden=bool(said.get("hidden")),
        signature=signature,
        function=function,
        pattern=pattern_of(uri),
    )


def _require_expressions(signature: Signature, uri: str, place: SourceLocation) -> None:
    expressions = [name for _, name in EXPRESSION.findall(uri)]
    parameters = [each.name for each in signature.parameters]
    if sorted(expressions) != sorted(parameters):
        shown = ", ".join(expressions) or "none"
        place.refuse(f"expected parameters as in the URI ({shown}), got {', '.join(parameters) or 'none'}")


async def run_resource(resource: ResourceDefinition, uri: str, ctx: Context) -> JSONObject | InputRequired:
    """Read a resource at one of its URIs, and return a ``ReadResourceResult``, or the questions that it asks first.

    Raises:
        McpError: an error of the author's, or a fixed sentence that the function failed.
    """
    values = resource.values_in(uri) or {}
    context = {resource.signature.context: ctx} if resource.signature.context else {}
    return await answer_of(
        f"Resource {resource.uri}",  # not the requested URI, whose parts are arguments
        partial(resource.function, **values, **context),
        lambda value: {"contents": [_contents(value, uri, resource.mime_type)]},
        ctx,
    )


def _contents(value: Any, uri: str, mime_type: str | None) -> JSONObject:
    """Return texts and bytes as they are, an ``EmbeddedResource`` in full, and any other value as JSON."""
    match value:
        case EmbeddedResource():
            return dict(value.to_json()["resource"])
        case str():
            return {"uri": uri, "mimeType": mime_type or "text/plain", "text": value}
        case bytes():
            blob = base64.b64encode(value).decode("ascii")
            return {"uri": uri, "mimeType": mime_type or "application/octet-stream", "blob": blob}
    text = to_well_formed_json(to_json(value)).decode()
    return {"uri": uri, "mimeType": mime_type or "application/json", "text": text}
