from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from handler.bundle import Bundle, Identity
from handler.compiler.access import Policies, Rule, doubt_exceptions, read_access, read_policies
from handler.compiler.clients import doubt_for_clients
from handler.compiler.conditions import Conditions
from handler.compiler.config import Config, read_config
from handler.compiler.content import read_content
from handler.compiler.coordinates import with_members
from handler.compiler.costs import with_list_sizes
from handler.compiler.declaration import MadeTool
from handler.compiler.endpoint import Endpoint
from handler.compiler.external import ExternalSchema
from handler.compiler.files import ENTRY, EndpointFiles
from handler.compiler.hiding import Consequences
from handler.compiler.identity import read_identity
from handler.compiler.operations import OPERATIONS_FOLDER, PersistedDocument, read_operations, with_folder
from handler.compiler.persisted import graphql_endpoint
from handler.compiler.problems import Problems
from handler.compiler.project import read_project
from handler.compiler.scalars import read_scalars
from handler.compiler.schema import AuthorSchema, read_schema
from handler.compiler.schema_index import build_index
from handler.compiler.tools import make_tools
from handler.compiler.upstream_auth import judge_passthrough
from handler.compiler.ways_around import doubt_ways_around
from handler.errors import Problem
from handler.graph.index import SchemaIndex, write_index
from handler.policy import HIDDEN, OPEN


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """What an endpoint folder became: the bundle, the bytes of its schema index, and what its author is told."""

    bundle: Bundle
    index: bytes
    made: tuple[MadeTool, ...]
    documents: tuple[PersistedDocument, ...]
    rules: tuple[Rule, ...]  # what puts masks on coordinates by themselves
    warnings: tuple[Problem, ...]
    client_warnings: tuple[Problem, ...]  # what makes clients leave a tool out


def compile_endpoint(
    folder: Path, *, stage: str | None = None, environ: Mapping[str, str] = MappingProxyType({})
) -> Compiled:
    """Compile the author's files of one endpoint.

    ``stage`` names a ``config.STAGE.yaml`` that is laid over ``config.yaml``; ``environ`` has the ``STEPZEN_``
    variables that it may name. The same files and variables give the same bundle.

    Raises:
        CompileError: with every mistake found, in file order.
    """
    with _uncollected():
        return _compile(folder, stage, environ)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Pause the garbage collector: a syntax tree is no garbage, and looking through it takes longer than compiling."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _compile(folder: Path, stage: str | None, environ: Mapping[str, str]) -> Compiled:
    problems = Problems()
    files = EndpointFiles(folder, problems)
    project = read_project(files, problems)
    problems.entry = project.path(ENTRY)
    config = read_config(files, problems, stage=stage, root=project.root, environ=environ)
    author = read_schema(files, problems, project.path(ENTRY))
    executables = with_folder(author.executables, files, project.path(OPERATIONS_FOLDER))
    access = read_access(config.access, config.identity)
    identity = _identity(config, problems)
    if author.schema is None:
        read_operations(executables, files, author, problems)
        read_content(files, project, config, Conditions(), problems)
        raise problems.error()

    slices = build_index(author.schema, with_list_sizes(author.costs, config.list_sizes, author.schema, problems))
    policies = read_policies(config.access, author.schema, problems)
    endpoint = _endpoint(project.endpoint, author, SchemaIndex(slices), config, policies, problems)
    hidden = {"refused": ExternalSchema(endpoint).refuse} if author.hidden else {}
    operations = read_operations(executables, files, author, problems, **hidden)
    made = make_tools(endpoint, author.tools, operations, problems, with_default=config.default_tool)
    doubt_exceptions(policies, endpoint.consequences.excepted, author.hidden, problems)
    declared = bool(author.tools) or any(operation.tool for operation in operations.valid)
    mode = _graphql_mode(config, problems, open_by_default=project.stepzen or not declared)
    doubt_ways_around(endpoint, policies.rules, [each.tool for each in made], problems, mode=mode)
    graphql = graphql_endpoint(endpoint, operations, [each.tool for each in made], problems, mode=mode)
    content = read_content(files, project, config, endpoint.conditions, problems)
    problems.raise_if_any()

    digest, raw = write_index(slices)
    bundle = Bundle(
        endpoint=project.endpoint,
        sources=files.digest(),
        index=digest,
        conditions=tuple(endpoint.conditions),
        guards=endpoint.guards,
        tools=tuple(each.tool for each in made),
        upstream=config.upstream,
        limits=config.limits,
        access=access,
        identity=identity,
        graphql=graphql,
        code=(),
        prompts=content.prompts,
        resources=content.resources,
        instructions=config.instructions,
    )
    clients = Problems(problems.entry)
    doubt_for_clients(made, clients)
    return Compiled(
        bundle=bundle,
        index=raw,
        made=made,
        documents=operations.documents,
        rules=(*policies.rules, *_rules_of_directives(author)),
        warnings=problems.warnings,
        client_warnings=clients.warnings,
    )


def _identity(config: Config, problems: Problems) -> Identity:
    identity = read_identity(config.identity, problems)
    judge_passthrough(config.upstream.auth, identity, config.auth_at, problems)
    return identity


def _rules_of_directives(author: AuthorSchema) -> Iterator[Rule]:
    """What directives in the schema hide, by the directive."""
    for directive in dict.fromkeys(author.hidden.values()):
        hidden = tuple(coordinate for coordinate, by in author.hidden.items() if by == directive)
        yield Rule(mask=HIDDEN, coordinates=hidden, text=directive, place=None)


def _graphql_mode(config: Config, problems: Problems, *, open_by_default: bool) -> str:
    """What the endpoint's own GraphQL takes. Who publishes three operations as tools has not published everything."""
    any_document = config.upstream.documents == "text"
    if config.graphql == "on" and not any_document:
        sentence = "graphql: on lets callers write requests, and upstream.documents says that the API takes none"
        problems.add(config.graphql_at, sentence)
    return config.graphql or ("on" if open_by_default and any_document else "persisted")


def _endpoint(  # noqa: PLR0913 - all that the author's files say comes together here
    name: str, author: AuthorSchema, index: SchemaIndex, config: Config, policies: Policies, problems: Problems
) -> Endpoint:
    if author.schema is None:
        raise ValueError("an endpoint needs a schema")
    consequences = Consequences(author.schema, policies.conditions, shown=policies.shown)
    hidden = dict.fromkeys(with_members(author.schema, author.hidden), HIDDEN)
    own = {place: policies.guards.get(place, OPEN) | hidden.get(place, OPEN) for place in policies.guards | hidden}
    return Endpoint(
        name=name,
        schema=author.schema,
        index=index,
        scalars=read_scalars(config.scalars, author.schema, problems),
        conditions=policies.conditions,
        own_guards=own,
        guards=consequences.of(own),
        external_guards=consequences.of(hidden),
        graphql_guards=policies.graphql_guards,
        consequences=consequences,
        limits=config.limits,
        any_document=config.upstream.documents == "text",
    )
