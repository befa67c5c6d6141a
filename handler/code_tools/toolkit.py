"""A toolkit: the tools, prompts and resources that an endpoint takes from one Python module."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, Unpack, overload

from handler.bundle.model import JSONObject
from handler.code_tools.context import Context
from handler.code_tools.decorator import F
from handler.code_tools.definition import Allow, KitDefaults, ToolDefinition, declare, define
from handler.code_tools.option_checks import check_options, is_hidden
from handler.code_tools.options import (
    KitOptions,
    PromptOptions,
    RegistrationOptions,
    ResourceOptions,
    ToolOptions,
)
from handler.code_tools.prompts import PromptDefinition, define_prompt
from handler.code_tools.resources import ResourceDefinition, define_resource
from handler.code_tools.signature import caller_names
from handler.code_tools.source_location import Place
from handler.errors import ToolDefinitionError


class ToolProvider(Protocol):
    """Tools that differ from caller to caller. Their arguments are judged by nobody but ``call``."""

    def tools(self, ctx: Context) -> Any:
        """The ``tools/list`` entries for this caller; may be async."""
        ...

    def call(self, name: str, arguments: JSONObject, ctx: Context) -> Any:
        """Call one of them and return what a tool returns; may be async."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Provided:
    """A provider. Where an optional one fails, the other tools are listed all the same."""

    provider: ToolProvider
    optional: bool
    allow: tuple[Allow, ...] = ()


