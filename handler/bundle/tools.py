"""The tools and operations of a bundle. ``KIND`` names a tool's kind in stored bundles, in reports and in the log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from handler.cold.records import record
from handler.json_schema.json_bounds import MAX_RESULT_BYTES, MAX_VALUES
from handler.policy.evaluation import OPEN, Mask
from handler.strict_json import JSONObject

CONFIRM_LEVELS = ("", "advisory", "required")
"""Levels of the consent that a tool asks its user for, weakest first."""

CONFIRM = "confirm"
"""The argument with which a caller says that its user agreed."""

CURSOR = "stileCursor"
"""The argument with which a call continues a cut answer, unless a variable of its operation has that name."""

MAX_CONSENT_CHARS = 8_000
"""Length of an operation, and of its variables, in a question to a user. Both are shown in full, or not asked about."""

ListedEntry = JSONObject
"""An entry that is read as ``Entry``, whose JSON is made once."""


@record(frozen=True, slots=True, kw_only=True)
class ToolOptions:
    """Options of a tool of any kind."""

    hidden: bool  # not listed, but callable
    aliases: tuple[str, ...]  # old names: callable, not listed
    scopes: tuple[str, ...]  # scopes that the caller's token must have
    output: str  # forms of a result: both | text | structured
    confirm: str  # consent before a call that writes: "" | advisory | required
    meta: Mapping[str, str]  # each result's _meta
    max_result_bytes: int | None = None  # of this tool; None: the endpoint's limit
    pinned: bool = False  # listed, even if a catalog keeps other tools from the list
    cursor: str = ""  # the argument that continues a cut answer; empty: no answer is continued
    view_mask: Mask = OPEN  # of the page that _meta.ui of the entry names: it is named to callers that may read it


@record(frozen=True, slots=True, kw_only=True)
class Shortening:
    """The rules by which callers are listed an input schema: see json_schema/shortening.py."""

    max_bytes: int
    recursive: bool  # a reference may lead to itself
    shown_by: Mapping[str, tuple[str, ...]]  # a way to see types of the schema -> these types


@record(frozen=True, slots=True, kw_only=True)
class PrescribedTool:
    """A persisted operation whose variables the model fills."""

    KIND = "prescribed"

    name: str
    entry: ListedEntry  # as in tools/list if nothing is hidden, with guards: see guarded_schema.py
    arguments: JSONObject  # the enforced schema, with guards: JSON Schema 2020-12
    flat: bool  # True: variables are the arguments; False: they are members of "variables"
    mask: Mask
    conditions: Mask  # conditions of the coordinates that values can name
    operation: Operation
    bindings: tuple[Binding, ...]
    bound: JSONObject  # the schema of the bindings' values, as one object
    options: ToolOptions
    plan: str = ""  # of its answers: see answers/plan.py; empty: unknown, so that no answer is cut
    shortening: Shortening | None = None  # of the entry's input schema, for each caller; None: it is listed as it is
    whole: JSONObject = field(default_factory=dict)  # input schema that the catalog shows by name; empty: the entry's
    task: Task | None = None  # of the job that the operation starts
    polls: str = ""  # the tool whose jobs the operation asks about; empty: it asks about none

    def persisted(self) -> PersistedOperation:
        """Return the tool's operation as the GraphQL routes run it."""
        return PersistedOperation(
            operation=self.operation,
            variables=self.arguments,
            mask=self.mask,
            conditions=self.conditions,
            bindings=self.bindings,
            bound=self.bound,
            scopes=self.options.scopes,
            confirm=self.options.confirm,
        )


