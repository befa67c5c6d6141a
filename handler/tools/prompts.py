"""Prompts: messages that a client's user asks for, written by a function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from handler.bundle import JSONObject
from handler.errors import InvalidParams
from handler.tools.content import Content, Text
from handler.tools.context import Context
from handler.tools.continuation import InputRequired
from handler.tools.docstrings import parse_docstring
from handler.tools.option_checks import check_name, check_options
from handler.tools.options import PromptOptions
from handler.tools.parameters import NO_DEFAULT, Signature, read_signature, resolve_hints
from handler.tools.place import Place, name_of, place_of, plain_function
from handler.tools.steps import answer_of


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptDefinition:
    """A prompt. Its arguments are texts, as MCP has them."""

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


def _argument(parameter: Any) -> JSONObject:
    described = {"description": parameter.description} if parameter.description else {}
    return {"name": parameter.name, **described, "required": parameter.default is NO_DEFAULT}


def define_prompt(function: Callable[..., Any], given: Mapping[str, Any], names: Mapping[str, Any]) -> PromptDefinition:
    """Make a prompt of a function.

    Raises:
        ToolDefinitionError: it cannot be one.
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


def _require_texts(signature: Signature, place: Place) -> None:
    for each in signature.parameters:
        hint = getattr(each.hint, "__origin__", each.hint) if hasattr(each.hint, "__metadata__") else each.hint
        if hint not in (str, Any, str | None):
            place.refuse(f"{each.name}: expected str, because arguments of prompts are texts, got {each.hint!r}")


async def run_prompt(prompt: PromptDefinition, arguments: Any, ctx: Context) -> JSONObject | InputRequired:
    """Write a prompt and return a ``GetPromptResult``, or the questions that it asks first.

    Raises:
        McpError: arguments that do not fit, or a function that failed; of the latter it says no more.
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


def _checked(prompt: PromptDefinition, arguments: Any) -> dict[str, str]:
    if not isinstance(arguments, Mapping) or not all(isinstance(value, str) for value in arguments.values()):
        raise InvalidParams(f"arguments of prompt {prompt.name}: expected an object of texts")
    missing = [
        each.name for each in prompt.signature.parameters if each.default is NO_DEFAULT and each.name not in arguments
    ]
    if missing:
        raise InvalidParams(f"arguments of prompt {prompt.name}: missing {', '.join(missing)}")
    return {each.name: arguments[each.name] for each in prompt.signature.parameters if each.name in arguments}


def _messages(value: Any) -> list[JSONObject]:
    """Messages as MCP has them. What names no role is the user's."""
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
