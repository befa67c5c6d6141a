"""The arguments that ``@tool`` and ``@mcpTool`` share.

Source: MCP 2026-07-28, schema ``Tool``, ``ToolAnnotations`` and ``Icon``; RFC 6749, section 3.3 (scopes).
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from graphql import DirectiveNode

from handler.bundle.tools import CONFIRM, CURSOR, Limits, ToolOptions
from handler.compiler.config.table import DOCUMENT_LIMITS
from handler.compiler.config.values import SCOPE
from handler.compiler.problems import Problems
from handler.list_entries import search_hint_fault, size_hint, tool_hints
from handler.strict_json import JSONObject

TYPES = (
    '''
    """What a client may show and rely on. Nothing enforces it."""
    input Stile_ToolAnnotations {
      title: String
      readOnlyHint: Boolean
      destructiveHint: Boolean
      idempotentHint: Boolean
      openWorldHint: Boolean
    }

    """A picture: an https or data URL."""
    input Stile_Icon { src: String! mimeType: String sizes: [String!] theme: Stile_Theme }
    enum Stile_Theme { light dark }

'''
    f'''
    """How large a request to this tool may be, and its answer, where that differs from config.yaml."""
    input Stile_Limits {{ continue: Boolean {" ".join(f"{name}: Int" for name in DOCUMENT_LIMITS)} }}
    '''
    """
    enum Stile_Output { both text structured }
    enum Stile_OutputSchema { on off }
    enum Stile_Confirm { advisory required }
    enum Stile_StatusTool { listed hidden }
    scalar Stile_JSON
"""
)

SHARED_ARGUMENTS = """
      title: String
      annotations: Stile_ToolAnnotations! = {}
      category: String
      hidden: Boolean! = false
      pinned: Boolean! = false
      searchHint: String
      aliases: [String!]! = []
      icons: [Stile_Icon!]! = []
      meta: Stile_JSON! = {}
      version: String
      lastUpdate: String
      scopes: [String!]! = []
      condition: String
      limits: Stile_Limits! = {}
      output: Stile_Output
      output_schema: Stile_OutputSchema
      confirm: Stile_Confirm
      examples: [Stile_JSON!]! = []
      view: String
"""

RESULT = "max_result_bytes"
"""The limit that a tool of any kind over GraphQL has; 0: none."""

LABEL = "[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
META_KEY = re.compile(rf"(?:{LABEL}(?:\.{LABEL})*/)?[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
RESERVED_PREFIX = re.compile(r"[^./]+\.(modelcontextprotocol|mcp)[./]")
"""Source: MCP 2026-07-28, basic, "_meta"."""

CONFIRM_SCHEMA: JSONObject = {
    "type": "boolean",
    "description": "Set this to true once your user has agreed to what the call does.",
}

CONTINUE = "continue"
"""The member of ``limits`` that is not a number: if callers can continue cut answers."""

CURSOR_SCHEMA: JSONObject = {
    "type": "string",
    "description": "A cursor from an answer of this tool in which a list was cut: the answer continues there. "
    "Give all other arguments again as they were.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorOptions:
    """The shared arguments as written. ``output`` is ``None`` if the kind of tool decides."""

    node: DirectiveNode | None = None
    title: str = ""
    annotations: Mapping[str, Any]
    icons: tuple[JSONObject, ...] = ()
    meta: Mapping[str, Any]
    versions: Mapping[str, str]  # tool_version and tool_last_update, if given
    hidden: bool = False
    pinned: bool = False
    search_hint: str = ""  # words for the tool search of hosts
    aliases: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    condition: str | None = None  # as written; None: every caller meets it
    limits: Mapping[str, int]
    output: str | None = None
    output_schema: str | None = None  # on | off; None: the endpoint decides
    confirm: str = ""
    examples: tuple[Any, ...] = ()  # calls, as written
    view: str = ""  # name of the page that hosts show the results with
    continues: bool | None = None  # callers can continue cut answers; None: config.yaml decides
    cursor: str = ""  # the argument with which they do; empty: they cannot
    find: bool = True  # a GraphQL tool with a large schema gets companions

    def continuing(self, *, default: bool, taken: Container[str] = ()) -> AuthorOptions:
        """Return the options with an argument for cursors, if the author wants one. ``taken``: names it cannot have."""
        if not (default if self.continues is None else self.continues):
            return self
        names = (f"{CURSOR}{number}" for number in itertools.count(2))
        return replace(
            self, cursor=CURSOR if CURSOR not in taken else next(each for each in names if each not in taken)
        )

    def served(self, *, output: str) -> ToolOptions:
        """Return the server's options. ``output`` is the default of the kind of tool."""
        return ToolOptions(
            hidden=self.hidden,
            pinned=self.pinned,
            aliases=self.aliases,
            scopes=self.scopes,
            output=self.output or output,
            confirm=self.confirm,
            cursor=self.cursor,
            meta=self.versions,
            max_result_bytes=self.limits.get(RESULT),
        )

    def wants_output_schema(self, by_default: bool) -> bool:  # noqa: FBT001 - the endpoint's choice
        """Return whether the tool's entry has an output schema."""
        return by_default if self.output_schema is None else self.output_schema == "on"

    def listed(self, entry: JSONObject, *, limits: Limits) -> JSONObject:
        """Add the author's options to a ``tools/list`` entry, in the order of MCP's schema.

        ``limits`` are the endpoint's.
        """
        name = {"name": entry["name"], **({"title": self.title} if self.title else {})}
        rest = {key: value for key, value in entry.items() if key not in ("name", "outputSchema", "annotations")}
        rest["inputSchema"] = self.completed(rest["inputSchema"])
        output = {"outputSchema": entry["outputSchema"]} if "outputSchema" in entry and self.output != "text" else {}
        annotations = {"annotations": {**entry["annotations"], **self.annotations}}
        icons = {"icons": list(self.icons)} if self.icons else {}
        size = size_hint(self.limits.get(RESULT, limits.max_result_bytes))
        # A host asks a person before each call only if each call sends a mutation.
        asks = self.confirm == "required" and entry["annotations"].get("readOnlyHint") is False
        hints = tool_hints(pinned=self.pinned, asks=asks, search=self.search_hint)
        meta = {**size, **hints, **self.meta, **self.versions}
        return {**name, **rest, **output, **annotations, **icons, **({"_meta": meta} if meta else {})}

    def completed(self, arguments: JSONObject) -> JSONObject:
        """Add the arguments that are Stile's own to a schema of arguments.

        These are ``confirm`` if it is ``advisory``, with which the model states its user's consent, and the cursor.
        """
        consent = {CONFIRM: CONFIRM_SCHEMA} if self.confirm == "advisory" else {}
        own = {**consent, **({self.cursor: CURSOR_SCHEMA} if self.cursor else {})}
        return {**arguments, "properties": {**arguments["properties"], **own}} if own else arguments

    def limited(self, limits: Limits) -> Limits:
        """Return the endpoint's limits, overridden by the tool's."""
        return Limits(**{**{name: getattr(limits, name) for name in Limits.__slots__}, **self.limits})