@record(frozen=True, slots=True, kw_only=True)
class Task:
    """The job that a mutation starts at the API. A path has the response keys below ``data``, separated by dots."""

    status_tool: str  # the tool with the query for the status
    variables: Mapping[str, str]  # of the query and of ``cancel`` -> path of the value in the mutation's answer
    status: str  # path in the query's answer
    initial_status: str  # path in the mutation's answer; empty: the answer has no status
    outcomes: Mapping[str, str]  # the API's status -> completed | failed | cancelled; the job goes on with any other
    cancel: PersistedOperation | None
    every_s: int
    ttl_s: int
    wait_s: int  # the time within a call for clients without tasks
    required: bool  # clients without tasks are refused

    def covered(self, asking: PrescribedTool) -> list[Any]:
        """Return the facts of the query and the status tool for which ids are sealed: ids end when one changes."""
        bindings = [[each.variable, each.source, each.name, each.value] for each in asking.bindings]
        return [asking.operation.text, dict(self.variables), self.status, bindings]


@record(frozen=True, slots=True, kw_only=True)
class Listing:
    """The definition of a GraphQL tool in ``tools/list`` for callers of one outcome; no ``entry``: not listed."""

    outcome: Mask  # of the tool's conditions
    entry: ListedEntry | None
    large: bool = False  # the entry does not show the whole schema, so the tool's companions are listed, too


@record(frozen=True, slots=True, kw_only=True)
class GraphQLTool:
    """The model writes a request against a subset of the schema."""

    KIND = "graphql"

    name: str
    entry: JSONObject  # as in tools/list, with texts that are templates of the schema: see graph/tool_entry.py
    arguments: JSONObject
    guards: Mapping[str, Mask]  # coordinate -> mask, added by the tool's patterns to the bundle's guards
    conditions: Mask  # all conditions that its views depend on
    listings: tuple[Listing, ...]
    limits: Limits
    options: ToolOptions
    mask: Mask = OPEN  # the tool's own condition, which guards the root types, too
    reachable: bool = True  # a caller with some claims may see a root field

    def listing_for(self, outcome: Mask) -> Listing | None:
        """Return the compiled listing for an outcome; ``None`` if the compiler made none."""
        return next((each for each in self.listings if each.outcome == outcome), None)


class _ByEntry:
    __slots__ = ()

    entry: ListedEntry

    @property
    def arguments(self) -> JSONObject:
        """The schema of the arguments, which the entry has."""
        return dict(self.entry["inputSchema"])


@record(frozen=True, slots=True, kw_only=True)
class CompanionTool(_ByEntry):
    """A tool beside a GraphQL tool, for callers that do not see its whole schema in that tool's entry.

    Policies, scopes and limits are those of the GraphQL tool.
    """

    KIND = "companion"

    name: str
    entry: ListedEntry
    of: str  # the name of the GraphQL tool
    does: str  # search | describe
    options: ToolOptions


@record(frozen=True, slots=True, kw_only=True)
class CodeTool(_ByEntry):
    """A Python function. It validates its arguments itself, by the schema in its entry."""

    KIND = "code"

    name: str
    entry: ListedEntry
    kit: str  # its toolkit, as module:attribute
    digest: str  # digest of its definition at compile time: see code_tools/loading.py
    mask: Mask
    options: ToolOptions


@record(frozen=True, slots=True, kw_only=True)
class CatalogTool(_ByEntry):
    """A tool of the catalog: it finds all that its caller may use, listed or not, or calls a tool by name."""

    KIND = "catalog"

    name: str
    entry: ListedEntry
    options: ToolOptions
    role: str = "search"  # search | call: tools that only read | call-mutation: all others
    unlisted: str = "never"  # of the search: lists leave other tools out never | above_budget | always
    list_budget: int = 0  # of the search, in bundles of earlier releases: that of the bundle


Tool = PrescribedTool | GraphQLTool | CompanionTool | CodeTool | CatalogTool


@record(frozen=True, slots=True, kw_only=True)
class CodeKit:
    """A toolkit of the endpoint. If its lists depend on the caller (``per_caller``), each list loads it."""

    use: str  # module:attribute
    per_caller: bool
    hidden: bool | None  # configured for all of its tools; None: not configured
    category: str  # configured for all of its tools; empty: not configured
    mask: Mask  # guards the whole toolkit


