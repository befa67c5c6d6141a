"""Prompts, resources and skills that authors write in Python."""

from __future__ import annotations

import base64
import re
import typing
from collections.abc import Callable, Mapping
from enum import Enum
from functools import partial
from types import NoneType
from typing import Any, Literal
from urllib.parse import unquote

from handler.bundle.resource_uris import EXPRESSION, UriPattern, pattern_of
from handler.code_tools.boundary import LOG, AuthorFailed, authors_code, no_task_left_behind, run
from handler.code_tools.context import Context
from handler.code_tools.options import PromptOptions, ResourceOptions, check_name, check_options
from handler.code_tools.return_values import Content, EmbeddedResource, InputRequired, Text
from handler.code_tools.signature import (
    NO_DEFAULT,
    Signature,
    alternatives,
    parse_docstring,
    read_signature,
    resolve_hints,
)
from handler.code_tools.source_location import SourceLocation, function_name, plain_function, source_location
from handler.code_tools.type_schemas import to_json
from handler.cold.records import record
from handler.errors.calls import CallError
from handler.errors.protocol import InvalidParams, McpError
from handler.strict_json import JSONObject, to_well_formed_json


@record(frozen=True, slots=True, kw_only=True)
class _Definition:
    """A prompt or a resource."""

    name: str
    title: str | None
    description: str | None
    meta: Mapping[str, Any]
    hidden: bool
    signature: Signature
    function: Callable[..., Any]

    def _members(self, own: JSONObject) -> JSONObject:
        """Return the members of the list entry that have values."""
        members = {"title": self.title, "description": self.description, **own, "_meta": self.meta}
        return {key: value for key, value in members.items() if value}


@record(frozen=True, slots=True, kw_only=True)
class PromptDefinition(_Definition):
    """A prompt: messages that a client's user asks for and a function writes.

    The arguments are texts, as MCP requires.
    """

    @property
    def entry(self) -> JSONObject:
        """The ``prompts/list`` entry."""
        arguments = [
            {
                "name": each.name,
                **({"description": each.description} if each.description else {}),
                "required": each.default is NO_DEFAULT,
            }
            for each in self.signature.parameters
        ]
        return {"name": self.name, **self._members({"arguments": arguments})}

    @property
    def contract(self) -> list[JSONObject]:
        """The arguments, without their descriptions."""
        return [{"name": each["name"], "required": each["required"]} for each in self.entry.get("arguments", [])]

    @property
    def completions(self) -> dict[str, tuple[str, ...]]:
        """Return argument -> allowed values, for arguments of a ``Literal`` or ``Enum`` type."""
        values = {each.name: _values_of(each.hint) for each in self.signature.parameters}
        return {name: allowed for name, allowed in values.items() if allowed}


@record(frozen=True, slots=True, kw_only=True)
class ResourceDefinition(_Definition):
    """A resource, or a template of resources: ``docs://{page}``; ``{+path}`` is a part that may hold slashes.

    Source: RFC 6570, levels 1 and 2.
    """

    uri: str
    mime_type: str | None
    pattern: UriPattern

    @property
    def is_template(self) -> bool:
        """True if the URI has expressions."""
        return self.pattern.is_template

    @property
    def entry(self) -> JSONObject:
        """The entry of ``resources/list`` or ``resources/templates/list``."""
        key = "uriTemplate" if self.is_template else "uri"
        return {key: self.uri, "name": self.name, **self._members({"mimeType": self.mime_type})}

    @property
    def contract(self) -> str:
        """The URI."""
        return self.uri

    def values_in(self, uri: str) -> dict[str, str] | None:
        """Return the values of the template's expressions in a URI; ``None`` if the URI is of another resource."""
        values = self.pattern.values_in(uri)
        return None if values is None else {name: unquote(value) for name, value in values.items()}


