"""A toolkit's module at its two times: when its entries are frozen into a bundle, and when one of them is called."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import reduce
from importlib import import_module
from typing import Any

from handler.code_tools.definition import ToolDefinition
from handler.code_tools.modules import is_among
from handler.code_tools.prompts import PromptDefinition
from handler.code_tools.resources import ResourceDefinition
from handler.code_tools.toolkit import Toolkit
from handler.errors import CodeUnavailable
from handler.strict_json import to_json_bytes


def load_kit(use: str, *, modules: Sequence[str]) -> Toolkit:
    """Import the toolkit ``module:attribute``. ``modules`` are those that may be imported, and packages of such.

    Whatever the module raises while it is imported goes through, as its author has to see it.

    Raises:
        CodeUnavailable: it may not be imported, does not exist, or is no toolkit.
    """
    module, _, attribute = use.partition(":")
    if not is_among(module, modules):
        raise CodeUnavailable(use, f"{module} is not among STILE_CODE_MODULES")
    try:
        imported = import_module(module)
    except ModuleNotFoundError as exc:
        if exc.name is None or not f"{module}.".startswith(f"{exc.name}."):
            raise  # it is there, and what it imports is not
        raise CodeUnavailable(use, f"there is no module {exc.name}") from exc
    try:
        kit = reduce(getattr, attribute.split("."), imported)
    except AttributeError as exc:
        raise CodeUnavailable(use, f"{module} has no {attribute}") from exc
    if not isinstance(kit, Toolkit):
        raise CodeUnavailable(use, f"expected a Toolkit, got {type(kit).__name__}")
    return kit


def digest_of(definition: ToolDefinition | PromptDefinition | ResourceDefinition) -> str:
    """A digest of what a client was told that calls take and return. Texts about it may change without another one."""
    return hashlib.sha256(to_json_bytes(_contract(definition))).hexdigest()


def _contract(definition: ToolDefinition | PromptDefinition | ResourceDefinition) -> Any:
    match definition:
        case ToolDefinition():
            # Not from the entry, which takes the time to judge its schemas: the compiler did.
            return {"inputSchema": definition.arguments.schema, "outputSchema": definition.output.schema or None}
        case PromptDefinition():
            arguments = definition.entry.get("arguments", [])
            return [{"name": each["name"], "required": each["required"]} for each in arguments]
        case ResourceDefinition():
            return definition.uri
