"""Compile everything of an endpoint that is made from its GraphQL schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256

from graphql import GraphQLSchema

from handler.bundle.tools import GraphQLEndpoint
from handler.compiler.access.policies import Policies, Rule, opened_by_policies, read_policies, refuse_exceptions
from handler.compiler.access.propagation import Consequences, TakenAlong
from handler.compiler.api_context import ApiContext
from handler.compiler.compile_context import CompileContext
from handler.compiler.json_schemas.scalars import read_scalars
from handler.compiler.operations.author_operations import AuthorDocument, AuthorOperation, Operations
from handler.compiler.operations.kept_operations import KeptOperations
from handler.compiler.operations.read import read_operations
from handler.compiler.operations.sources import (
    MANIFEST_SUFFIXES,
    OPERATIONS_FOLDER,
    SUFFIXES,
    Unread,
    operation_files,
    unread_files,
)
from handler.compiler.problems import Place
from handler.compiler.schema.coordinates import with_members
from handler.compiler.schema.directives import ToolDirective
from handler.compiler.schema.schema import AuthorSchema, read_schema
from handler.compiler.schema.schema_cache import key_of
from handler.compiler.schema.schema_index import build_index, with_words
from handler.compiler.schema.vendor_directives import with_list_sizes
from handler.compiler.source.files import ENTRY
from handler.compiler.tools.declaration import CompiledTool
from handler.compiler.tools.graphql import default_tool
from handler.compiler.tools.persisted import ExternalSchema, graphql_endpoint
from handler.compiler.tools.prompts import PROMPTS_FOLDER
from handler.compiler.tools.resources import RESOURCES_FOLDER
from handler.compiler.tools.skills import SKILLS_FOLDER
from handler.compiler.tools.task_directive import with_tasks
from handler.compiler.tools.tools import make_tools
from handler.compiler.tools.variables import types_of_files
from handler.graph.index import SchemaIndex, read_index, write_index
from handler.policy.evaluation import HIDDEN, OPEN, Mask
from handler.strict_json import JSONObject
from handler.text.sentences import some

NO_GRAPHQL = GraphQLEndpoint(mode="off", guards={}, conditions=OPEN, documents=())


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaParts:
    """The compiled parts that come from the schema. The defaults are those of an endpoint without a schema."""

    index: tuple[str, bytes] = ("", b"")  # the digest and the bytes of the schema index
    guards: Mapping[str, Mask] = field(default_factory=dict)
    tools: Sequence[CompiledTool] = ()
    documents: tuple[AuthorDocument, ...] = ()
    rules: tuple[Rule, ...] = ()  # each puts its mask on coordinates directly
    taken_along: tuple[TakenAlong, ...] = ()  # fields hidden because a required input names a guarded one
    graphql: GraphQLEndpoint = NO_GRAPHQL
    opened: Sequence[str] = ()  # root fields that policies leave open to callers without claims
    context: ApiContext | None = None  # the context of the tools; ``None`` without a schema
    directives: tuple[ToolDirective, ...] = ()  # every @tool
    operations: tuple[AuthorOperation, ...] = ()  # the valid ones
    shown: Mapping[str, Place] = field(default_factory=dict)  # access.show
    unread: Sequence[Unread] = ()  # files that look like operations or tools

    @property
    def all_operations(self) -> tuple[AuthorOperation, ...]:
        """The valid operations, and those without a name."""
        return (*self.operations, *(document.anonymous for document in self.documents if document.anonymous))


def read_api(context: CompileContext) -> SchemaParts:
    """Compile the endpoint's schema and operations. The result is empty without a schema."""
    if context.code_only:
        _refuse_users_of_a_schema(context)
        return SchemaParts()
    author = read_schema(context.files, context.project, problems=context.problems, cache=context.schemas)
    if author.schema is None:
        read_operations(context, author, kept=KeptOperations(context))
        return SchemaParts()
    return _compile_api(context, author, schema=author.schema)


def _refuse_users_of_a_schema(context: CompileContext) -> None:
    """Report settings and files that need an ``index.graphql``."""
    project, config, problems = context.project, context.config, context.problems
    without = f"the endpoint has no {project.path(ENTRY)}, so"
    if config.graphql not in ("", "off"):
        sentence = f"graphql: {without} there is no GraphQL to serve: expected off"
        problems.add(config.graphql_at, sentence, code="needs-schema")
    for key in ("policies", "hide", "show"):
        if key in config.access:
            sentence = f"access.{key}: {without} there is nothing to guard: each entry of code takes a condition"
            problems.add(config.access.key_place(key), sentence, code="needs-schema")
    for key in config.scalars:
        sentence = f"scalars: {without} there is no scalar to describe"
        problems.add(config.scalars.key_place(key), sentence, code="needs-schema")
    folder, suffixes = project.path(OPERATIONS_FOLDER), (*SUFFIXES, *MANIFEST_SUFFIXES)
    for name in operation_files(context.files, folder, problems, suffixes=suffixes):
        problems.add(Place(name), f"{without} no operation fits anything", code="needs-schema")