@record(frozen=True, slots=True, kw_only=True)
class LoggedArgument:
    """An argument whose value is logged. ``inside`` names the argument that holds it; empty if it stands by itself."""

    tool: str
    name: str
    inside: str


@record(frozen=True, slots=True, kw_only=True)
class CallLog:
    """Facts that the log lines of an endpoint's calls have in addition, because its author asks for them."""

    coordinates: bool  # of the fields that a call reads
    reads: Mapping[str, tuple[str, ...]]  # SHA-256 of an author's operation -> the fields that it reads
    arguments: tuple[LoggedArgument, ...]


def only_reads(entry: JSONObject) -> bool:
    """Return whether a tool says that it changes nothing. The compiler refuses it of tools that can send mutations."""
    return entry.get("annotations", {}).get("readOnlyHint") is True


@record(frozen=True, slots=True, kw_only=True)
class Operation:
    """One persisted operation, ready to send upstream."""

    name: str
    kind: str  # query | mutation
    text: str  # the operation and the fragments it uses, without our directives and descriptions
    sha256: str  # of the text; an API may know the operation by it
    null_is_absent: tuple[str, ...]  # variables that callers may give and whose null the API does not accept
    variables: tuple[str, ...]  # all declared variables
    defaults: JSONObject  # variable -> its default, for variables that a request leaves out

    def coerced(self, sent: Mapping[str, Any]) -> JSONObject:
        """Return the values of the variables: those that are sent, and defaults."""
        return {**self.defaults, **sent}

    def sendable(self, variables: Mapping[str, Any]) -> JSONObject:
        """Return the variables in the form that the API accepts."""
        return {name: value for name, value in variables.items() if not (value is None and name in self.null_is_absent)}


@record(frozen=True, slots=True, kw_only=True)
class Binding:
    """A variable that neither a model nor its user fills."""

    variable: str
    source: str  # claim | header | value
    name: str  # name of the claim or header
    value: Any  # value of a constant
    read_as: str  # type of a header's text: string | integer | number | boolean


@record(frozen=True, slots=True, kw_only=True)
class PersistedOperation:
    """An operation that requests name by its document's id. The name is the empty string if the author gave none."""

    operation: Operation
    variables: JSONObject  # the enforced schema of callers' variables, with guards: see guarded_schema.py
    mask: Mask
    conditions: Mask  # conditions of the coordinates that values can name
    bindings: tuple[Binding, ...]
    bound: JSONObject  # the schema of the bindings' values, as one object
    scopes: tuple[str, ...]  # the scopes of all tools that run it, so that it does not bypass them
    confirm: str  # the strictest level of these tools: "" | advisory | required


@record(frozen=True, slots=True, kw_only=True)
class PersistedDocument:
    """A file of operations, with the id ``sha256:`` and the SHA-256 of its bytes."""

    id: str
    operations: tuple[PersistedOperation, ...]
    tools: tuple[str, ...]  # prescribed tools equal to further entries, which ``operations`` leaves out


@record(frozen=True, slots=True, kw_only=True)
class GraphQLEndpoint:
    """The requests that ``/{folder}/{name}/graphql`` accepts: none, persisted documents, or a caller's documents."""

    mode: str  # off | persisted | on
    guards: Mapping[str, Mask]  # added to the bundle's guards: ``__schema``, ``__type``, Federation's fields
    conditions: Mask  # all conditions that its views depend on
    documents: tuple[PersistedDocument, ...]


@record(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of a document that a caller writes, and of the values sent with one."""

    max_tokens: int
    max_depth: int
    max_fields: int
    max_aliases: int
    max_cost: int  # objects and items of lists that its answer could hold
    max_values: int = MAX_VALUES  # items of lists and members of objects among the arguments or variables of a call
    max_result_bytes: int = MAX_RESULT_BYTES  # JSON of one MCP result; 0: no limit
