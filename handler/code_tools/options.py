"""The options that an author may give a tool, prompt or resource beside its function, and their checks.

The checks are made when a tool, prompt or resource is defined.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field
from typing import Any, Literal, TypedDict

from handler.code_tools.source_location import SourceLocation
from handler.cold.records import record
from handler.list_entries import search_hint_fault, tool_hints
from handler.strict_json import JSONObject
from handler.text.sentences import did_you_mean


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


class EntryOptions(PromptOptions, total=False):
    """The options of a tool that a registration may set again."""

    annotations: Any  # a mapping of hints, or an object with model_dump
    category: str
    visible: bool
    pinned: bool  # listed, even if a catalog keeps other tools from the list
    aliases: Sequence[str]


class RegistrationOptions(EntryOptions, total=False):
    """The options of a registration, which win over the tool's own."""

    bind: Mapping[str, Any]


class KitOptions(TypedDict, total=False):
    """The options of a toolkit for all of its tools. A tool's own options win."""

    extra: Literal["ignore", "forbid"]  # undeclared arguments: dropped, or refused
    strict: bool  # True refuses a number sent as text, and null for a missing argument
    formats: bool | Mapping[str, Callable[[str], bool]]  # False: texts are not checked; a mapping adds checks
    output_validation: Literal["error", "warn", "off"]
    validation_errors: Literal["result", "protocol"]
    timeout: float  # seconds


class ToolOptions(KitOptions, EntryOptions, total=False):
    """The options of a tool."""

    icons: Sequence[Mapping[str, Any]]
    tags: Sequence[str] | set[str]
    search_hint: str  # words for the tool search of hosts
    view: str  # name of the page that hosts show the results with
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


NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")
"""A valid name. Source: MCP 2026-07-28, tools, "Tool names"."""

HINTS = {
    "title": "title",
    "read_only_hint": "readOnlyHint",
    "destructive_hint": "destructiveHint",
    "idempotent_hint": "idempotentHint",
    "open_world_hint": "openWorldHint",
}


CHOICES: Mapping[str, Sequence[str]] = {
    "extra": ("ignore", "forbid"),
    "output_validation": ("error", "warn", "off"),
    "validation_errors": ("result", "protocol"),
    "validate_mode": ("replace", "before", "after"),
}
"""The values of each option, the default first."""

KINDS: Mapping[str, tuple[type, ...]] = {
    **dict.fromkeys(("name", "title", "description", "category", "search_hint", "view"), (str,)),
    **dict.fromkeys(("mime_type", "version", "last_update"), (str,)),
    **dict.fromkeys(("meta", "bind"), (Mapping,)),
    **dict.fromkeys(("hidden", "visible", "pinned", "strict", "structured_output"), (bool,)),
    **dict.fromkeys(("icons", "aliases", "scopes"), (list, tuple)),
    "tags": (list, tuple, set, frozenset),
    "formats": (bool, Mapping),
    "timeout": (int, float),
    "requires_auth": (bool, list, tuple),
}
ITEMS: Mapping[str, Any] = {
    "icons": Mapping,
    **dict.fromkeys(("tags", "aliases", "scopes", "requires_auth"), str),
}
KIND_NAMES: Mapping[Any, str] = {
    str: "a text",
    bool: "True or False",
    Mapping: "a mapping",
    list: "a list",
    int: "a number",
}

TOOL_OPTIONS = {*ToolOptions.__annotations__, *RegistrationOptions.__annotations__}


def read_options(given: Mapping[str, Any], place: SourceLocation) -> Options:
    """Check a tool's options; ``None`` means that an option is not set.

    Raises:
        ToolDefinitionError: an unknown option, or a value that does not fit.
    """
    options = check_options(given, TOOL_OPTIONS, place)
    version = {"tool_version": options.get("version"), "tool_last_update": options.get("last_update")}
    authorised = options.get("requires_auth", False)
    tags = {"tags": sorted(options["tags"])} if options.get("tags") else {}
    converted = {
        "annotations": read_annotations(options.get("annotations", {}), place),
        "icons": tuple(dict(icon) for icon in options.get("icons", ())),
        "meta": {**options.get("meta", {}), **tags},
        "hidden": is_hidden(options, default=False),
        "aliases": tuple(options.get("aliases", ())),
        "version": {name: value for name, value in version.items() if value},
        "requires_auth": bool(authorised),
        "scopes": (*(authorised if not isinstance(authorised, bool) else ()), *options.get("scopes", ())),
    }
    return Options(**{name: options[name] for name in options if name in Options.__annotations__} | converted)


def is_hidden(options: Mapping[str, Any], *, default: bool) -> bool:
    """Return whether a tool is hidden: ``hidden`` wins over ``visible``, and both win over the default."""
    if options.get("hidden") is not None:
        return options["hidden"]  # type: ignore[no-any-return] # other types are refused with the other options
    return default if options.get("visible") is None else not options["visible"]