def define_prompt(
    function: Callable[..., Any], options: Mapping[str, Any], names: Mapping[str, Any]
) -> PromptDefinition:
    """Make a prompt of a function.

    Raises:
        ToolDefinitionError: the function cannot be a prompt, or an option does not fit.
    """
    name = options.get("name") or function_name(function)
    place = source_location(function, f"prompt {name}")
    check_name(name, place)
    options = check_options(options, PromptOptions.__annotations__, place)
    prompt = PromptDefinition(name=name, **_members_of(function, options, names, place))
    for each in prompt.signature.parameters:
        if _values_of(each.hint) is None:
            expected = "expected str, a Literal or an Enum of str, because arguments of prompts are texts"
            place.refuse(f"{each.name}: {expected}, got {each.hint!r}")
    return prompt


def define_resource(
    function: Callable[..., Any], uri: str, options: Mapping[str, Any], names: Mapping[str, Any]
) -> ResourceDefinition:
    """Make a resource of a function.

    Raises:
        ToolDefinitionError: the function cannot be a resource of that URI, or an option does not fit.
    """
    place = source_location(function, f"resource {uri}")
    options = check_options(options, ResourceOptions.__annotations__, place)
    if not re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", uri):
        place.refuse("expected a URI with its scheme, as docs://intro")
    members = _members_of(function, options, names, place)
    expressions = [name for _, name in EXPRESSION.findall(uri)]
    parameters = [each.name for each in members["signature"].parameters]
    if sorted(expressions) != sorted(parameters):
        in_uri, in_function = ", ".join(expressions) or "none", ", ".join(parameters) or "none"
        place.refuse(f"expected parameters as in the URI ({in_uri}), got {in_function}")
    name, mime_type = options.get("name") or function_name(function) or uri, options.get("mime_type")
    return ResourceDefinition(uri=uri, name=name, mime_type=mime_type, pattern=pattern_of(uri), **members)


def _members_of(
    function: Callable[..., Any], options: Mapping[str, Any], names: Mapping[str, Any], place: SourceLocation
) -> dict[str, Any]:
    docstring = parse_docstring(plain_function(function).__doc__ or "")
    return {
        "title": options.get("title"),
        "description": options.get("description") or docstring.description,
        "meta": options.get("meta") or {},
        "hidden": bool(options.get("hidden")),
        "signature": read_signature(function, resolve_hints(function, names, place), bound={}, place=place),
        "function": function,
    }


def _values_of(hint: Any) -> tuple[str, ...] | None:
    """Return the texts that a type allows; an empty tuple if it allows all, ``None`` if it is not a type of texts."""
    hint = _without_none(hint)
    if hint is str or hint is Any:
        return ()
    if typing.get_origin(hint) is Literal:
        values = typing.get_args(hint)
    elif isinstance(hint, type) and issubclass(hint, Enum):
        values = tuple(member.value for member in hint)
    else:
        return None
    return values if values and all(isinstance(value, str) for value in values) else None


def _without_none(hint: Any) -> Any:
    """Remove ``None`` and the annotations of ``Annotated`` from a type."""
    parts = [part for part in alternatives(hint) if part is not NoneType]
    return _without_none(parts[0]) if len(parts) == 1 and parts[0] is not hint else hint


def define_skill(text: Any, files: Any) -> Mapping[str, str | bytes]:
    """Return the files of a skill by their paths, ``SKILL.md`` among them. The compiler reads its front matter.

    Raises:
        ToolDefinitionError: as ``Toolkit.add_skill``.
    """
    place = SourceLocation(label="skill")
    if not isinstance(text, str):
        place.refuse(f"expected the text of SKILL.md, got {type(text).__name__}")
    if not isinstance(files, Mapping):
        place.refuse(f"files: expected a mapping of paths to texts or bytes, got {type(files).__name__}")
    for path, content in files.items():
        if not isinstance(path, str) or path == "SKILL.md" or not {"", ".", ".."}.isdisjoint(str(path).split("/")):
            place.refuse(f"files: expected the path of another file, as references/refunds.md, got {path!r:.80}")
        if not isinstance(content, str | bytes):
            place.refuse(f"files: {path}: expected a text or bytes, got {type(content).__name__}")
    for content in (text, *files.values()):
        if isinstance(content, str) and re.search("[\ud800-\udfff]", content):
            place.refuse("expected texts of whole characters, got half a character")
    return {"SKILL.md": text, **files}


