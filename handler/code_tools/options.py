"""What an author may say of a tool, prompt or resource beside its function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict

from handler.bundle.model import JSONObject


class KitOptions(TypedDict, total=False):
    """What a toolkit may say for all of its tools. What a tool says itself is stronger."""

    extra: Literal["ignore", "forbid"]  # arguments that are not declared: dropped, or refused
    strict: bool  # whether a number that comes as a text is refused, and null for what is left out
    formats: bool | Mapping[str, Callable[[str], bool]]  # whether texts are checked, or with further checks
    output_validation: Literal["error", "warn", "off"]
    validation_errors: Literal["result", "protocol"]
    timeout: float  # seconds


class ToolOptions(KitOptions, total=False):
    """What a tool may say."""

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
    """What a registration may say over what the tool says."""

    name: str
    title: str
    description: str
    annotations: Any
    meta: Mapping[str, Any]
    category: str
    hidden: bool
    visible: bool
    aliases: Sequence[str]
    bind: Mapping[str, Any]


class PromptOptions(TypedDict, total=False):
    """What a prompt may say."""

    name: str
    title: str
    description: str
    meta: Mapping[str, Any]
    hidden: bool


class ResourceOptions(PromptOptions, total=False):
    """What a resource may say."""

    mime_type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """A tool's options, checked."""

    title: str | None = None
    description: str | None = None
    annotations: JSONObject = field(default_factory=dict)
    icons: tuple[JSONObject, ...] = ()
    meta: JSONObject = field(default_factory=dict)
    category: str | None = None
    hidden: bool = False
    aliases: tuple[str, ...] = ()
    version: JSONObject = field(default_factory=dict)  # as results carry it
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
        """``_meta`` of the list entry."""
        category = {"category": self.category} if self.category else {}
        return {**self.meta, **self.version, **category}
