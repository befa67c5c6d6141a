"""The author's operations as values: operations, their documents, and the directives that make tools of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from graphql import (
    DirectiveNode,
    DocumentNode,
    OperationDefinitionNode,
    Source,
    StringValueNode,
    VariableDefinitionNode,
)

from handler.compiler.problems import EmbeddedText, Place, place_in
from handler.compiler.schema.tool_options import AuthorOptions


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OperationText:
    """One text with operations, as a source of operations gives it."""

    source: Source | None  # ``None`` after reporting that it is unreadable
    file: str
    persisted: bool  # requests may run its operations by its id
    id: str  # empty if it is unreadable
    called_by_id: bool  # requests name it by its id, so that its only operation needs no name
    declares: tuple[str, str] | None = None  # kind and name of its only operation, as a manifest gives them
    shares_fragments: bool = True  # with the other texts that do; False: it is complete in itself

    @property
    def place(self) -> Place:
        """Return the place of its beginning; of its file if it is the whole file."""
        return place_in(self.source, 0) if isinstance(self.source, EmbeddedText) else Place(self.file)


@dataclass(frozen=True, slots=True, kw_only=True)
class McpTool:
    """The arguments of ``@mcpTool``. Without a ``name``, the tool has the operation's."""

    name: str | None
    description: str | None
    options: AuthorOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorOperation:
    """One operation of the author."""

    name: str  # empty if anonymous
    kind: str  # query | mutation
    node: OperationDefinitionNode  # as written, without the variables that are not sent
    parsed: Callable[[], DocumentNode] = field(compare=False)  # the text, parsed at its first use
    text: str  # as sent: the file's own text if unchanged and its only operation, else printed; empty: invalid
    asks: str  # its field that reveals hidden coordinates; empty if it has none
    optional_conditions: frozenset[str]  # variables whose null is sent as absent
    persisted: bool
    tool: McpTool | None
    descriptions: Mapping[str, str]  # variable -> its description
    task: DirectiveNode | None = None  # @mcpTask: it is a mutation that starts a job
    written: DocumentNode = field(
        default_factory=DocumentNode, compare=False
    )  # with all places, and fragments of other texts
    key: str = ""  # of the results that are made of this document

    @property
    def document(self) -> DocumentNode:
        """The operation as sent, with its fragments. It has no places."""
        return self.parsed()

    @property
    def callable(self) -> bool:
        """Return whether a tool or a request can run the operation, so that its name is taken."""
        return self.persisted or self.tool is not None

    @property
    def bound(self) -> list[VariableDefinitionNode]:
        """Return the variables that ``@mcpBind`` fills. Models do not see them."""
        return [node for node in self.node.variable_definitions or () if is_bound(node)]

    @property
    def filled_by_model(self) -> list[VariableDefinitionNode]:
        """Return the variables without ``@mcpBind``."""
        return [node for node in self.node.variable_definitions or () if not is_bound(node)]

    @property
    def variables(self) -> list[str]:
        """Return the names of the variables that a model fills."""
        return [node.variable.name.value for node in self.filled_by_model]

    @property
    def description(self) -> str:
        """Return the description before the operation; empty string if there is none."""
        return self.node.description.value if self.node.description else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorDocument:
    """A text whose operations requests may run by its id. A file's is ``sha256:`` and the SHA-256 of its bytes.

    Source: IBM API Connect for GraphQL, "Executable documents"; GraphQL over HTTP, "Persisted Documents".
    """

    file: str
    id: str
    operations: tuple[str, ...]  # their names
    anonymous: AuthorOperation | None = None  # the only operation, if unnamed: the id alone calls it


@dataclass(frozen=True, slots=True, kw_only=True)
class Operations:
    """The content of the author's files of operations."""

    valid: tuple[AuthorOperation, ...]
    documents: tuple[AuthorDocument, ...]
    refused: frozenset[str]  # names of operations with errors, which are reported
    complete: bool  # False: a file could not be read, so there may be more

    @property
    def of_jobs(self) -> set[str]:
        """Return the names of the operations that ask about jobs, or cancel them."""
        named = (each for operation in self.valid if operation.task for each in operation.task.arguments or ())
        values = (each.value for each in named if each.name.value in ("poll", "cancel"))
        return {value.value for value in values if isinstance(value, StringValueNode)}


def is_bound(node: VariableDefinitionNode) -> bool:
    """Return whether ``@mcpBind`` fills a variable."""
    return any(directive.name.value == "mcpBind" for directive in node.directives or ())