async def run_prompt(prompt: PromptDefinition, arguments: Any, ctx: Context) -> JSONObject | InputRequired:
    """Write a prompt and return a ``GetPromptResult``, or the questions that it asks first.

    Raises:
        McpError: arguments that do not fit, an error of the author's, or a fixed sentence that the function failed.
    """
    described = {"description": prompt.description} if prompt.description else {}
    return await _answer(
        f"Prompt {prompt.name}",
        prompt,
        _read_arguments(prompt, arguments),
        lambda value: {
            **described,
            "messages": list(map(_message, [value] if isinstance(value, str | Content | Mapping) else value)),
        },
        ctx,
    )


async def run_resource(resource: ResourceDefinition, uri: str, ctx: Context) -> JSONObject | InputRequired:
    """Read a resource at one of its URIs, and return a ``ReadResourceResult``, or the questions that it asks first.

    Raises:
        McpError: an error of the author's, or a fixed sentence that the function failed.
    """
    return await _answer(
        f"Resource {resource.uri}",  # not the requested URI, whose parts are arguments
        resource,
        resource.values_in(uri) or {},
        lambda value: {"contents": [_contents(value, uri, resource.mime_type)]},
        ctx,
    )


async def _answer(
    label: str, definition: _Definition, values: Mapping[str, Any], convert: Callable[[Any], JSONObject], ctx: Context
) -> JSONObject | InputRequired:
    """Call the function of a prompt or resource, and convert its value; questions are returned as they are."""
    function = partial(definition.function, **values, **definition.signature.context_argument(ctx))
    try:
        with authors_code():
            async with no_task_left_behind():
                value = await run(function, ctx)
            return value if isinstance(value, InputRequired) else convert(value)
    except CallError as exc:
        raise McpError(McpError.INTERNAL_ERROR, str(exc)) from exc
    except AuthorFailed as exc:
        LOG.exception("%s failed in request %s", label, ctx.request_id)
        raise McpError(McpError.INTERNAL_ERROR, f"{label} failed") from exc


def _read_arguments(prompt: PromptDefinition, arguments: Any) -> dict[str, Any]:
    """Return the arguments of a prompt in the types of its parameters."""
    label, parameters = f"arguments of prompt {prompt.name}", prompt.signature.parameters
    if not isinstance(arguments, Mapping) or not all(isinstance(value, str) for value in arguments.values()):
        raise InvalidParams(f"{label}: expected an object of texts")
    missing = [each.name for each in parameters if each.default is NO_DEFAULT and each.name not in arguments]
    if missing:
        raise InvalidParams(f"{label}: missing {', '.join(missing)}")
    values: dict[str, Any] = {}
    for each in parameters:
        if each.name in arguments:
            text, hint, allowed = arguments[each.name], _without_none(each.hint), _values_of(each.hint)
            if allowed and text not in allowed:
                raise InvalidParams(f"{label}: {each.name}: expected one of {', '.join(allowed):.1000}")
            values[each.name] = hint(text) if isinstance(hint, type) and issubclass(hint, Enum) else text
    return values


def _message(message: Any) -> JSONObject:
    """Return a message in MCP's form. A message without a role is the user's."""
    match message:
        case {"role": "user" | "assistant" as role, "content": str() | Content() as content, **rest} if not rest:
            block = Text(content) if isinstance(content, str) else content
            return {"role": role, "content": block.to_json()}
        case str() | Content():
            return _message({"role": "user", "content": message})
    raise TypeError(f"expected a text, a content block or {{role, content}}, got {message!r}")


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
