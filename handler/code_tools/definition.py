"""The definition of a tool in Python: its metadata, arguments, output, and functions."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar, Unpack, overload

from handler.code_tools.arguments import Arguments, SchemaArguments, TypedArguments
from handler.code_tools.context import Context
from handler.code_tools.options import (
    TOOL_OPTIONS,
    Options,
    ToolOptions,
    check_name,
    is_hidden,
    read_options,
)
from handler.code_tools.results import Output
from handler.code_tools.signature import (
    EXPECTED_RESUME,
    Resume,
    caller_names,
    parse_docstring,
    read_raw_signature,
    read_resume,
    read_signature,
    resolve_hints,
    yields,
)
from handler.code_tools.source_location import SourceLocation, function_name, plain_function, source_location
from handler.cold.records import record
from handler.list_entries import mirrored_in
from handler.strict_json import JSONObject

Allow = Callable[[JSONObject, Context], bool]
"""The type of functions that decide if a caller may use a tool, from the tool's list entry and the context."""

DECLARED = "__stile_tool__"
"""The attribute of a function that holds the ``Declaration`` of its decorators."""


AGAIN = ("name", "title", "description", "annotations", "meta", "category", "hidden", "visible", "pinned", "aliases")
"""The options of a definition that is registered again."""


class Tool:
    """A tool as a class, for several tools of one kind: each instance is a tool with a name of its own.

    ``call`` is the function, with parameters like any other; with ``input_schema`` it takes the arguments as one
    mapping. Attributes of the class set the options of ``@tool``, and methods of these names compute them. Without
    ``name``, the class gives the tool's name: ``SearchFiles`` becomes ``search_files``.
    """

    call: Callable[..., Any]
    resume: Callable[..., Any]
    validate: Callable[..., Any]


@record(frozen=True, slots=True, kw_only=True)
class Declaration:
    """The options that decorators give a function, and the function's hints, resolved where it was written."""

    options: Mapping[str, Any]
    hints: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class ToolDefinition:
    """One tool, ready to be listed and called."""

    name: str
    options: Options
    place: SourceLocation
    function: Callable[..., Any]
    bound: Mapping[str, Any]
    arguments: Arguments
    output: Output
    resume: Resume | None = None
    allow: tuple[Allow, ...] = ()
    listed: JSONObject | None = None  # the entry, if a provider made it

    @functools.cached_property
    def entry(self) -> JSONObject:
        """The ``tools/list`` entry.

        Raises:
            ToolDefinitionError: a type or schema that cannot be listed.
        """
        if self.listed is not None:
            return self.listed
        if self.resume is None and self.output.may_go_on:  # not at definition: an outer decorator may add resume
            self.place.refuse(f"it returns Async and has no resume to continue with: {EXPECTED_RESUME}")
        options = self.options
        members = {
            "title": options.title,
            "description": options.description,
            "inputSchema": self._checked("input_schema", self.arguments.schema),
            "outputSchema": self._checked("output_schema", self.output.schema),
            "annotations": options.annotations,
            "icons": list(options.icons),
            "_meta": options.entry_meta,
        }
        return {"name": self.name, **{key: value for key, value in members.items() if value or key == "inputSchema"}}

    @property
    def contract(self) -> JSONObject:
        """The schemas. Not from the entry, which checks them: the compiler has checked them."""
        return {"inputSchema": self.arguments.schema, "outputSchema": self.output.schema or None}

    @functools.cached_property
    def plain(self) -> ToolDefinition:
        """The tool with plain types where it has these: its calls need pydantic only for values in doubt."""
        return replace(self, arguments=self.arguments.plain(), output=self.output.plain())

    def _checked(self, option: str, schema: JSONObject | None) -> JSONObject | None:
        """Check a schema and return it. Only entries are checked, because a check takes longer than a call."""
        from handler.json_schema.checker import refuse_bad_schema  # loads jsonschema, and a call checks no schema

        try:
            refuse_bad_schema(schema or {})
            if option == "input_schema":
                mirrored_in(schema or {})
        except ValueError as exc:
            self.place.refuse(f"{option}: {exc}", cause=exc)
        return schema

    def named(self, name: str) -> ToolDefinition:
        """Return the tool under an alias, which its errors then name. ``allows`` is asked of the tool's own name."""
        return self if name == self.name else replace(self, name=name)

    def allows(self, ctx: Context) -> bool:
        """Return whether the caller may use the tool."""
        return all(allow(self.entry, ctx) for allow in self.allow)