class Toolkit:
    """Tools of one origin. What is said here holds for each tool that does not say otherwise.

    ``allow`` decides, from a list entry and the context, whether a caller may use a tool; who may not, finds it
    neither listed nor callable. ``hidden`` only keeps tools from the list.

    Raises:
        ToolDefinitionError: an option that does not fit.
    """

    def __init__(
        self,
        *,
        category: str | None = None,
        hidden: bool | None = None,
        visible: bool | None = None,
        allow: Allow | None = None,
        **defaults: Unpack[KitOptions],
    ) -> None:
        said = {**defaults, "category": category, "hidden": hidden, "visible": visible}
        check_options(said, {*KitOptions.__annotations__, "category", "hidden", "visible"}, Place(label="toolkit"))
        is_default_hidden = is_hidden({"hidden": hidden, "visible": visible}, default=False)
        self._defaults = KitDefaults(options=defaults, category=category, hidden=is_default_hidden)
        self._allow = () if allow is None else (allow,)
        self._tools: dict[str, ToolDefinition] = {}
        self._prompts: dict[str, PromptDefinition] = {}
        self._resources: dict[str, ResourceDefinition] = {}
        self._providers: list[Provided] = []
        self._decorated: dict[Any, str] = {}  # functions, and their names here

    @property
    def tools(self) -> tuple[ToolDefinition, ...]:
        """The tools in the order in which they were written."""
        return tuple(self._tools.values())

    @property
    def prompts(self) -> tuple[PromptDefinition, ...]:
        """The prompts in the order in which they were written."""
        return tuple(self._prompts.values())

    @property
    def resources(self) -> tuple[ResourceDefinition, ...]:
        """The resources and templates in the order in which they were written."""
        return tuple(self._resources.values())

    @property
    def providers(self) -> tuple[Provided, ...]:
        """Those who provide tools for each caller."""
        return tuple(self._providers)

    @property
    def is_per_caller(self) -> bool:
        """Whether callers may see different lists, so that no list may be kept for another one."""
        return bool(self._providers) or any(tool.allow for tool in self._tools.values())

    @overload
    def tool(self, function: F, /, **options: Unpack[ToolOptions]) -> F: ...
    @overload
    def tool(self, name: str | None = None, /, **options: Unpack[ToolOptions]) -> Callable[[F], F]: ...
    def tool(self, target: Any = None, /, **options: Any) -> Any:
        """``@tool``, and the function is one of the kit's tools.

        Raises:
            ToolDefinitionError: an option that does not fit, or a function that cannot be a tool.
        """
        names = caller_names()
        said = {"name": target, **options} if isinstance(target, str) else options

        def decorate(function: F) -> F:
            declare(function, said, names)
            before = self._decorated.pop(function, None)
            if before is not None:  # one more decorator above: the same tool, with more said of it
                del self._tools[before]
            self._decorated[function] = self._put(self._define(function, {}, names))
            return function

        return decorate if target is None or isinstance(target, str) else decorate(target)

    def add(self, target: Any, **overrides: Unpack[RegistrationOptions]) -> None:
        """Take a function, a ``Tool``, or another kit; ``overrides`` are stronger than what these say.

        The same function may be added under several names. ``bind`` fills parameters that no model shall fill.

        Raises:
            ToolDefinitionError: an option that does not fit, or a name that the kit has already.
        """
        if isinstance(target, Toolkit):
            self._add_kit(target, overrides)
        else:
            self._put(self._define(target, overrides, caller_names()))

    def add_provider(self, provider: ToolProvider, *, optional: bool = False) -> None:
        """Take tools that differ from caller to caller. They come after the kit's own."""
        self._providers.append(Provided(provider=provider, optional=optional, allow=self._allow))

    @overload
    def prompt(self, function: F, /, **options: Unpack[PromptOptions]) -> F: ...
    @overload
    def prompt(self, name: str | None = None, /, **options: Unpack[PromptOptions]) -> Callable[[F], F]: ...
    def prompt(self, target: Any = None, /, **options: Any) -> Any:
        """A prompt: a function of texts that returns messages.

        Raises:
            ToolDefinitionError: an option that does not fit, or a function that cannot be a prompt.
        """
        names = caller_names()
        said = {"name": target, **options} if isinstance(target, str) else options

        def decorate(function: F) -> F:
            self._put_prompt(define_prompt(function, said, names))
            return function

        return decorate if target is None or isinstance(target, str) else decorate(target)

    def resource(self, uri: str, /, **options: Unpack[ResourceOptions]) -> Callable[[F], F]:
        """A resource, or with ``{parts}`` in its URI a template of them, whose parts are the function's parameters.

        Raises:
            ToolDefinitionError: an option that does not fit, or a function that cannot be a resource of that URI.
        """
        names = caller_names()

        def decorate(function: F) -> F:
            self._put_resource(define_resource(function, uri, options, names))
            return function

        return decorate

    def find_tool(self, name: str) -> ToolDefinition | None:
        """The tool of a name or an alias."""
        return self._tools.get(name) or next((each for each in self.tools if name in each.options.aliases), None)

    def _define(self, target: Any, overrides: Mapping[str, Any], names: Mapping[str, Any]) -> ToolDefinition:
        made = define(target, overrides, defaults=self._defaults, names=names)
        return replace(made, allow=(*self._allow, *made.allow))

    def _put(self, tool: ToolDefinition) -> str:
        taken = {name for each in self._tools.values() for name in (each.name, *each.options.aliases)}
        for name in (tool.name, *tool.options.aliases):
            if name in taken:
                tool.place.refuse(f"the toolkit has a tool {name} already")
        self._tools[tool.name] = tool
        return tool.name

    def _put_prompt(self, prompt: PromptDefinition) -> None:
        if prompt.name in self._prompts:
            raise ToolDefinitionError(f"prompt {prompt.name}", "the toolkit has one of this name already")
        self._prompts[prompt.name] = prompt

    def _put_resource(self, resource: ResourceDefinition) -> None:
        if resource.uri in self._resources:
            raise ToolDefinitionError(f"resource {resource.uri}", "the toolkit has one of this URI already")
        self._resources[resource.uri] = resource

    def _add_kit(self, kit: Toolkit, overrides: Mapping[str, Any]) -> None:
        said = {name: value for name, value in overrides.items() if value is not None}
        unfit = set(said) - {"hidden", "visible", "category"}
        if unfit:
            names = ", ".join(sorted(unfit))
            raise ToolDefinitionError("toolkit", f"{names}: ambiguous for a toolkit, which may have several tools")
        for tool in kit.tools:
            category = tool.options.category or self._defaults.category
            added = define(tool, {"category": category, **said})
            self._put(replace(added, allow=(*self._allow, *added.allow)))
        for prompt in kit.prompts:
            self._put_prompt(prompt)
        for resource in kit.resources:
            self._put_resource(resource)
        self._providers += [replace(each, allow=(*self._allow, *each.allow)) for each in kit.providers]
