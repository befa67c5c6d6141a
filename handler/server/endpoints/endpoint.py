"""One loaded bundle, and the evaluations, validators and entries that are built from it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, assert_never

from handler.bundle.content import Prompt
from handler.bundle.model import Bundle
from handler.bundle.tools import (
    CatalogTool,
    CodeTool,
    CompanionTool,
    GraphQLTool,
    Limits,
    Listing,
    PersistedOperation,
    PrescribedTool,
    Tool,
)
from handler.list_entries import BYTES_PER_TOKEN
from handler.lru import Lru
from handler.policy.evaluation import OPEN, OWN_TOKEN, Conditions, Evaluation, Mask
from handler.server.auth.principal import Principal
from handler.server.endpoints.schema_views import SchemaViews, read_cost
from handler.storage.storage import Storage
from handler.strict_json import Entries, Entry, JSONObject, to_json_bytes

if TYPE_CHECKING:
    from handler.bundle.listed_entry import ListedEntries
    from handler.json_schema.answer_check import AnswerChecker, Misfit
    from handler.policy.guarded_schema import GuardedSchemas
    from handler.server.endpoints.arguments_validator import ArgumentsValidator

MAX_ENTRIES = 256
"""Entries of ``tools/list`` cached for one endpoint, or two of each tool: the bundle lacks them as callers see them."""

MAX_VALIDATORS, MAX_EVALUATIONS, MAX_SHORT_LISTS = 1_000, 256, 16

WITHOUT_TOKEN = ("api_key", "authorizer")
"""Kinds of principals whose credential is not a token that this function has verified."""

EVALUATION_BYTES, VALIDATOR_BYTES, ENTRY_BYTES = 2_000, 4_000, 1_000
"""Approximate bytes of one object of each kind, without the JSON of an entry."""

ANSWER_CHECKER_BYTES = 12_000
"""Approximate bytes of a checker of responses. Each output schema of called tools has one."""

ENTRY_SHARE = 4
"""Memory of an entry, as a multiple of its JSON: the JSON, its text, and its objects."""


class Endpoint:
    """One loaded bundle, with a cache of the objects built from it, which ends with the bundle.

    ``on_trouble`` is called if the schema index cannot be loaded, once until it can be loaded.
    """

    def __init__(
        self,
        bundle: Bundle,
        storage: Storage,
        *,
        stored_bytes: int = 0,
        digest: str = "",
        version: str = "",
        on_trouble: Callable[[Exception], None] = lambda _: None,
    ) -> None:
        self.bundle = bundle
        self.digest = digest  # the beginning of the stored bundle's digest
        self.version = version  # of the stored object, as ``StoredObject`` has it
        self.tools: Mapping[str, Tool] = {
            name: tool for tool in bundle.tools for name in (tool.name, *tool.options.aliases)
        }
        self.prompts: Mapping[str, Prompt] = {prompt.name: prompt for prompt in bundle.prompts}
        fixed = {name: tool.persisted() for name, tool in self.tools.items() if isinstance(tool, PrescribedTool)}
        self.documents: Mapping[str, tuple[PersistedOperation, ...]] = {
            document.id: (*document.operations, *(fixed[name] for name in document.tools if name in fixed))
            for document in bundle.graphql.documents
        }
        self.schema = SchemaViews(bundle, storage, on_trouble=on_trouble)
        self._conditions = Conditions(bundle.conditions)
        self._bundle_bytes = read_cost(stored_bytes)
        self._evaluations: Lru[bytes, Evaluation] = Lru(most=MAX_EVALUATIONS)  # by a digest of the claims
        self._validators: Lru[tuple[str, Mask], ArgumentsValidator] = Lru(most=MAX_VALIDATORS)  # by name and outcome
        self._answer_checkers: dict[int, AnswerChecker] = {}  # by the identity of a schema, which tools may share
        self._entries: Lru[tuple[str, Mask], Listing] = Lru(
            most=max(MAX_ENTRIES, 2 * len(bundle.tools)),
            cost_of=lambda each: ENTRY_SHARE * each.entry.size if isinstance(each.entry, Entry) else 0,
        )
        self._short_lists: Lru[tuple[int, ...], tuple[Sequence[Entry], Sequence[Entry]]] = Lru(
            most=MAX_SHORT_LISTS, cost_of=lambda each: ENTRY_SHARE * sum(entry.size for entry in each[1])
        )
        self._listed_bytes: dict[str, int] = {}  # by the key of a list
        self._lock = Lock()

    @property
    def cost_bytes(self) -> int:
        """Approximate memory in bytes, with all cached objects."""
        with self._lock:
            objects = len(self._evaluations) * EVALUATION_BYTES + len(self._validators) * VALIDATOR_BYTES
            objects += len(self._entries) * ENTRY_BYTES + self._entries.cost_bytes
            objects += self._short_lists.cost_bytes
            objects += len(self._answer_checkers) * ANSWER_CHECKER_BYTES
            objects += self._guarded.cost_bytes if "_guarded" in vars(self) else 0
        return self._bundle_bytes + objects + sum(self._listed_bytes.values()) + self.schema.cost_bytes

    def note_list(self, key: str, size_bytes: int) -> None:
        """Count the JSON of a list: its entries keep it, and may share most of their objects."""
        self._listed_bytes[key] = max(size_bytes, self._listed_bytes.get(key, 0))

    @cached_property
    def operations(self) -> Mapping[str, tuple[PersistedOperation, ...]]:
        """The persisted operations by name."""
        by_name: dict[str, tuple[PersistedOperation, ...]] = {}
        for persisted in (each for document in self.documents.values() for each in document):
            name = persisted.operation.name
            by_name[name] = (*by_name.get(name, ()), persisted)
        return by_name

    @cached_property
    def catalog(self) -> CatalogTool | None:
        """The tool that finds other tools; ``None`` if the endpoint has no catalog."""
        catalogs = (tool for tool in self.bundle.tools if isinstance(tool, CatalogTool))
        return next((tool for tool in catalogs if tool.role == "search"), None)

    @cached_property
    def server_info(self) -> Entry:
        """The members of ``serverInfo``: without those of the author if one of them is not valid."""
        digest = self.bundle.version[:12]
        is_digest = digest.isascii() and digest.isalnum()
        info = Entry(name=self.bundle.endpoint.replace("/", "."), version=digest if is_digest else "0")
        if self.bundle.server:
            from handler.bundle.server_identity import is_valid

            info.update(self.bundle.server if is_valid(self.bundle.server) else {})
        return info

    @cached_property
    def asks_for_consent(self) -> bool:
        """True if any tool asks for consent of the caller's user."""
        return any(tool.options.confirm for tool in self.bundle.tools)

    @cached_property
    def everybody(self) -> Evaluation:
        """The evaluation for anonymous callers."""
        return Evaluation(self._conditions, claims=None)

    @cached_property
    def _of_tokens(self) -> Mask:
        """The conditions that hold only for callers with a token of their own."""
        return frozenset(number for number, each in enumerate(self.bundle.conditions) if each == OWN_TOKEN)

    @cached_property
    def _guarded(self) -> GuardedSchemas:
        from handler.policy.guarded_schema import GuardedSchemas

        return GuardedSchemas()

    @cached_property
    def _listed(self) -> ListedEntries:
        from handler.bundle.listed_entry import ListedEntries

        return ListedEntries(self._guarded)

    def evaluation_of(self, principal: Principal) -> Evaluation:
        """Return the evaluation for a principal. Those with the same claims and kind of credential share it."""
        lacking = self._of_tokens if principal.kind in WITHOUT_TOKEN else OPEN
        claims, unrestricted = None if principal.unrestricted else principal.claims, principal.unrestricted
        if claims is None and not unrestricted:
            return self.everybody
        key = hashlib.sha256(to_json_bytes([claims, unrestricted, sorted(lacking)])).digest()
        return self._evaluations.use_or_make(
            key, lambda: Evaluation(self._conditions, claims=claims, unrestricted=unrestricted, lacking=lacking)
        )

    def validator(self, tool: Tool, evaluation: Evaluation) -> ArgumentsValidator:
        """Return the validator of a tool's arguments for a caller."""
        conditions = tool.conditions if isinstance(tool, PrescribedTool) else OPEN
        key, outcome = f"tool {tool.name}", evaluation.outcome(conditions)
        limited = self.tools.get(tool.of) if isinstance(tool, CompanionTool) else tool
        limits = limited.limits if isinstance(limited, GraphQLTool) else None
        return self._validator(key, tool.name, tool.arguments, outcome, limits=limits)

    def variables_validator(self, persisted: PersistedOperation, evaluation: Evaluation) -> ArgumentsValidator:
        """Return the validator of the variables of a persisted operation."""
        # Operations may share a schema, and anonymous ones their name, so the key has both.
        name, schema = persisted.operation.name, persisted.variables
        return self._validator(f"operation {name} {id(schema)}", name, schema, evaluation.outcome(persisted.conditions))

    def bound_validator(self, bound: PrescribedTool | PersistedOperation) -> ArgumentsValidator:
        """Return the validator of the bound variables of a tool or persisted operation, the same for all callers."""
        name, schema = bound.operation.name, bound.bound
        return self._validator(f"bound {name} {id(schema)}", name, schema, OPEN)

    def misfit(self, tool: Tool, answer: JSONObject) -> Misfit | None:
        """Check a response against the tool's output schema. ``None`` if it fits, or there is no output schema."""
        schema = tool.entry.get("outputSchema")
        if schema is None:
            return None
        from handler.json_schema.answer_check import AnswerChecker

        with self._lock:
            checker = self._answer_checkers.get(id(schema))
            if checker is None:
                checker = self._answer_checkers[id(schema)] = AnswerChecker(schema)
        return checker.misfit(answer)

    def needs_schema(self, tool: Tool, evaluation: Evaluation) -> bool:
        """Return whether ``is_visible`` and ``entry`` must build a view of the schema, which blocks."""
        if isinstance(tool, CompanionTool):
            tool = self.bundle.graphql_tool_of(tool)
        if not isinstance(tool, GraphQLTool) or not evaluation.meets(tool.mask):
            return False
        outcome = evaluation.outcome(tool.conditions)
        return tool.listing_for(outcome) is None and (tool.name, outcome) not in self._entries

    def is_visible(self, tool: Tool, evaluation: Evaluation) -> bool:
        """Return whether a caller may use a tool. Blocks if the tool needs the schema.

        Raises:
            StorageError, BundleError: the schema index cannot be loaded.
        """
        match tool:
            case PrescribedTool():
                starter = self.tools.get(tool.polls)
                may_start = starter is None or self.is_visible(starter, evaluation)
                return may_start and evaluation.may_meet(tool.mask, tool.operation.variables)
            case GraphQLTool():
                outcome = evaluation.outcome(tool.conditions)
                if self.needs_schema(tool, evaluation):
                    return bool(self.schema.view(tool, outcome).root_fields())
                return evaluation.meets(tool.mask) and self._listing(tool, outcome).entry is not None
            case CompanionTool():
                graphql = self.bundle.graphql_tool_of(tool)
                meets = evaluation.meets(graphql.mask)
                return meets and self._listing(graphql, evaluation.outcome(graphql.conditions)).large
            case CodeTool():
                return evaluation.meets(tool.mask)
            case CatalogTool():
                return True
            case _:
                assert_never(tool)

    def lists(self, tool: Tool, principal: Principal) -> bool:
        """Return whether lists have a visible tool: if the endpoint says so, only with the caller's scopes."""
        if self.bundle.access.listed == "all":
            return True
        from handler.server.auth.principal import has_scopes

        return has_scopes(tool.options.scopes, principal)

    def entry(self, tool: Tool, evaluation: Evaluation) -> JSONObject | None:
        """Return the caller's listing of a tool; ``None`` if it is not visible. Blocks if the tool needs the schema.

        Raises:
            StorageError, BundleError: the schema index cannot be loaded.
        """
        if isinstance(tool, GraphQLTool):
            is_open = evaluation.meets(tool.mask)
            return self._listing(tool, evaluation.outcome(tool.conditions)).entry if is_open else None
        if not self.is_visible(tool, evaluation):
            return None
        if not isinstance(tool, PrescribedTool) or not (tool.conditions or tool.shortening):
            return tool.entry
        outcome = evaluation.outcome(tool.conditions)
        with self._lock:
            listed = self._listed.listed
            return self._entries.use_or_make(
                (tool.name, outcome), lambda: Listing(outcome=outcome, entry=Entry(listed(tool, outcome)))
            ).entry

    def whole_entry(self, tool: PrescribedTool, evaluation: Evaluation) -> JSONObject:
        """Return the caller's entry of a visible tool with more of its input schema than a list has."""
        with self._lock:
            return self._listed.whole(tool, evaluation.outcome(tool.conditions))

    @property
    def list_budget(self) -> int:
        """The tokens of a caller's list of tools; 0: those of a page."""
        return (self.catalog and self.catalog.list_budget) or self.bundle.list_budget

    def short_list(self, entries: Sequence[Entry], page_bytes: int) -> Sequence[Entry]:
        """Return a caller's list of tools, shortened if it is above the budget or a page."""
        max_bytes = min(self.list_budget * BYTES_PER_TOKEN or page_bytes, page_bytes)
        if Entries(entries).size_to(max_bytes) <= max_bytes:
            return entries
        from handler.bundle.short_list import short_list

        with self._lock:  # the identities are those of objects that are kept
            key = max_bytes, *map(id, entries)
            return self._short_lists.use_or_make(key, lambda: (entries, short_list(entries, max_bytes)))[1]

    def _validator(
        self, kind: str, name: str, schema: JSONObject, outcome: Mask, *, limits: Limits | None = None
    ) -> ArgumentsValidator:
        def build() -> ArgumentsValidator:
            from handler.server.endpoints.arguments_validator import ArgumentsValidator

            schema_of_caller = self._guarded.seen_by(schema, outcome) if self._guarded.conditions_in(schema) else schema
            return ArgumentsValidator(name, schema_of_caller, max_values=(limits or self.bundle.limits).max_values)

        with self._lock:
            return self._validators.use_or_make((kind, outcome), build)

    def _listing(self, tool: GraphQLTool, outcome: Mask) -> Listing:
        if (listing := tool.listing_for(outcome)) is not None:
            return listing
        key = (tool.name, outcome)
        with self._lock:
            listing = self._entries.use(key)
        if listing is not None:
            return listing
        from handler.graph.tool_entry import graphql_entry

        entry, large = graphql_entry(tool.entry, self.schema.view(tool, outcome))
        listing = Listing(outcome=outcome, entry=None if entry is None else Entry(entry), large=large)
        with self._lock:
            self._entries.put(key, listing)
        return listing
