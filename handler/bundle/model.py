"""A compiled endpoint, the interface between deploy time and request time. ``bundle/stored.py`` stores it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field

from handler.bundle.content import Prompt, Resource, Skill
from handler.bundle.identity import Access, Identity
from handler.bundle.tools import CallLog, CodeKit, CompanionTool, GraphQLEndpoint, GraphQLTool, Limits, Tool
from handler.bundle.upstream import Upstream
from handler.cold.records import record
from handler.errors.infrastructure import BundleError
from handler.list_entries import LIST_BUDGET
from handler.policy.evaluation import Mask
from handler.policy.predicates import Predicate
from handler.strict_json import JSONObject

ENDPOINT_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*/[A-Za-z][A-Za-z0-9_-]*")

MAX_ANSWER_S = 28.0
"""Longest time until the answer to a call: API Gateway's REST APIs wait 29 s, its HTTP APIs 30 s, and the start of a
container counts."""


@record(frozen=True, slots=True, kw_only=True)
class Bundle:
    """One compiled endpoint."""

    endpoint: str  # folder/name
    sources: str  # SHA-256 of the author's files
    index: str  # SHA-256 of the schema index, a separate object; empty: the endpoint has no schema
    conditions: tuple[Predicate, ...]  # numbered by their places; 0 never holds
    guards: Mapping[str, Mask]  # coordinate -> mask; coordinates without one are open
    tools: tuple[Tool, ...]
    upstream: Upstream
    limits: Limits
    access: Access
    identity: Identity
    graphql: GraphQLEndpoint
    code: tuple[CodeKit, ...]
    prompts: tuple[Prompt, ...]
    resources: tuple[Resource, ...]
    instructions: str  # text about the endpoint that clients give their model; may be empty
    log: CallLog | None = None  # facts of calls that the author wants in the log, too
    synonyms: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # of words in questions about tools
    skills: tuple[Skill, ...] = ()  # in the order of their names
    list_budget: int = LIST_BUDGET  # tokens of a caller's list of tools; 0: those of a page
    version: str = "0"  # for clients, if the author gives none
    server: JSONObject = field(default_factory=dict)  # the author's members of ``serverInfo``; may not be valid
    listed: bool = False  # a public Server Card shows them
    software: bool = True  # introductions name Stile and its release

    def max_result_bytes(self, tool: Tool) -> int:
        """Return the limit of a tool's results; 0 if there is none."""
        own = tool.options.max_result_bytes
        return self.limits.max_result_bytes if own is None else own

    def graphql_tool_of(self, companion: CompanionTool) -> GraphQLTool:
        """Return the tool of a companion.

        Raises:
            BundleError: the bundle has no such GraphQL tool.
        """
        for tool in self.tools:
            if isinstance(tool, GraphQLTool) and tool.name == companion.of:
                return tool
        raise BundleError(f"the companion {companion.name} has no GraphQL tool: publish again")
