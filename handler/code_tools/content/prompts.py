"""Prompts: messages that a client's user asks for and a function writes."""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from functools import partial
from typing import Annotated, Any, Literal

from handler.code_tools.content.content_blocks import Content, Text
from handler.code_tools.functions.awaiting import answer_of
from handler.code_tools.functions.context import Context
from handler.code_tools.functions.continuation import InputRequired
from handler.code_tools.functions.docstrings import parse_docstring
from handler.code_tools.functions.option_checks import check_name, check_options
from handler.code_tools.functions.options import PromptOptions
from handler.code_tools.functions.signature import NO_DEFAULT, Parameter, Signature, read_signature, resolve_hints
from handler.code_tools.functions.source_location import SourceLocation, name_of, place_of, plain_function
from handler.cold.records import record
from handler.errors.protocol import InvalidParams
from handler.strict_json import JSONObject


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
