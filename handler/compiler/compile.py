"""Compile an endpoint folder to a bundle, at deploy time."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from handler.bundle.identity import Identity
from handler.bundle.model import Bundle
from handler.bundle.stored import bundle_key, index_key, write_bundle
from handler.compiler.access.code_access import AccessDefaults
from handler.compiler.access.hidden_along import TakenAlong
from handler.compiler.access.policies import Rule, read_access
from handler.compiler.checks import CHECKS, CLIENT_CHECKS
from handler.compiler.checks.check import run_checks
from handler.compiler.checks.compiled_endpoint import CompiledEndpoint
from handler.compiler.config.config import Config, read_config
from handler.compiler.config.identity import read_identity
from handler.compiler.config.ignores import Ignore
from handler.compiler.config.upstream_auth import is_by_token, judge_passthrough
from handler.compiler.graphql_api import Api, read_api, refuse_what_needs_a_schema
from handler.compiler.operations.operations import PersistedDocument
from handler.compiler.problems import Place, Problems
from handler.compiler.source.files import CONFIG, ENTRY, ENV_FILE, EndpointFiles
from handler.compiler.source.project import read_project
from handler.compiler.tools.compiled_code import NO_CODE, CompiledCode
from handler.compiler.tools.content import read_content, refuse_shared_names
from handler.compiler.tools.declaration import CompiledTool
from handler.compiler.tools.tools import judge_tools
from handler.errors.authoring import Problem
from handler.errors.infrastructure import SettingsError
from handler.settings import read_code_modules


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """The result of compiling an endpoint folder: the bundle, the bytes of its schema index, and warnings."""

    bundle: Bundle
    index: bytes
    made: tuple[CompiledTool, ...]
    documents: tuple[PersistedDocument, ...]
    rules: tuple[Rule, ...]  # each puts its mask on coordinates directly
    taken_along: tuple[TakenAlong, ...]  # fields hidden because a required input names a guarded one
    kit_rules: tuple[Rule, ...]  # each masks toolkits or their tools, by name
    asking: Mapping[str, Place]  # label of a code tool, prompt or resource that may ask its user -> place
    warnings: tuple[Problem, ...]
    env_file: Path  # may hold secrets to try the endpoint with; may not exist
    client_warnings: tuple[Problem, ...]  # reasons for clients to leave a tool out
    ignores: tuple[Ignore, ...]  # entries that silence warnings; ``warnings`` still has all

    def objects(self) -> Iterator[tuple[str, bytes]]:
        """Yield what to store, by key. The index comes first: a bundle must never name an index that is missing."""
        if self.bundle.index:
            yield index_key(self.bundle.index), self.index
        yield bundle_key(self.bundle.endpoint), write_bundle(self.bundle)


def compile_endpoint(
    folder: Path,
    *,
    stage: str | None = None,
    endpoint: str | None = None,
    environ: Mapping[str, str] = MappingProxyType({}),
) -> Compiled:
    """Compile the author's files of one endpoint. ``endpoint`` overrides the name in the files and their path.

    ``stage`` names a ``config.STAGE.yaml`` that overrides ``config.yaml``. ``environ`` has the ``STEPZEN_`` variables
    that both may name, and ``STILE_CODE_MODULES``, without which no author's module is imported. Equal files,
    variables and modules give equal bundles.

    Raises:
        CompileError: every mistake found, in file order.
    """
    with _uncollected():
        return _compile(folder, stage, endpoint, environ)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Pause the garbage collector: a syntax tree is not garbage, and scanning it takes longer than compiling."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _compile(folder: Path, stage: str | None, endpoint: str | None, environ: Mapping[str, str]) -> Compiled:
    problems = Problems()
    files = EndpointFiles(folder, problems)
    project = read_project(files, problems, name=endpoint)
    problems.entry = project.path(ENTRY)
    config = read_config(files, problems, stage=stage, root=project.root, environ=environ)
    identity = _identity(config, problems)
    if config.code.named and not files.exists(project.path(ENTRY)):
        problems.entry = project.path(CONFIG)
        refuse_what_needs_a_schema(project, files, config, problems)
        api = Api()
    else:
        api = read_api(project, files, config, problems)
    as_stepzen = project.stepzen and config.identity_in_deployment and any(each.keys() for each in config.identity)
    access = read_access(config.access, config.identity, opened=api.opened if as_stepzen else (), problems=problems)
    anonymous = access.anonymous == "allow"
    grounds = AccessDefaults(
        conditions=api.conditions,
        policies=bool(config.access.sections("policies")),
        anonymous=anonymous,
        by_policies_alone=anonymous and as_stepzen and "anonymous" not in config.access,
        by_token=is_by_token(config.upstream.auth),
    )
    code = _code(config, grounds, environ, problems)
    content = read_content(files, project, config, grounds, problems)
    refuse_shared_names(content, code, config.code.at, problems)
    made = (*api.tools, *code.tools)
    judge_tools(made, problems)
    problems.raise_if_any()
    finished = CompiledEndpoint(
        files=files,
        project=project,
        config=config,
        identity=identity,
        grounds=grounds,
        api=api,
        code=code,
        content=content,
    )
    run_checks(CHECKS, finished, problems)

    bundle = Bundle(
        endpoint=project.endpoint,
        sources=code.sources(files.digest()),
        index=api.index[0],
        conditions=tuple(api.conditions),
        guards=api.guards,
        tools=tuple(each.tool for each in made),
        upstream=config.upstream,
        limits=config.limits,
        access=access,
        identity=identity,
        graphql=api.graphql,
        code=code.kits,
        prompts=(*content.prompts, *code.prompts),
        resources=(*content.resources, *code.resources),
        instructions=config.instructions,
    )
    clients = Problems(problems.entry)
    run_checks(CLIENT_CHECKS, finished, clients)
    return Compiled(
        bundle=bundle,
        index=api.index[1],
        made=made,
        documents=api.documents,
        rules=api.rules,
        taken_along=api.taken_along,
        kit_rules=code.rules,
        asking=code.asking,
        warnings=problems.warnings,
        client_warnings=clients.warnings,
        ignores=config.ignores,
        env_file=folder / project.path(ENV_FILE),
    )


def _identity(config: Config, problems: Problems) -> Identity:
    identity = read_identity(config.identity, problems)
    judge_passthrough(config.upstream.auth, identity, config.auth_at, problems)
    return identity


def _code(config: Config, grounds: AccessDefaults, environ: Mapping[str, str], problems: Problems) -> CompiledCode:
    if not config.code.named and config.code.catalog is None:
        return NO_CODE
    from handler.compiler.tools.code import read_code  # it loads everything that code tools need

    try:
        modules = read_code_modules(environ)
    except SettingsError as exc:
        problems.add(config.code.at, str(exc), code="invalid-code-modules")
        return NO_CODE
    return read_code(config.code, grounds, problems, modules=modules)
