"""Compile an endpoint folder to a bundle, at deploy time.

The context is read first. Each part is compiled in it, and adds its problems. If there is no error, the checks run over
the compiled endpoint, and the bundle is built of it.
"""

from __future__ import annotations

import gc
import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from handler.bundle.model import Bundle
from handler.bundle.stored import DIGEST_CHARS, bundle_key, index_key, write_bundle
from handler.compiler.access.policies import AccessDefaults, Rule, access_defaults, read_access
from handler.compiler.access.propagation import TakenAlong
from handler.compiler.checks import CHECKS, CLIENT_CHECKS
from handler.compiler.checks.finding import CompiledEndpoint, run_checks
from handler.compiler.compile_context import CompileContext, read_context
from handler.compiler.config.config import Ignore
from handler.compiler.config.identity import read_identity
from handler.compiler.config.upstream import judge_passthrough
from handler.compiler.graphql_api import read_api
from handler.compiler.operations.author_operations import AuthorDocument, AuthorOperation
from handler.compiler.problems import Place, Problems
from handler.compiler.provenance import Provenance
from handler.compiler.schema.schema_cache import SchemaCache
from handler.compiler.source.files import ENV_FILE
from handler.compiler.tools.added_tools import catalog_tools, with_companions
from handler.compiler.tools.content import NO_CODE, CompiledCode, read_content, refuse_shared_names
from handler.compiler.tools.declaration import CompiledTool
from handler.compiler.tools.listed_schemas import with_listed_schemas
from handler.compiler.tools.logged_facts import read_call_log
from handler.compiler.tools.tools import judge_tools
from handler.compiler.tools.views import read_views, with_views
from handler.errors.authoring import Problem
from handler.errors.infrastructure import SettingsError
from handler.policy.evaluation import OPEN
from handler.settings import read_code_modules
from handler.strict_json import to_json_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """The result of compiling an endpoint folder: the bundle, the bytes of its schema index, and warnings."""

    bundle: Bundle
    index: bytes
    made: tuple[CompiledTool, ...]
    documents: tuple[AuthorDocument, ...]
    operations: tuple[AuthorOperation, ...]  # the valid ones, with names
    rules: tuple[Rule, ...]  # each puts its mask on coordinates directly
    taken_along: tuple[TakenAlong, ...]  # fields hidden because a required input names a guarded one
    kit_rules: tuple[Rule, ...]  # each masks toolkits or tools, by name
    asking: Mapping[str, Place]  # label of a code tool, prompt or resource that may ask its user -> place
    warnings: tuple[Problem, ...]
    env_file: Path  # may hold secrets to try the endpoint with; may not exist
    client_warnings: tuple[Problem, ...]  # reasons for clients to leave a tool out
    ignores: tuple[Ignore, ...]  # entries that silence warnings; ``warnings`` still has all
    skill_places: Mapping[str, Place] = field(default_factory=dict)  # URI of a skill's file -> its place
    ignored_changes: tuple[Ignore, ...] = ()  # differences from the version before, with reasons

    def objects(self) -> Iterator[tuple[str, bytes]]:
        """Yield the objects to store, by key. The index comes first: a bundle never names an index that is missing."""
        if self.bundle.index:
            yield index_key(self.bundle.endpoint, self.bundle.index), self.index
        yield bundle_key(self.bundle.endpoint), write_bundle(self.bundle)


def compile_endpoint(
    folder: Path,
    *,
    stage: str | None = None,
    endpoint: str | None = None,
    environ: Mapping[str, str] = MappingProxyType({}),
    schemas: SchemaCache | None = None,
) -> Compiled:
    """Compile the author's files of one endpoint. ``endpoint`` overrides the name in the files and their path.

    ``stage`` names a ``config.STAGE.yaml`` that overrides ``config.yaml``. ``environ`` has the ``STEPZEN_`` variables
    that both may name, and ``STILE_CODE_MODULES``, without which no author's module is imported. Equal files,
    variables and modules give equal bundles, with ``schemas`` that were read before too.

    Raises:
        CompileError: every mistake found, in file order.
    """
    with uncollected():
        # No name holds the endpoint: its syntax trees are gone before the collector could scan them.
        return _compiled(
            _compile(read_context(folder, stage=stage, endpoint=endpoint, environ=environ, schemas=schemas)),
            checked=True,
        )


def compile_explained(
    folder: Path,
    *,
    stage: str | None = None,
    endpoint: str | None = None,
    environ: Mapping[str, str] = MappingProxyType({}),
) -> tuple[Compiled, Provenance | None]:
    """Compile as ``compile_endpoint`` does, without warnings, and keep the rules behind each guard.

    The provenance is ``None`` without a schema. It keeps the schema alive.

    Raises:
        CompileError: every mistake found, in file order.
    """
    with uncollected():
        compiled = _compile(read_context(folder, stage=stage, endpoint=endpoint, environ=environ))
        api = compiled.api
        patterned = {tool.tool.name: (tool.at, tool.own_guards) for tool in api.tools if tool.own_guards}
        provenance = Provenance(api.context, rules=api.rules, patterned=patterned) if api.context else None
        return _compiled(compiled, checked=False), provenance