def define(
    target: Any,
    overrides: Mapping[str, Any],
    *,
    defaults: Mapping[str, Any] | None = None,
    names: Mapping[str, Any] | None = None,
) -> ToolDefinition:
    """Make a tool of a function, a ``Tool``, or a definition. ``overrides`` win over its options, these over defaults.

    Hints of a function without a decorator are resolved with the local ``names``.

    Raises:
        ToolDefinitionError: ``target`` cannot be a tool.
    """
    if isinstance(target, ToolDefinition):
        return _registered(target, overrides)
    if isinstance(target, type) and issubclass(target, Tool):
        target = target()
    place = source_location(target, "tool")
    if not callable(target) and not isinstance(target, Tool):
        place.refuse(f"expected a function or a Tool, got {target!r}")
    declared = _declaration_of(target, names or {})
    own = {key: value for key, value in declared.options.items() if value is not None}
    registered = {key: value for key, value in overrides.items() if value is not None}
    of_kit = {"hidden": False, **(defaults or {})}
    hidden = is_hidden(registered, default=is_hidden(own, default=of_kit["hidden"]))
    options = {**of_kit, **own, **registered, "hidden": hidden}
    name = options.get("name")
    if name is None and isinstance(target, Tool):  # GetWeather becomes get_weather
        name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", type(target).__name__).lower()
    elif name is None:
        name = function_name(target)
    place = source_location(target, f"tool {name}" if name else "tool")
    check_name(name, place)
    if _is_method(target):
        place.refuse("a method waits for its instance: decorate it with @tool, and add the instance's with kit.add")
    function = target.call if isinstance(target, Tool) else target
    if options.get("description") is None:
        docstring = vars(type(target)).get("__doc__") if isinstance(target, Tool) else ""
        docstring = docstring or plain_function(function).__doc__ or ""
        options["description"] = parse_docstring(docstring).description or None
    checked = read_options(options, place)
    if yields(function):
        place.refuse("it yields, and one result is needed: return a list")
    bound = options.get("bind") or {}
    if checked.input_schema is not None:
        takes = read_raw_signature(function, declared.hints, bound=bound, place=place)
        arguments: Arguments = SchemaArguments(takes, checked, place)
        returns = declared.hints.get("return", inspect.Parameter.empty)
    else:
        signature = read_signature(function, declared.hints, bound=bound, place=place)
        arguments, returns = TypedArguments(signature, checked, place), signature.returns
    output = Output(returns, checked, place)
    return ToolDefinition(
        name=name,
        options=checked,
        place=place,
        function=function,
        bound=bound,
        arguments=arguments,
        output=output,
        resume=None if checked.resume is None else read_resume(checked.resume, names or {}, place),
    )


def _registered(definition: ToolDefinition, overrides: Mapping[str, Any]) -> ToolDefinition:
    """Register a definition again: its schemas and functions stay as they are."""
    changes = {key: value for key, value in overrides.items() if value is not None}
    name = changes.get("name", definition.name)
    place = replace(definition.place, label=f"tool {name}")
    check_name(name, place)
    unfit = [key for key in changes if key not in AGAIN]
    if unfit:
        place.refuse(f"{unfit[0]}: a tool that is defined already takes {', '.join(AGAIN)}")
    before = definition.options
    after = read_options({**changes, "hidden": is_hidden(changes, default=before.hidden)}, place)
    replacing = changes.keys() & {"title", "description", "annotations", "pinned", "aliases"}
    options = replace(
        before,
        hidden=after.hidden,
        category=after.category or before.category,
        meta={**before.meta, **after.meta},
        **{key: getattr(after, key) for key in replacing},
    )
    return replace(definition, name=name, options=options, place=place)


