"""The check of annotations for questions to the client's user, which need a key for their state."""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Callable
from typing import Any

from handler.code_tools.content.prompts import PromptDefinition
from handler.code_tools.content.resources import ResourceDefinition
from handler.code_tools.definitions.definition import ToolDefinition
from handler.code_tools.functions.boundary import AuthorFailed, authors_code
from handler.code_tools.functions.continuation import InputRequired
from handler.code_tools.functions.source_location import plain_function

NAME = re.compile(rf"\b{InputRequired.__name__}\b")


def may_ask(definition: ToolDefinition | PromptDefinition | ResourceDefinition) -> bool:
    """Tell if the return annotation, or that of ``resume``, has ``InputRequired``: no other sign precedes a call."""
    functions: list[Callable[..., Any] | None] = [definition.function]
    if isinstance(definition, ToolDefinition):
        functions.append(definition.options.resume)
    return any(_names_it(each) for each in functions if each is not None)


def _names_it(function: Callable[..., Any]) -> bool:
    plain = plain_function(function)
    try:
        with authors_code():  # annotations may run any code, and use names that no longer exist
            hint = typing.get_type_hints(plain).get("return")
    except AuthorFailed:
        hint = inspect.get_annotations(plain).get("return")
    return _has_it(hint)


def _has_it(hint: Any) -> bool:
    if isinstance(hint, str):
        return NAME.search(hint) is not None
    return hint is InputRequired or any(_has_it(each) for each in typing.get_args(hint))