def check_name(name: str, place: SourceLocation) -> None:
    """Refuse a name that MCP does not allow.

    Raises:
        ToolDefinitionError: the name is not valid.
    """
    if not NAME.fullmatch(name):
        place.refuse(f"name {name!r}: expected 1 to 128 of A-Z a-z 0-9 _ . -")


def check_options(given: Mapping[str, Any], names: Collection[str], place: SourceLocation) -> dict[str, Any]:
    """Check options and return those that are not ``None``.

    Raises:
        ToolDefinitionError: an unknown option, or a value that does not fit.
    """
    options = {name: value for name, value in given.items() if value is not None}
    if unknown := [f"unknown option {name}{did_you_mean(name, names)}" for name in options if name not in names]:
        place.refuse(", ".join(unknown))
    for name, value in options.items():
        kinds = KINDS.get(name, ())
        if kinds and (not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds)):
            expected = " or ".join(KIND_NAMES[kind] for kind in kinds if kind in KIND_NAMES)
            place.refuse(f"{name}: expected {expected}, got {value!r}")
        for item in value if name in ITEMS and isinstance(value, Collection) else ():
            if not isinstance(item, ITEMS[name]):
                place.refuse(f"{name}: expected {KIND_NAMES[ITEMS[name]]} for each, got {item!r}")
        _check_value(name, value, place)
    return options


def _check_value(name: str, value: Any, place: SourceLocation) -> None:
    if isinstance(value, str) and not value.strip():
        place.refuse(f"{name}: expected a text, got a blank one")
    if name in CHOICES and value not in CHOICES[name]:
        place.refuse(f"{name}: expected one of {', '.join(CHOICES[name])}, got {value!r}")
    match name:
        case "requires_auth" if value in ([], ()):  # an empty list would require nothing
            place.refuse("requires_auth: expected True, False or scopes, got an empty list")
        case "search_hint" if fault := search_hint_fault(value):
            place.refuse(f"search_hint: {fault}")
        case "timeout" if value <= 0:
            place.refuse(f"timeout: expected seconds above 0, got {value!r}")
        case "meta" | "icons":
            try:
                json.dumps(dict(value) if name == "meta" else [dict(icon) for icon in value], allow_nan=False)
            except (TypeError, ValueError) as exc:
                place.refuse(f"{name}: expected JSON: {exc}", cause=exc)
        case "aliases":
            for alias in value:
                check_name(alias, place)
        case "validate" | "resume" if not callable(value):
            place.refuse(f"{name}: expected a function, got {value!r}")
        case "formats" if isinstance(value, Mapping):
            for check in value.values():
                if not callable(check):
                    place.refuse(f"formats: expected a function for each, got {check!r}")


def read_annotations(given: Any, place: SourceLocation) -> JSONObject:
    """Return annotations in MCP's form; their names may be in snake case or camel case.

    Raises:
        ToolDefinitionError: an unknown name, a title that is not a text, or a hint that is not True or False.
    """
    if hasattr(given, "model_dump"):  # other packages' ToolAnnotations
        given = given.model_dump(by_alias=True, exclude_none=True)
    if not isinstance(given, Mapping):
        place.refuse(f"annotations: expected a mapping, got {given!r}")
    names = {**HINTS, **{wire: wire for wire in HINTS.values()}}
    for name, value in given.items():
        if name not in names:
            place.refuse(f"annotations: unknown key {name!r}; expected one of {', '.join(HINTS)}")
        kind = str if name == "title" else bool
        if not isinstance(value, kind):
            place.refuse(f"annotations: {name}: expected {KIND_NAMES[kind]}, got {value!r}")
    return {names[name]: value for name, value in given.items()}


def read_object_schema(given: Mapping[str, Any] | str, option: str, place: SourceLocation) -> JSONObject:
    """Read a JSON Schema of an object from a mapping or JSON text. The schema is not changed.

    Raises:
        ToolDefinitionError: as ``read_schema``, or the root's type is not ``object``.
    """
    schema = parse_schema(given, option, place)
    if schema.get("type") != "object":
        place.refuse(f'{option}: expected "type": "object" at its root, got {schema.get("type")!r}')
    return schema


def parse_schema(given: Mapping[str, Any] | str, option: str, place: SourceLocation) -> JSONObject:
    """Read a JSON Schema from a mapping or JSON text. The schema is not changed.

    Raises:
        ToolDefinitionError: the text is not valid JSON, or the schema is not an object.
    """
    schema: Any = given
    if isinstance(given, str):
        try:
            schema = json.loads(given)
        except (ValueError, RecursionError) as exc:
            place.refuse(f"{option}: expected JSON: {exc}", cause=exc)
    if not isinstance(schema, Mapping):
        place.refuse(f"{option}: expected an object of JSON Schema, got {schema!r}")
    return dict(schema)
