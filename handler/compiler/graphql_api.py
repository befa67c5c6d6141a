"""Compile everything of an endpoint that is made from its GraphQL schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from handler.bundle.operations import GraphQLEndpoint
from handler.compiler.access.conditions import Conditions
from handler.compiler.access.hidden_along import TakenAlong
from handler.compiler.access.policies import Policies, Rule, opened_by_policies, read_policies, refuse_exceptions
from handler.compiler.access.propagation import Consequences
from handler.compiler.config.config import Config
from handler.compiler.context import Endpoint
from handler.compiler.json_schemas.scalars import read_scalars
from handler.compiler.operations.operation_files import OPERATIONS_FOLDER, Unread, operation_files, unread_files
from handler.compiler.operations.operations import AuthorOperation, PersistedDocument, read_operations, with_folder
from handler.compiler.problems import Place, Problems
from handler.compiler.schema.coordinates import with_members
from handler.compiler.schema.cost_directives import with_list_sizes
from handler.compiler.schema.directives import ToolDirective
from handler.compiler.schema.schema import AuthorSchema, read_schema
from handler.compiler.schema.schema_index import build_index
from handler.compiler.source.files import ENTRY, EndpointFiles
from handler.compiler.source.project import Project
from handler.compiler.tools.client_schema import ExternalSchema
from handler.compiler.tools.declaration import CompiledTool
from handler.compiler.tools.graphql import default_tool
from handler.compiler.tools.persisted import graphql_endpoint
from handler.compiler.tools.prompts import PROMPTS_FOLDER
from handler.compiler.tools.resources import RESOURCES_FOLDER
from handler.compiler.tools.tools import make_tools
from handler.compiler.tools.uploads import types_of_files
from handler.graph.index import SchemaIndex, read_index, write_index
from handler.policy.evaluation import HIDDEN, OPEN, Mask
from handler.sentences import some

NO_GRAPHQL = GraphQLEndpoint(mode="off", guards={}, conditions=OPEN, documents=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Api:
    """The compiled parts that come from the schema. The defaults are those of an endpoint without a schema."""

    conditions: Conditions = field(default_factory=Conditions)
    index: tuple[str, bytes] = ("", b"")  # the digest and the bytes of the schema index
    guards: Mapping[str, Mask] = field(default_factory=dict)
    tools: Sequence[CompiledTool] = ()
    documents: tuple[PersistedDocument, ...] = ()
    rules: tuple[Rule, ...] = ()  # each puts its mask on coordinates directly
    taken_along: tuple[TakenAlong, ...] = ()  # fields hidden because a required input names a guarded one
    graphql: GraphQLEndpoint = NO_GRAPHQL
    opened: Sequence[str] = ()  # root fields that policies leave open to callers without claims
    context: Endpoint | None = None  # the context of the tools; ``None`` without a schema
    directives: tuple[ToolDirective, ...] = ()  # every @tool
    operations: tuple[AuthorOperation, ...] = ()  # the valid ones
    shown: Mapping[str, Place] = field(default_factory=dict)  # access.show
    unread: Sequence[Unread] = ()  # files that look like operations or tools


def read_api(project: Project, files: EndpointFiles, config: Config, problems: Problems) -> Api:
    """Compile the endpoint's schema and operations. The result is empty if a mistake leaves no schema."""
    author = read_schema(files, problems, project.path(ENTRY), stepzen=project.stepzen)
    executables = with_folder(author.executables, files, project.path(OPERATIONS_FOLDER), problems)
    if author.schema is None:
        read_operations(executables, files, author, problems)
        return Api()
    content = build_index(author.schema, with_list_sizes(author.costs, config.list_sizes, author.schema, problems))
    policies = read_policies(config.access, author.schema, problems)
    digest, stored = write_index(content)
    index = read_index(stored, sha256=digest)
    endpoint = _endpoint(project.endpoint, author, index, config, policies, problems)
    hidden = {"refused": ExternalSchema(endpoint).refuse} if author.hidden else {}
    operations = read_operations(
        executables, files, author, problems, known=config.upstream.documents != "text", **hidden
    )
    any_operation = any(operation.tool for operation in operations.valid)
    declared = bool(author.tools) or any_operation or config.code.named
    made = make_tools(endpoint, author.tools, operations, problems)
    others = (project.path(RESOURCES_FOLDER), project.path(PROMPTS_FOLDER))
    unread = unread_files(files, project.path(OPERATIONS_FOLDER), declared=declared, others=others)
    slips = [one.at.file for one in unread if one.tool and not declared]
    if not declared and _wants_default_tool(config, slips, problems):
        made = [default_tool(endpoint, problems, operations=bool(operations.valid))]
    refuse_exceptions(policies, author.hidden, problems)
    mode = _graphql_mode(config, problems, open_by_default=project.stepzen or not (declared or slips))
    tools = [each.tool for each in made]
    # If callers get no GraphQL, only code tools use operations.
    kept = operations if mode != "off" or config.code.named else replace(operations, documents=())
    return Api(
        conditions=policies.conditions,
        index=(digest, stored),
        guards=endpoint.guards,
        tools=made,
        documents=operations.documents,
        rules=(*policies.rules, *_rules_of_directives(author)),
        taken_along=tuple(endpoint.consequences.losses.grouped()),
        graphql=graphql_endpoint(endpoint, kept, tools, problems, mode=mode),
        opened=opened_by_policies(
            author.schema,
            [endpoint.guards, endpoint.graphql_guards],
            policies.conditions,
            introspection=mode == "on",
        ),
        context=endpoint,
        directives=author.tools,
        operations=operations.valid,
        shown=policies.shown,
        unread=unread,
    )


