"""The options that an author may give a tool, prompt or resource beside its function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, Literal, TypedDict

from handler.list_entries import tool_hints
from handler.records import record
from handler.strict_json import JSONObject


class KitOptions(TypedDict, total=False):
    """The options of a toolkit for all of its tools. A tool's own options win."""

    extra: Literal["ignore", "forbid"]  # undeclared arguments: dropped, or refused
    strict: bool  # True refuses a number sent as text, and null for a missing argument
    formats: bool | Mapping[str, Callable[[str], bool]]  # False: texts are not checked; a mapping adds checks
    output_validation: Literal["error", "warn", "off"]
    validation_errors: Literal["result", "protocol"]
    timeout: float  # seconds


class ToolOptions(KitOptions, total=False):
    """The options of a tool."""

    name: str
    title: str
    description: str
    annotations: Any  # a mapping of hints, or an object with model_dump
    icons: Sequence[Mapping[str, Any]]
    meta: Mapping[str, Any]
    category: str
    tags: Sequence[str] | set[str]
    hidden: bool
    visible: bool
    pinned: bool  # listed, even if a catalog keeps other tools from the list
    search_hint: str  # words for the tool search of hosts
    view: str  # name of the page that hosts show the results with
    aliases: Sequence[str]
    version: str
    last_update: str
    requires_auth: bool | Sequence[str]
    scopes: Sequence[str]
    input_schema: Any  # JSON Schema as a mapping or JSON text, or a type
    output_schema: Any
    structured_output: bool
    validate: Callable[..., Any]
    validate_mode: Literal["replace", "before", "after"]
    resume: Callable[..., Any]


class RegistrationOptions(TypedDict, total=False):
    """The options of a registration, which win over the tool's own."""

    name: str
    title: str
    description: str
    annotations: Any
    meta: Mapping[str, Any]
    category: str
    hidden: bool
    visible: bool
    pinned: bool
    aliases: Sequence[str]
    bind: Mapping[str, Any]


class PromptOptions(TypedDict, total=False):
    """The options of a prompt."""

    name: str
    title: str
    description: str
    meta: Mapping[str, Any]
    hidden: bool


class ResourceOptions(PromptOptions, total=False):
    """The options of a resource."""

    mime_type: str


@record(frozen=True, slots=True, kw_only=True)
class Options:
    """The checked options of a tool."""

    title: str | None = None
    description: str | None = None
    annotations: JSONObject = field(default_factory=dict)
    icons: tuple[JSONObject, ...] = ()
    meta: JSONObject = field(default_factory=dict)
    category: str | None = None
    hidden: bool = False
    pinned: bool = False
    search_hint: str = ""
    view: str = ""
    aliases: tuple[str, ...] = ()
    version: JSONObject = field(default_factory=dict)  # the members that results get
    requires_auth: bool = False
    scopes: tuple[str, ...] = ()
    input_schema: Any = None
    output_schema: Any = None
    structured_output: bool | None = None
    extra: str = "ignore"
    strict: bool = False
    formats: bool | Mapping[str, Callable[[str], bool]] = True
    output_validation: str = "error"
    validation_errors: str = "result"
    timeout: float | None = None
    validate: Callable[..., Any] | None = None
    validate_mode: str = "replace"
    resume: Callable[..., Any] | None = None

    @property
    def entry_meta(self) -> JSONObject:
        """Return ``_meta`` of the list entry."""
        category = {"category": self.category} if self.category else {}
        hints = tool_hints(pinned=self.pinned, search=self.search_hint)
        return {**hints, **self.meta, **self.version, **category}
