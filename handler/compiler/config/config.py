"""Read ``config.yaml``, with a stage's file laid over it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import yaml

from handler.bundle.operations import Limits
from handler.bundle.upstream import Upstream
from handler.compiler.config.catalog import CatalogUse, read_catalog
from handler.compiler.config.change_ignores import ChangeIgnore, read_change_ignores
from handler.compiler.config.code import CodeConfig, read_code_config
from handler.compiler.config.find import read_find
from handler.compiler.config.foreign import warn_of_foreign_keys
from handler.compiler.config.ignores import Ignore, read_ignores
from handler.compiler.config.log_section import LogConfig, read_log_config
from handler.compiler.config.misnamed import misnamed_files, report_misnamed
from handler.compiler.config.schema_limits import SchemaLimits, read_schema_limits
from handler.compiler.config.table import ADOPTED, DOCUMENT_LIMITS, KEYS, MAX_INSTRUCTIONS_BYTES, STEPZEN_IGNORED
from handler.compiler.config.upstream import read_upstream
from handler.compiler.problems import Place, Problems
from handler.compiler.source.env_file import Variables
from handler.compiler.source.files import CONFIG, ENV_FILE, EndpointFiles, join
from handler.compiler.source.yaml_section import Section
from handler.compiler.source.yaml_tree import overlay, parse_yaml
from handler.text.sentences import did_you_mean, some

STAGE_FILE = re.compile(r"config\.(.+)\.yaml")
"""A file that ``--stage`` lays over ``config.yaml``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The values of ``config.yaml``, with the stage's file laid over it."""

    upstream: Upstream
    url_at: Place  # of upstream
    auth_at: Place  # of upstream
    limits: Limits
    list_sizes: Section  # of limits: coordinates of fields
    continues: bool  # limits.continue: callers can continue answers that were cut
    schemas: SchemaLimits
    access: Section
    identity: tuple[Section, ...]  # one, or a list with one for each issuer
    identity_in_deployment: bool  # ``identity`` is below ``deployment``, as in StepZen
    scalars: Section
    adopted: frozenset[str]  # kinds of operations that become tools without a directive
    tools_at: Place
    default_tool: bool | None  # an endpoint without declared tools gets one; ``None`` if not given
    graphql: str  # off, persisted or on; empty if not given
    graphql_at: Place
    instructions: str
    resources: Section
    skills: Section
    ui: Section  # pages that hosts show in the chat
    code: CodeConfig
    catalog: CatalogUse | None
    log: LogConfig
    synonyms: Mapping[str, tuple[str, ...]]  # words of questions, and the words that each finds beside itself
    ignores: tuple[Ignore, ...]  # warnings that the author has judged
    ignored_changes: tuple[ChangeIgnore, ...]  # differences from the version before that the author has judged


def read_config(
    files: EndpointFiles,
    problems: Problems,
    *,
    stage: str | None,
    root: str = ".",
    environ: Mapping[str, str] = MappingProxyType({}),
) -> Config:
    """Read ``config.yaml`` below ``root`` and, with a stage, ``config.STAGE.yaml`` over it.

    A value that is the name of a ``STEPZEN_`` variable is replaced by the variable's value.
    """
    file = join(f"{root}/", CONFIG)
    variables = Variables(environ, files, join(file, ENV_FILE))
    report_misnamed(files, file, problems)
    top = Section(
        _top(files, file, problems, stage=stage), file=file, problems=problems, variables=variables, keys=KEYS
    )
    _expect_keys(top, problems)
    limits, upstream = top.section("limits"), top.section("upstream")
    limits.expect()
    return Config(
        upstream=read_upstream(upstream, problems),
        url_at=upstream.place("url"),
        auth_at=upstream.place("auth"),
        limits=Limits(**{name: limits.integer(name) for name in DOCUMENT_LIMITS}),
        list_sizes=limits.section("list_sizes"),
        continues=limits.boolean("continue"),
        schemas=read_schema_limits(limits, output=top.choice("output_schema")),
        access=top.section("access"),
        identity=_identity(top, problems),
        identity_in_deployment="identity" in top.section("deployment"),
        scalars=top.section("scalars"),
        adopted=_adopted(top),
        tools_at=top.place("tools"),
        default_tool=top.boolean("default_tool") if "default_tool" in top else None,
        graphql=top.choice("graphql") if "graphql" in top else "",
        graphql_at=top.place("graphql"),
        instructions=_instructions(top, problems),
        resources=top.section("resources"),
        skills=top.section("skills"),
        ui=top.section("ui"),
        code=read_code_config(top, problems),
        catalog=read_catalog(top),
        log=read_log_config(top.section("log")),
        synonyms=read_find(top.section("find")),
        ignores=read_ignores(top.section("checks"), problems),
        ignored_changes=read_change_ignores(top.section("diff"), problems),
    )


