"""Prompts: messages that a client's user asks for and a function writes."""

from __future__ import annotations

import base64
import re
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Annotated, Any, Literal
from urllib.parse import unquote

from handler.bundle.resource_uris import EXPRESSION, UriPattern, pattern_of
from handler.code_tools.boundary import answer_of
from handler.code_tools.context import Context
from handler.code_tools.docstrings import parse_docstring
from handler.code_tools.options import PromptOptions, ResourceOptions, check_name, check_options
from handler.code_tools.return_values import Content, EmbeddedResource, InputRequired, Text
from handler.code_tools.signature import NO_DEFAULT, Parameter, Signature, read_signature, resolve_hints
from handler.code_tools.source_location import SourceLocation, name_of, place_of, plain_function
from handler.code_tools.type_schemas import to_json
from handler.cold.records import record
from handler.errors.protocol import InvalidParams
from handler.strict_json import JSONObject, to_well_formed_json


@record(frozen=True, slots=True, kw_only=True)
class PromptDefinition:
    """A prompt. The arguments are texts, as MCP requires."""

    name: str
    title: str | None
    description: str | None
    meta: Mapping[str, Any]
    hidden: bool
    signature: Signature
    function: Callable[..., Any]

    @property
    def entry(self) -> JSONObject:
        """The ``prompts/list`` entry."""
        arguments = [_argument(each) for each in self.signature.parameters]
        members = {"title": self.title, "description": self.description, "arguments": arguments, "_meta": self.meta}
        return {"name": self.name, **{key: value for key, value in members.items() if value}}

    @property
    def contract(self) -> list[JSONObject]:
        """The arguments, without their descriptions."""
        return [{"name": each["name"], "required": each["required"]} for each in self.entry.get("arguments", [])]

    @property
    def completions(self) -> dict[str, tuple[str, ...]]:
        """Return argument -> allowed values, for arguments of a ``Literal`` or ``Enum`` type."""
        values = {each.name: _values_of(each.hint) for each in self.signature.parameters}
        return {name: allowed for name, allowed in values.items() if allowed}


def _argument(parameter: Any) -> JSONObject:
    described = {"description": parameter.description} if parameter.description else {}
    return {"name": parameter.name, **described, "required": parameter.default is NO_DEFAULT}


def define_prompt(function: Callable[..., Any], given: Mapping[str, Any], names: Mapping[str, Any]) -> PromptDefinition:
    """Make a prompt of a function.

    Raises:
        ToolDefinitionError: the function cannot be a prompt, or an option does not fit.
    """
    name = given.get("name") or name_of(function)
    place = place_of(function, f"prompt {name}")
    check_name(name, place)
    said = check_options(given, PromptOptions.__annotations__, place)
    signature = read_signature(function, resolve_hints(function, names, place), bound={}, place=place)
    _require_texts(signature, place)
    return PromptDefinition(
        name=name,
        title=said.get("title"),
        description=said.get("description") or parse_docstring(plain_function(function).__doc__ or "").description,
        meta=said.get("meta") or {},
        hidden=bool(said.get("hidden")),
        signature=signature,
        function=function,
    )


def _require_texts(signature: Signature, place: SourceLocation) -> None:
    for each in signature.parameters:
        if _values_of(each.hint) is None:
            expected = "expected str, a Literal or an Enum of str, because arguments of prompts are texts"
            place.refuse(f"{each.name}: {expected}, got {each.hint!r}")


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
    if typing.get_origin(hint) is Annotated:
        return _without_none(hint.__origin__)
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        parts = [part for part in typing.get_args(hint) if part is not types.NoneType]
        return _without_none(parts[0]) if len(parts) == 1 else hint
    return hint


async def run_prompt(prompt: PromptDefinition, arguments: Any, ctx: Context) -> JSONObject | InputRequired:
    """Write a prompt and return a ``GetPromptResult``, or the questions that it asks first.

    Raises:
        McpError: arguments that do not fit, an error of the author's, or a fixed sentence that the function failed.
    """
    given = _checked(prompt, arguments)
    context = {prompt.signature.context: ctx} if prompt.signature.context else {}
    described = {"description": prompt.description} if prompt.description else {}
    return await answer_of(
        f"Prompt {prompt.name}",
        partial(prompt.function, **given, **context),
        lambda value: {**described, "messages": _messages(value)},
        ctx,
    )


def _checked(prompt: PromptDefinition, arguments: Any) -> dict[str, Any]:
    if not isinstance(arguments, Mapping) or not all(isinstance(value, str) for value in arguments.values()):
        raise InvalidParams(f"arguments of prompt {prompt.name}: expected an object of texts")
    missing = [
        each.name for each in prompt.signature.parameters if each.default is NO_DEFAULT and each.name not in arguments
    ]
    if missing:
        raise InvalidParams(f"arguments of prompt {prompt.name}: missing {', '.join(missing)}")
    return {
        each.name: _typed(prompt, each, arguments[each.name])
        for each in prompt.signature.parameters
        if each.name in arguments
    }


def _typed(prompt: PromptDefinition, parameter: Parameter, text: str) -> Any:
    """Convert a text to the parameter's type."""
    allowed = _values_of(parameter.hint)
    if allowed and text not in allowed:
        expected = f"{parameter.name}: expected one of {', '.join(allowed):.1000}"
        raise InvalidParams(f"arguments of prompt {prompt.name}: {expected}")
    hint = _without_none(parameter.hint)
    return hint(text) if isinstance(hint, type) and issubclass(hint, Enum) else text


def _messages(value: Any) -> list[JSONObject]:
    """Return the messages in MCP's form. A message without a role is the user's."""
    is_one = isinstance(value, str | Content | Mapping)
    given: Iterable[Any] = [value] if is_one else value
    return [_message(each) for each in given]


def _message(given: Any) -> JSONObject:
    match given:
        case {"role": "user" | "assistant" as role, "content": str() | Content() as content, **rest} if not rest:
            return {"role": role, "content": _block(content)}
        case str() | Content():
            return {"role": "user", "content": _block(given)}
    raise TypeError(f"expected a text, a content block or {{role, content}}, got {given!r}")


def _block(content: str | Content) -> JSONObject:
    return (Text(content) if isinstance(content, str) else content).to_json()


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


SKILL_FILE = "SKILL.md"

PLACE = SourceLocation(label="skill")


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillDefinition:
    """A skill: the files by their paths, ``SKILL.md`` among them. The compiler reads its front matter."""

    files: Mapping[str, str | bytes]


def define_skill(text: Any, files: Any) -> SkillDefinition:
    """Make a skill of texts.

    Raises:
        ToolDefinitionError: as ``Toolkit.add_skill``.
    """
    if not isinstance(text, str):
        PLACE.refuse(f"expected the text of {SKILL_FILE}, got {type(text).__name__}")
    if not isinstance(files, Mapping):
        PLACE.refuse(f"files: expected a mapping of paths to texts or bytes, got {type(files).__name__}")
    for path, content in files.items():
        if not isinstance(path, str) or path == SKILL_FILE or not {"", ".", ".."}.isdisjoint(str(path).split("/")):
            PLACE.refuse(f"files: expected the path of another file, as references/refunds.md, got {path!r:.80}")
        if not isinstance(content, str | bytes):
            PLACE.refuse(f"files: {path}: expected a text or bytes, got {type(content).__name__}")
    for each in (text, *(content for content in files.values() if isinstance(content, str))):
        if any("\ud800" <= character <= "\udfff" for character in each):
            PLACE.refuse("expected texts of whole characters, got half a character")
    return SkillDefinition(files={SKILL_FILE: text, **files})
