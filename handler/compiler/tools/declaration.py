"""The declaration of a tool of any kind, the compiled tool, and its list entries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from graphql import DirectiveNode, OperationDefinitionNode

from handler.bundle.tools import GraphQLTool, Tool
from handler.compiler.access.policies import Rule
from handler.compiler.json_schemas.descriptions import fill_template
from handler.compiler.operations.author_operations import AuthorOperation
from handler.compiler.problems import At
from handler.compiler.schema.directives import ToolDirective, value_of_argument
from handler.compiler.schema.tool_options import AuthorOptions
from handler.policy.evaluation import Mask
from handler.strict_json import JSONObject, to_json_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDeclaration:
    """One tool as declared. The name is expanded; descriptions may be templates."""

    at: At
    name: str
    description: str | None
    descriptions: Mapping[str, str]  # parameter -> its description
    options: AuthorOptions


def directive_declaration(directive: ToolDirective, *, name_variables: Mapping[str, str]) -> ToolDeclaration:
    """Return the declaration of a ``@tool``, with its name expanded."""
    return ToolDeclaration(
        at=directive.node,
        name=fill_template(directive.name, name_variables),
        description=directive.description,
        descriptions=directive.descriptions,
        options=directive.options,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledTool:
    """A compiled tool, the place of its declaration, and facts for its author.

    ``runs`` is its operation, its root fields, or its toolkit. ``types`` counts the types that it reaches, for callers
    with all conditions.
    """

    at: At
    tool: Tool
    uses: tuple[str, ...] = ()  # coordinates of its operation and of its variables' constants
    runs: str = ""
    types: int = 0
    reads: bool = False
    writes: bool = False
    companions: bool = False  # True: its entry does not show the whole schema, and its author wants companions
    described: bool = True  # False: neither author nor API describes it
    operation: AuthorOperation | None = None  # if the tool runs one
    declaration: ToolDeclaration | None = None  # of a tool over GraphQL
    own_guards: Mapping[str, Mask] = field(default_factory=dict)  # of its patterns alone, without consequences
    rule: Rule | None = None  # its condition
    listed: JSONObject | None = None  # the entry for unrestricted callers, if the server makes one for each caller
    key: str = ""  # of what is kept of it
    long_enums: Mapping[str, int] = field(default_factory=dict)  # enum whose values it does not explain -> characters
    view: str = ""  # name of the page that hosts show the results with
    shortened_from: Mapping[str, int] = field(default_factory=dict)  # schema of its entry -> its bytes if it were whole

    @property
    def entries(self) -> list[JSONObject]:
        """The list entries of the tool: one, or those of a GraphQL tool's precomputed listings."""
        if not isinstance(self.tool, GraphQLTool):
            return [self.listed or self.tool.entry]
        return [listing.entry for listing in self.tool.listings if listing.entry is not None]

    @property
    def fullest_entry(self) -> JSONObject:
        """The list entry for unrestricted callers; empty if the tool is not listed."""
        tool = self.tool
        return tool.listings[-1].entry or {} if isinstance(tool, GraphQLTool) else self.listed or tool.entry

    @property
    def listed_bytes(self) -> int:
        """The bytes of the largest list entry; 0 if there is none."""
        return max((len(to_json_bytes(entry)) for entry in self.entries), default=0)


def argument_place(at: At, name: str) -> At:
    """Return the place of an argument of a tool's directive, for the place of its declaration."""
    match at:
        case DirectiveNode():
            return value_of_argument(at, name)
        case OperationDefinitionNode():
            directives = (each for each in at.directives or () if each.name.value == "mcpTool")
            return next((value_of_argument(each, name) for each in directives), at)
        case _:
            return at
