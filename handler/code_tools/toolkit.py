"""A toolkit: the tools, prompts, resources and skills that an endpoint takes from one Python module."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, Unpack, overload

from handler.code_tools.context import Context
from handler.code_tools.definition import Allow, F, ToolDefinition, declare, decorator_of, define
from handler.code_tools.options import (
    KitOptions,
    PromptOptions,
    RegistrationOptions,
    ResourceOptions,
    ToolOptions,
    check_options,
    is_hidden,
)
from handler.code_tools.signature import caller_names
from handler.code_tools.source_location import SourceLocation
from handler.cold.records import record
from handler.errors.authoring import ToolDefinitionError
from handler.strict_json import JSONObject

if TYPE_CHECKING:
    from handler.code_tools.content import PromptDefinition, ResourceDefinition


class ToolProvider(Protocol):
    """A provider of tools that differ from caller to caller. Only ``call`` checks their arguments."""

    def tools(self, ctx: Context) -> Any:
        """Return the ``tools/list`` entries for this caller; may be async."""
        ...

    def call(self, name: str, arguments: JSONObject, ctx: Context) -> Any:
        """Call one of the tools and return its value, as a tool does; may be async."""
        ...


@record(frozen=True, slots=True, kw_only=True)
class Provided:
    """A provider. If an optional provider fails, the other tools are still listed."""

    provider: ToolProvider
    optional: bool
    allow: tuple[Allow, ...] = ()


class Toolkit:
    """The tools, prompts, resources and skills of one origin. Options apply to each tool that does not set its own.

    ``allow`` decides, from a tool's list entry and the context, if a caller may use the tool; for other callers the
    tool is neither listed nor callable. ``hidden`` only keeps tools from the list.

    Raises:
        ToolDefinitionError: an option that does not fit.
    """

    def __init__(
        self,
        *names: str,
        category: str | None = None,
        hidden: bool | None = None,
        visible: bool | None = None,
        allow: Allow | None = None,
        **defaults: Unpack[KitOptions],
    ) -> None:
        if names:
            raise TypeError("write Toolkit() without the positional argument: a toolkit has no name")
        own = {"category": category, "hidden": hidden, "visible": visible}
        check_options({**defaults, **own}, {*KitOptions.__annotations__, *own}, SourceLocation(label="toolkit"))
        self._defaults = {**defaults, "category": category, "hidden": is_hidden(own, default=False)}
        self._allow = () if allow is None else (allow,)
        self.tools: tuple[ToolDefinition, ...] = ()
        """The tools in the order of registration, as all that follow."""
        self.prompts: tuple[PromptDefinition, ...] = ()
        self.resources: tuple[ResourceDefinition, ...] = ()  # templates, too
        self.skills: tuple[Mapping[str, str | bytes], ...] = ()  # the files of each by their paths
        self.providers: tuple[Provided, ...] = ()
        self._decorated: dict[Any, ToolDefinition] = {}  # by function

    @property
    def is_per_caller(self) -> bool:
        """True if callers may see different lists, so a list may not be cached for other callers."""
        return bool(self.providers) or any(tool.allow for tool in self.tools)

    @overload
    def tool(self, function: F, /, **options: Unpack[ToolOptions]) -> F: ...
    @overload
    def tool(self, name: str | None = None, /, **options: Unpack[ToolOptions]) -> Callable[[F], F]: ...
    def tool(self, target: Any = None, /, **options: Any) -> Any:
        """Declare a function as ``@tool`` does, and add it to the kit.

        Raises:
            ToolDefinitionError: an option that does not fit, a function that cannot be a tool, or a name already taken.
        """
        names = caller_names()

        def add(function: Any, own: Mapping[str, Any]) -> None:
            declare(function, own, names)
            before = self._decorated.pop(function, None)  # a second decorator adds options to the same tool
            self.tools = tuple(each for each in self.tools if each is not before)
            self._decorated[function] = self._put(self._define(function, {}, names))

        return decorator_of(target, options, add)

    def add(self, target: Any, **overrides: Unpack[RegistrationOptions]) -> None:
        """Add a function, a ``Tool``, or another kit; ``overrides`` win over their options.

        A function may be added under several names. ``bind`` fills parameters that no model shall fill.

        Raises:
            ToolDefinitionError: an option that does not fit, or a name already taken.
        """
        if not isinstance(target, Toolkit):
            self._put(self._define(target, overrides, caller_names()))
            return
        of_kit = {name: value for name, value in overrides.items() if value is not None}
        if unfit := set(of_kit) - {"hidden", "visible", "category"}:
            names = ", ".join(sorted(unfit))
            raise ToolDefinitionError("toolkit", f"{names}: ambiguous for a toolkit, which may have several tools")
        for tool in target.tools:
            category = tool.options.category or self._defaults["category"]
            self._put(self._define(tool, {"category": category, **of_kit}, {}))
        for prompt in target.prompts:
            self._put_prompt(prompt)
        for resource in target.resources:
            self._put_resource(resource)
        self.skills += target.skills
        self.providers += tuple(replace(each, allow=(*self._allow, *each.allow)) for each in target.providers)

    def add_provider(self, provider: ToolProvider, *, optional: bool = False) -> None:
        """Add tools that differ from caller to caller. They are listed after the kit's own."""
        self.providers += (Provided(provider=provider, optional=optional, allow=self._allow),)

    @overload
    def prompt(self, function: F, /, **options: Unpack[PromptOptions]) -> F: ...
    @overload
    def prompt(self, name: str | None = None, /, **options: Unpack[PromptOptions]) -> Callable[[F], F]: ...
    def prompt(self, target: Any = None, /, **options: Any) -> Any:
        """Add a prompt: a function of texts that returns messages.

        Raises:
            ToolDefinitionError: an option that does not fit, a function that cannot be a prompt, or a name already
                taken.
        """
        from handler.code_tools.content import define_prompt  # most kits have tools alone

        names = caller_names()
        return decorator_of(
            target, options, lambda function, own: self._put_prompt(define_prompt(function, own, names))
        )

    def add_skill(self, text: str, *, files: Mapping[str, str | bytes] | None = None) -> None:
        """Add a skill: the text of its ``SKILL.md`` with front matter, and other files by their paths beside it.

        Raises:
            ToolDefinitionError: a text or file of another type, or a path that does not lead below the skill's folder.
        """
        from handler.code_tools.content import define_skill  # as above

        self.skills += (define_skill(text, files or {}),)

    def resource(self, uri: str, /, **options: Unpack[ResourceOptions]) -> Callable[[F], F]:
        """Add a resource, or a template if the URI has ``{parts}``, which are the function's parameters.

        Raises:
            ToolDefinitionError: an option that does not fit, a function that cannot be a resource of that URI, or a URI
                already taken.
        """
        from handler.code_tools.content import define_resource  # as above

        names = caller_names()
        decorator: Callable[[F], F] = decorator_of(
            None, options, lambda function, own: self._put_resource(define_resource(function, uri, own, names))
        )
        return decorator

    def find_tool(self, name: str) -> ToolDefinition | None:
        """Return the tool with a name or an alias; ``None`` if there is no such tool."""
        return next((each for each in self.tools if name in (each.name, *each.options.aliases)), None)

    def _define(self, target: Any, overrides: Mapping[str, Any], names: Mapping[str, Any]) -> ToolDefinition:
        tool = define(target, overrides, defaults=self._defaults, names=names)
        return replace(tool, allow=(*self._allow, *tool.allow))

    def _put(self, tool: ToolDefinition) -> ToolDefinition:
        for name in (tool.name, *tool.options.aliases):
            if self.find_tool(name):
                tool.place.refuse(f"the toolkit has a tool {name} already")
        self.tools += (tool,)
        return tool

    def _put_prompt(self, prompt: PromptDefinition) -> None:
        if any(each.name == prompt.name for each in self.prompts):
            raise ToolDefinitionError(f"prompt {prompt.name}", "the toolkit has one of this name already")
        self.prompts += (prompt,)

    def _put_resource(self, resource: ResourceDefinition) -> None:
        if any(each.uri == resource.uri for each in self.resources):
            raise ToolDefinitionError(f"resource {resource.uri}", "the toolkit has one of this URI already")
        self.resources += (resource,)