def _top(files: EndpointFiles, file: str, problems: Problems, *, stage: str | None) -> yaml.MappingNode | None:
    node = parse_yaml(files.read(file) or "", file, problems) if files.exists(file) else None
    if not stage:
        return node
    name = join(file, f"config.{stage}.yaml")
    if not files.exists(name):
        problems.add(Place(name), _missing_stage(files, name, stage), code="unreadable-file")
        return node
    over = files.read(name)
    return overlay(node, None if over is None else parse_yaml(over, name, problems))


def _missing_stage(files: EndpointFiles, name: str, stage: str) -> str:
    beside = files.names_beside(name)
    stages = [found[1] for found in map(STAGE_FILE.fullmatch, beside) if found]
    misnamed = [each for each, meant in misnamed_files(beside) if join(name, meant) == name]
    if misnamed:
        return f'the file of the stage "{stage}" does not exist: rename {misnamed[0]}, which is not read'
    remedy = f"the stages here are {some(stages, most=10)}" if stages else "create it, or leave out --stage"
    return f'the file of the stage "{stage}" does not exist: {remedy}{did_you_mean(stage, stages)}'


def _expect_keys(top: Section, problems: Problems) -> None:
    for key in top.accept(*STEPZEN_IGNORED):
        sentence = f'"{key}" {STEPZEN_IGNORED[key]}: it is ignored here'
        problems.warn(top.key_place(key), sentence, code="ignored-section", about=[key])
    warn_of_foreign_keys(top, problems, own=KEYS)
    top.expect()


def _adopted(top: Section) -> frozenset[str]:
    """Read ``tools``: the text ``operations``, or a mapping that also says which operations."""
    if "tools" not in top:
        return frozenset()
    if not top.is_mapping("tools"):
        if top.text("tools", "operations") != "operations":
            top.refuse("tools", "operations, or {operations: queries_and_mutations}")
        return ADOPTED["queries"]
    section = top.section("tools")
    section.expect()
    return ADOPTED[section.choice("operations")] if section.keys() else frozenset()


def _instructions(top: Section, problems: Problems) -> str:
    text = top.text("instructions").strip()
    size = len(text.encode())
    if size > MAX_INSTRUCTIONS_BYTES:
        sentence = f'"instructions": {size} bytes of UTF-8; clients take {MAX_INSTRUCTIONS_BYTES}'
        problems.add(top.place("instructions"), sentence, code="long-instructions")
    return text


def _identity(top: Section, problems: Problems) -> tuple[Section, ...]:
    """Read the sections of ``identity``, or of ``deployment.identity`` as in StepZen."""
    deployment = top.section("deployment")
    deployment.expect()
    if "identity" in top and "identity" in deployment:
        problems.add(
            deployment.key_place("identity"),
            "identity also appears outside deployment: keep one of them",
            code="duplicate-identity",
        )
    return tuple((deployment if "identity" in deployment else top).one_or_more("identity"))
