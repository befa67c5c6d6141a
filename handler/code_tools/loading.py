"""The import of toolkits, and the digests that hold their entries in the bundle against the code that is called."""

from __future__ import annotations

import hashlib
import inspect
import re
import typing
from collections.abc import Sequence
from functools import reduce
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from handler.code_tools.boundary import AuthorFailed, authors_code
from handler.code_tools.definition import ToolDefinition
from handler.code_tools.modules import is_among
from handler.code_tools.return_values import InputRequired
from handler.code_tools.source_location import plain_function
from handler.code_tools.toolkit import Toolkit
from handler.errors.infrastructure import CodeUnavailable
from handler.strict_json import to_json_bytes
from handler.text.sentences import did_you_mean

if TYPE_CHECKING:
    from handler.code_tools.content import PromptDefinition, ResourceDefinition

    AnyDefinition = ToolDefinition | PromptDefinition | ResourceDefinition

Definition = TypeVar("Definition", bound="AnyDefinition")


def load_kit(use: str, *, modules: Sequence[str]) -> Toolkit:
    """Import the toolkit ``module:attribute``. ``modules`` are the modules and packages that may be imported.

    An exception of the module's import goes through, because the module's author has to see it.

    Raises:
        CodeUnavailable: the module may not be imported, the module or attribute is missing, or it is not a toolkit.
    """
    module, _, attribute = use.partition(":")
    if not is_among(module, modules):
        raise CodeUnavailable(use, f"{module} is not among STILE_CODE_MODULES")
    try:
        imported = import_module(module)
    except ModuleNotFoundError as exc:
        if exc.name is None or not f"{module}.".startswith(f"{exc.name}."):
            raise  # the module exists, and one of its imports is missing
        raise CodeUnavailable(use, f"there is no module {exc.name}") from exc
    try:
        kit = reduce(getattr, attribute.split("."), imported)
    except AttributeError as exc:
        kits = [name for name, value in vars(imported).items() if isinstance(value, Toolkit)]
        hint = f"; did you mean {kits[0]}?" if len(kits) == 1 else did_you_mean(attribute, kits)
        raise CodeUnavailable(use, f"{module} has no {attribute}{hint}") from exc
    if not isinstance(kit, Toolkit):
        kind = type(kit).__name__
        hint = ": docs/from-fastmcp.md shows how to turn it into one" if kind in ("FastMCP", "MCPServer") else ""
        raise CodeUnavailable(use, f"expected a Toolkit, got {kind}{hint}")
    return kit


def as_published(definition: Definition, digest: str) -> Definition | None:
    """Return the definition if its schemas are those of the bundle, with plain types if these do; else ``None``.

    Plain schemas that differ from pydantic's thereby cost time alone.
    """
    plain: Any = getattr(definition, "plain", definition)  # prompts and resources have no types
    return next((form for form in (plain, definition) if digest_of(form) == digest), None)


def digest_of(definition: AnyDefinition) -> str:
    """Return the digest of an entry's arguments and output, or URI. Changes of descriptions do not change it."""
    return hashlib.sha256(to_json_bytes(definition.contract)).hexdigest()


def may_ask(definition: AnyDefinition) -> bool:
    """Return whether a return annotation has ``InputRequired``, that of ``resume`` included.

    Questions to the client's user need a key for their state, and no other sign of questions precedes a call.
    """
    functions = [definition.function, *([definition.options.resume] if isinstance(definition, ToolDefinition) else [])]
    hints: list[Any] = []
    for plain in [plain_function(function) for function in functions if function is not None]:
        try:
            with authors_code():  # annotations may run any code, and use names that no longer exist
                hints.append(typing.get_type_hints(plain).get("return"))
        except AuthorFailed:
            hints.append(inspect.get_annotations(plain).get("return"))
    return any(map(_asks, hints))


def _asks(hint: Any) -> bool:
    if isinstance(hint, str):
        return re.search(rf"\b{InputRequired.__name__}\b", hint) is not None
    return hint is InputRequired or any(map(_asks, typing.get_args(hint)))