def _compile_api(context: CompileContext, author: AuthorSchema, *, schema: GraphQLSchema) -> SchemaParts:
    costs = with_list_sizes(author.costs, context.config.list_sizes, schema, context.problems)
    stored = _stored_index(context, author, schema=schema, costs=costs)
    digest = sha256(stored).hexdigest()
    policies = read_policies(context, schema)
    index = read_index(stored, sha256=digest)
    api = _api_context(context, author, schema=schema, index=index, policies=policies)
    refuse = {"refuse": ExternalSchema(api).refuse} if author.hidden else {}
    operations = read_operations(context, author, kept=api.kept, **refuse)
    tools, unread, mode = _find_tools(api, author, operations=operations)
    refuse_exceptions(policies, author.hidden, context.problems)
    of_directives = []
    for directive in dict.fromkeys(author.hidden.values()):
        coordinates = tuple(coordinate for coordinate, hiding in author.hidden.items() if hiding == directive)
        of_directives.append(Rule(mask=HIDDEN, coordinates=coordinates, text=directive, place=None))
    guards = [api.guards, api.graphql_guards]
    # If callers get no GraphQL, only code tools use operations.
    are_used = mode != "off" or context.config.code.named
    persisted = operations if are_used else replace(operations, documents=())
    return SchemaParts(
        index=(digest, stored),
        guards=api.guards,
        tools=tools,
        documents=operations.documents,
        rules=(*policies.rules, *of_directives),
        taken_along=tuple(api.consequences.losses.grouped()),
        graphql=graphql_endpoint(api, persisted, tools=[each.tool for each in tools], mode=mode),
        opened=opened_by_policies(schema, guards, api.conditions, introspection=mode == "on"),
        context=api,
        directives=author.tools,
        operations=operations.valid,
        shown=policies.shown,
        unread=unread,
    )


def _stored_index(
    context: CompileContext, author: AuthorSchema, *, schema: GraphQLSchema, costs: Mapping[str, JSONObject]
) -> bytes:
    synonyms, cache = context.config.synonyms, context.schemas
    key = key_of("index", author.key, sorted(costs.items()), sorted(synonyms.items())) if author.key else ""
    stored = cache.find(key) if cache and key else None
    if stored is None:
        stored = write_index(with_words(build_index(schema, costs), synonyms))[1]
        if cache and key:
            cache.keep(key, stored)
    return stored


def _api_context(
    context: CompileContext, author: AuthorSchema, *, schema: GraphQLSchema, index: SchemaIndex, policies: Policies
) -> ApiContext:
    consequences = Consequences(schema, context.conditions, shown=policies.shown)
    hidden = dict.fromkeys(with_members(schema, author.hidden), HIDDEN)
    own = {place: policies.guards.get(place, OPEN) | hidden.get(place, OPEN) for place in policies.guards | hidden}
    scalars = read_scalars(context.config.scalars, schema, context.problems)
    return ApiContext(
        endpoint=context,
        schema=schema,
        index=index,
        scalars=scalars,
        types_of_files=types_of_files(schema, scalars),
        own_guards=own,
        guards=consequences.of(own),
        external_guards=consequences.of(hidden),
        graphql_guards=policies.graphql_guards,
        consequences=consequences,
        kept=KeptOperations(context),
    )


def _find_tools(
    api: ApiContext, author: AuthorSchema, *, operations: Operations
) -> tuple[Sequence[CompiledTool], Sequence[Unread], str]:
    """Return the GraphQL tools, files that look like operations or tools, and the mode of the endpoint's GraphQL."""
    context = api.endpoint
    any_operation = any(operation.tool for operation in operations.valid)
    adopting = bool(context.config.adopted)
    declared = bool(author.tools) or any_operation or context.config.code.named or adopting
    others = tuple(context.project.path(each) for each in (RESOURCES_FOLDER, PROMPTS_FOLDER, SKILLS_FOLDER))
    unread = unread_files(context.files, context.project.path(OPERATIONS_FOLDER), declared=declared, others=others)
    slips = [one.at.file for one in unread if one.tool and not declared]
    closed = bool(slips or context.config.other_server)
    tools = with_tasks(api, make_tools(api, author.tools, operations=operations), operations=operations)
    if not declared and _wants_default_tool(context, slips):
        tools = [default_tool(api, operations=bool(operations.valid))]
    if adopting and not tools and not context.config.code.named:
        sentence = "no operation becomes a tool, so the endpoint has none: expected a named query in operations/"
        context.problems.warn(context.config.tools_at, sentence, code="no-tool")
    mode = _graphql_mode(context, open_by_default=context.project.stepzen or not (declared or closed))
    return tools, unread, mode


def _wants_default_tool(context: CompileContext, slips: Sequence[str]) -> bool:
    """Return whether an endpoint without tools gets one.

    Beside a slip or settings of another server, only ``default_tool: true`` opens all of Query.

    Source: IBM API Connect for GraphQL, "directive @tool": "If no tool is specified then a single default tool is
    created".
    """
    setting, server = context.config.default_tool, context.config.other_server
    if setting is not None or not (slips or server):
        return setting is not False
    cause = f"files that may declare some are not read: {some(slips)}"
    if server:
        cause = f"config.yaml is for {server}: `stile adopt FOLDER` makes another folder with its tools"
    remedy = "The endpoint has no tool; default_tool: true makes one for all of Query"
    sentence = f"no tool is declared, and {cause}. {remedy}"
    context.problems.warn(context.entry, sentence, code="no-tool")
    return False


def _graphql_mode(context: CompileContext, *, open_by_default: bool) -> str:
    """Return the mode of the endpoint's own GraphQL. Publishing three operations as tools does not open everything."""
    config, any_document = context.config, context.takes_any_document
    if config.graphql == "on" and not any_document:
        sentence = (
            "graphql: on lets callers write requests, but with upstream.documents the API takes only known documents"
        )
        context.problems.add(config.graphql_at, sentence, code="known-documents-only")
    return config.graphql or ("on" if open_by_default and any_document else "persisted")