@contextmanager
def uncollected() -> Iterator[None]:
    """Pause the garbage collector: a syntax tree is not garbage, and scanning it takes longer than compiling."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _compile(context: CompileContext) -> CompiledEndpoint:
    """Compile all parts of an endpoint. Raise their mistakes together."""
    config, problems = context.config, context.problems
    identity = read_identity(config.identity, problems)
    judge_passthrough(config.upstream.auth, identity, at=config.auth_at, problems=problems)
    api = read_api(context)
    access = read_access(context, opened=api.opened if context.project.stepzen else ())
    grounds = access_defaults(context, access)
    code = _code(context, grounds)
    views = read_views(context, grounds)
    api = replace(api, tools=with_views(api.tools, views, problems))
    code = replace(code, tools=with_views(code.tools, views, problems))
    catalog = catalog_tools(config.catalog)
    api = replace(api, tools=tuple(with_companions(api.tools, others=(*code.tools, *catalog), problems=problems)))
    api = replace(api, tools=tuple(with_listed_schemas(api.tools, api.context)))
    content = read_content(context, grounds)
    pages = views.resources((*api.tools, *code.tools))
    content = replace(content, pages=pages)
    refuse_shared_names(content, code, at=config.code.at, problems=problems)
    tools = (*api.tools, *code.tools, *catalog)
    judge_tools(tools, problems)
    log = read_call_log(context, tools, operations=api.all_operations, index=api.context.index if api.context else None)
    problems.raise_if_any()
    return CompiledEndpoint(
        context=context, identity=identity, access=access, grounds=grounds, api=api, code=code, content=content, log=log
    )


def _code(context: CompileContext, grounds: AccessDefaults) -> CompiledCode:
    config = context.config.code
    if not config.named:
        return NO_CODE
    from handler.compiler.tools.code import read_code  # it loads everything that code tools need

    try:
        modules = read_code_modules(context.environ)
    except SettingsError as exc:
        context.problems.add(config.at, str(exc), code="invalid-code-modules")
        return NO_CODE
    return read_code(context, grounds, modules=modules)


def _compiled(endpoint: CompiledEndpoint, *, checked: bool) -> Compiled:
    """Build the bundle of an endpoint without errors, and run the checks if it is to be ``checked``."""
    context, api, code = endpoint.context, endpoint.api, endpoint.code
    clients = Problems()
    if checked:
        run_checks(CHECKS, endpoint, context.problems)
        run_checks(CLIENT_CHECKS, endpoint, clients)
    return Compiled(
        bundle=_bundle(endpoint),
        index=api.index[1],
        made=endpoint.tools,
        documents=api.documents,
        operations=api.operations,
        rules=api.rules,
        taken_along=api.taken_along,
        kit_rules=(*(each.rule for each in api.tools if each.rule), *code.rules),
        asking=code.asking,
        warnings=context.problems.warnings,
        client_warnings=clients.warnings,
        ignores=context.config.ignores,
        ignored_changes=context.config.ignored_changes,
        skill_places={uri: at for each in endpoint.skills for uri, at in each.places.items()},
        env_file=context.files.folder / context.project.path(ENV_FILE),
    )


def _bundle(endpoint: CompiledEndpoint) -> Bundle:
    context, api, code = endpoint.context, endpoint.api, endpoint.code
    bundle = Bundle(
        endpoint=context.project.endpoint,
        sources=code.sources(context.files.digest()),
        index=api.index[0],
        conditions=tuple(context.conditions),
        guards=api.guards,
        tools=tuple(each.tool for each in endpoint.tools),
        upstream=context.config.upstream,
        limits=context.config.limits,
        access=endpoint.access,
        identity=endpoint.identity,
        graphql=api.graphql,
        code=code.kits,
        prompts=(*endpoint.content.prompts, *code.prompts),
        resources=(
            *endpoint.content.resources,
            *endpoint.content.pages,
            *code.resources,
            *(file for each in endpoint.skills for file in each.files),
        ),
        instructions=context.config.instructions,
        log=endpoint.log,
        synonyms=context.config.synonyms,
        skills=tuple(each.skill for each in endpoint.skills),
        list_budget=context.config.list_budget,
        server=context.config.server,
        listed=context.config.listed,
        software=context.config.software,
    )
    return replace(bundle, version=_open_digest(bundle))


def _open_digest(bundle: Bundle) -> str:
    """Return a digest of the parts that all its readers may see: one of all parts would confirm a guess at others."""
    entries = [
        {**each.entry, "_meta": None}
        for each in (*bundle.tools, *bundle.prompts, *bundle.resources, *bundle.skills)
        if getattr(each, "mask", None) == OPEN == getattr(each, "conditions", OPEN)
        and not getattr(getattr(each, "options", None), "scopes", ())
    ]
    is_for_callers = bundle.listed and bundle.access.anonymous != "allow"  # a Server Card has other readers
    parts = [] if is_for_callers else [bundle.instructions, entries]
    content = to_json_bytes([bundle.endpoint, bundle.server, *parts])
    return hashlib.sha256(content).hexdigest()[:DIGEST_CHARS]