def declare(function: Any, options: Mapping[str, Any], names: Mapping[str, Any]) -> None:
    """Store a decorator's options on a function. A decorator nearer to the function wins.

    Raises:
        ToolDefinitionError: an option does not fit, or the function cannot be a tool.
    """
    before: Declaration | None = getattr(function, DECLARED, None)
    merged = {**options, **(before.options if before else {})}
    place = source_location(function, f"tool {merged.get('name') or function_name(function)}".strip())
    if isinstance(function, type) or not callable(function):
        place.refuse(f"expected a function, got {function!r}; a class is a tool if it derives from Tool")
    hints = before.hints if before else resolve_hints(function, names, place)
    setattr(function, DECLARED, Declaration(options=merged, hints=hints))
    if not _is_method(function):
        define(function, {}, names=names)
    else:
        read_options(merged, place)  # a method's parameters are checked once it is bound


def _is_method(function: Any) -> bool:
    """Return whether a function is defined in a class and its first parameter is ``self`` or ``cls``."""
    if not inspect.isfunction(function) or "." not in function.__qualname__.rpartition("<locals>.")[2]:
        return False
    return next(iter(inspect.signature(function).parameters), "") in ("self", "cls")


def _declaration_of(target: Any, names: Mapping[str, Any]) -> Declaration:
    if not isinstance(target, Tool):
        declared: Declaration | None = getattr(target, DECLARED, None)
        place = source_location(target, f"tool {function_name(target)}")
        return declared or Declaration(options={}, hints=resolve_hints(target, names, place))
    place = source_location(target, f"tool {type(target).__name__}")
    if not callable(getattr(target, "call", None)):
        place.refuse("expected a method call")
    options: dict[str, Any] = {}
    for name in TOOL_OPTIONS:  # attributes of the class, and methods that compute them
        value = getattr(target, name, None)
        is_computed = inspect.ismethod(value) and name not in ("validate", "resume")
        options[name] = value() if is_computed and callable(value) else value
    return Declaration(options=options, hints=resolve_hints(target.call, names, place))


def describe(target: Any) -> JSONObject:
    """Return the ``tools/list`` entry of a function, a ``Tool`` or a definition, as a client would see it.

    Raises:
        ToolDefinitionError: ``target`` cannot be a tool.
    """
    return define(target, {}, names=caller_names()).entry


F = TypeVar("F", bound=Callable[..., Any])


@overload
def tool(function: F, /, **options: Unpack[ToolOptions]) -> F: ...
@overload
def tool(name: str | None = None, /, **options: Unpack[ToolOptions]) -> Callable[[F], F]: ...
def tool(target: Any = None, /, **options: Any) -> Any:
    """Declare a function as a tool, and return the function unchanged.

    The forms are ``@tool``, ``@tool()``, ``@tool("name")`` and ``@tool(name="name", …)``. A toolkit takes the function
    with ``kit.add``.

    Raises:
        ToolDefinitionError: an option that does not fit, or a function that cannot be a tool.
    """
    names = caller_names()
    return decorator_of(target, options, lambda function, own: declare(function, own, names))


def decorator_of(target: Any, options: Mapping[str, Any], apply: Callable[[Any, Mapping[str, Any]], None]) -> Any:
    """Return the decorator, or the function that it decorates: ``target`` is the function, its name, or ``None``.

    ``apply`` gets the function and the options, which may have its name.
    """
    own = {"name": target, **options} if isinstance(target, str) else options

    def decorate(function: F) -> F:
        apply(function, own)
        return function

    return decorate if target is None or isinstance(target, str) else decorate(target)