def _wants_default_tool(config: Config, slips: Sequence[str], problems: Problems) -> bool:
    """Tell if an endpoint without tools gets one. Beside a slip, only ``default_tool: true`` opens all of Query.

    Source: IBM API Connect for GraphQL, "directive @tool": "If no tool is specified then a single default tool is
    created".
    """
    if not slips or config.default_tool is not None:
        return config.default_tool is not False
    sentence = f"no tool is declared, and files that may declare some are not read: {some(slips)}"
    problems.warn(
        Place(ENTRY),
        f"{sentence}. The endpoint has no tool; default_tool: true makes one for all of Query",
        code="no-tool",
    )
    return False


def refuse_what_needs_a_schema(project: Project, files: EndpointFiles, config: Config, problems: Problems) -> None:
    """Report settings and files that need an ``index.graphql``."""
    without = f"the endpoint has no {project.path(ENTRY)}, so"
    if config.graphql not in ("", "off"):
        problems.add(
            config.graphql_at,
            f"graphql: {without} there is no GraphQL to serve: expected off",
            code="needs-schema",
        )
    for key in ("policies", "hide", "show"):
        if key in config.access:
            sentence = f"access.{key}: {without} there is nothing to guard: each entry of code takes a condition"
            problems.add(config.access.key_place(key), sentence, code="needs-schema")
    for key in config.scalars.keys():  # noqa: SIM118 - a Section is not a dict
        problems.add(
            config.scalars.key_place(key), f"scalars: {without} there is no scalar to describe", code="needs-schema"
        )
    for name in operation_files(files, project.path(OPERATIONS_FOLDER), problems):
        problems.add(Place(name), f"{without} no operation fits anything", code="needs-schema")


def _rules_of_directives(author: AuthorSchema) -> Iterator[Rule]:
    """Yield one rule for each directive of the schema that hides coordinates."""
    for directive in dict.fromkeys(author.hidden.values()):
        hidden = tuple(coordinate for coordinate, by in author.hidden.items() if by == directive)
        yield Rule(mask=HIDDEN, coordinates=hidden, text=directive, place=None)


def _graphql_mode(config: Config, problems: Problems, *, open_by_default: bool) -> str:
    """Return the mode of the endpoint's own GraphQL. Publishing three operations as tools does not open everything."""
    any_document = config.upstream.documents == "text"
    if config.graphql == "on" and not any_document:
        sentence = (
            "graphql: on lets callers write requests, but with upstream.documents the API takes only known documents"
        )
        problems.add(config.graphql_at, sentence, code="known-documents-only")
    return config.graphql or ("on" if open_by_default and any_document else "persisted")


def _endpoint(  # noqa: PLR0913 - all that the author's files say comes together here
    name: str, author: AuthorSchema, index: SchemaIndex, config: Config, policies: Policies, problems: Problems
) -> Endpoint:
    if author.schema is None:
        raise ValueError("an endpoint needs a schema")
    consequences = Consequences(author.schema, policies.conditions, shown=policies.shown)
    hidden = dict.fromkeys(with_members(author.schema, author.hidden), HIDDEN)
    own = {place: policies.guards.get(place, OPEN) | hidden.get(place, OPEN) for place in policies.guards | hidden}
    scalars = read_scalars(config.scalars, author.schema, problems)
    return Endpoint(
        name=name,
        schema=author.schema,
        index=index,
        scalars=scalars,
        types_of_files=types_of_files(author.schema, scalars),
        conditions=policies.conditions,
        own_guards=own,
        guards=consequences.of(own),
        external_guards=consequences.of(hidden),
        graphql_guards=policies.graphql_guards,
        consequences=consequences,
        limits=config.limits,
        any_document=config.upstream.documents == "text",
    )