NO_OPTIONS = AuthorOptions(annotations={}, meta={}, versions={}, limits={})
"""The options of a tool without a directive: the default tool, and an operation that `config.yaml` makes a tool."""


def read_author_options(node: DirectiveNode, values: Mapping[str, Any], problems: Problems) -> AuthorOptions:
    """Read the shared arguments among the values of ``@tool`` or ``@mcpTool``. Invalid values are reported."""
    meta: JSONObject | None = values["meta"]
    if isinstance(meta, str):  # JSON text: GraphQL keys cannot have dots
        try:
            meta = json.loads(meta)
        except ValueError:
            meta = None
    meta = meta if isinstance(meta, dict) else None
    for sentence in (*_faults(values), *_meta_faults(meta)):
        problems.add(node, f"@{node.name.value}: {sentence}", code="invalid-option")
    category = values.get("category")
    versions = {"tool_version": values.get("version"), "tool_last_update": values.get("lastUpdate")}
    return AuthorOptions(
        node=node,
        title=values.get("title") or "",
        annotations=_given(values["annotations"]),
        icons=tuple(_given(icon) for icon in values["icons"]),
        meta={**(meta or {}), **({"category": category} if category else {})},
        versions=_given(versions),
        hidden=values["hidden"],
        pinned=values["pinned"],
        search_hint=values.get("searchHint") or "",
        examples=tuple(values["examples"]),
        view=values.get("view") or "",
        aliases=tuple(values["aliases"]),
        scopes=tuple(values["scopes"]),
        condition=values.get("condition"),
        limits=_given({name: value for name, value in values["limits"].items() if name != CONTINUE}),
        continues=values["limits"].get(CONTINUE),
        output=values.get("output"),
        output_schema=values.get("output_schema"),
        confirm=values.get("confirm") or "",
        find=values.get("find", True),
    )


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _faults(values: Mapping[str, Any]) -> Iterator[str]:
    """Yield the faults of the shared arguments but ``meta``, each as a sentence."""
    for name in ("title", "category", "version", "lastUpdate", "view"):
        if values.get(name) is not None and not values[name].strip():
            yield f"{name} is empty"
    if values.get("searchHint") is not None and (fault := search_hint_fault(values["searchHint"])):
        yield f"searchHint: {fault}"
    if values["hidden"] and values["pinned"]:
        yield "a tool is either hidden or pinned"
    for src in (icon["src"] for icon in values["icons"]):
        if not _is_icon(src):
            yield f'the icon "{src:.60}" is not an https or data URL'
    for scope in values["scopes"]:
        if not SCOPE.fullmatch(scope):
            yield f'"{scope:.60}" is not a scope: expected printable ASCII without spaces, " and \\'
    if values.get("condition", "") is None:
        yield "condition is null: expected a condition, such as ?$jwt"
    for name, value in _given(values["limits"]).items():
        if name != CONTINUE and value < (name != RESULT):
            yield f"limits.{name} is {value}: expected a number above {-1 if name == RESULT else 0}"


def _meta_faults(meta: JSONObject | None) -> Iterator[str]:
    if meta is None:
        yield "meta: expected an object, or a text with a JSON object"
    for key in meta or ():
        if not META_KEY.fullmatch(key):
            yield f'"{key:.60}" is not a key of _meta: expected name or prefix/name'
        if RESERVED_PREFIX.match(key):
            yield f'the prefix of "{key:.60}" is reserved for MCP'


def _is_icon(src: str) -> bool:
    try:
        parts = urlsplit(src)
    except ValueError:
        return False
    return parts.scheme == "data" or (parts.scheme == "https" and bool(parts.hostname))
