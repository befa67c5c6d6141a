from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import yaml

from handler.bundle import Limits, Upstream
from handler.compiler.code_config import CodeConfig, read_code_config
from handler.compiler.files import CONFIG, EndpointFiles, join
from handler.compiler.problems import Place, Problems
from handler.compiler.urls import is_http_url
from handler.compiler.variables import Variables
from handler.compiler.yaml_section import Section, overlay, parse_yaml

KEYS = ("upstream", "limits", "access", "identity", "default_tool", "graphql", "scalars", "code", "catalog")

STEPZEN_BACKENDS = ("configurationset", "ruleset")
"""What StepZen projects say about backends and who may ask them: accepted, and not read."""

DOCUMENTS = ("text", "documentId", "apollo")
"""How an upstream is told which operation to run: by its text, or by the digest of a text that it knows."""

GRAPHQL_MODES = ("off", "persisted", "on")
"""What the endpoint's own GraphQL takes: nothing, persisted documents only, or whatever a caller writes."""

FUNCTION_TIMEOUT_S = 29
"""What template.yaml gives the function: API Gateway waits 30 s."""

FORBIDDEN_HEADERS = frozenset(
    {
        "authorization",
        "connection",
        "content-encoding",
        "content-length",
        "content-type",
        "cookie",
        "forwarded",
        "host",
        "keep-alive",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
"""Credentials have their own setting, the rest belongs to the connection."""

FORBIDDEN_PREFIXES = ("x-forwarded-", "x-amz-", "proxy-")
REFERENCES = ("claim:", "secret:", "env:")
HEADER_NAME = re.compile(r"[a-z0-9_-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """``config.yaml``, with the stage's file laid over it."""

    upstream: Upstream
    limits: Limits
    list_sizes: Section  # of limits: coordinates of fields
    access: Section
    identity: tuple[Section, ...]  # one, or as many as there are issuers
    scalars: Section
    default_tool: bool  # whether an endpoint without any declared tool gets one
    graphql: str  # one of GRAPHQL_MODES; empty: nothing is said
    graphql_at: Place
    code: CodeConfig


def read_config(
    files: EndpointFiles,
    problems: Problems,
    *,
    stage: str | None,
    root: str = ".",
    environ: Mapping[str, str] = MappingProxyType({}),
) -> Config:
    """Read ``config.yaml`` below ``root`` and, with a stage, ``config.STAGE.yaml`` over it.

    A value that is the name of a ``STEPZEN_`` variable is replaced by what the variable holds.
    """
    file = join(f"{root}/", CONFIG)
    variables = Variables(environ, files, join(file, ".env"))
    top = Section(_top(files, file, problems, stage=stage), file=file, problems=problems, variables=variables)
    for key in top.accept("deployment", *STEPZEN_BACKENDS):
        if key in STEPZEN_BACKENDS:
            problems.warn(top.key_place(key), f'"{key}" is for backends that StepZen runs: it is ignored here')
    top.expect(*KEYS)
    limits = top.section("limits")
    return Config(
        upstream=_upstream(top.section("upstream"), problems),
        limits=_limits(limits),
        list_sizes=limits.section("list_sizes"),
        access=top.section("access"),
        identity=_identity(top, problems),
        scalars=top.section("scalars"),
        default_tool=top.boolean("default_tool", default=True),
        graphql=top.choice("graphql", GRAPHQL_MODES, default="persisted") if "graphql" in top else "",
        graphql_at=top.place("graphql"),
        code=read_code_config(top, problems),
    )


def _top(files: EndpointFiles, file: str, problems: Problems, *, stage: str | None) -> yaml.MappingNode | None:
    node = parse_yaml(files.read(file) or "", file, problems) if files.exists(file) else None
    if not stage:
        return node
    name = join(file, f"config.{stage}.yaml")
    over = files.read(name)
    return overlay(node, None if over is None else parse_yaml(over, name, problems))


def _identity(top: Section, problems: Problems) -> tuple[Section, ...]:
    """``identity``, or ``deployment.identity`` where StepZen has it."""
    deployment = top.section("deployment")
    deployment.expect("identity")
    if "identity" in top and "identity" in deployment:
        problems.add(deployment.key_place("identity"), "identity stands outside of deployment too: keep one of them")
    return tuple((deployment if "identity" in deployment else top).one_or_more("identity"))


def _upstream(section: Section, problems: Problems) -> Upstream:
    section.expect("url", "timeout_s", "max_bytes", "headers", "documents")
    headers = _headers(section.section("headers"), problems)
    url = section.text("url")
    if "@" in url:  # not shown: it may hold a password
        problems.add(section.place("url"), '"upstream.url": expected a URL without credentials in it')
    elif url and not is_http_url(url):
        section.refuse("url", "the http(s) URL of a GraphQL API")
    timeout_s = section.number("timeout_s", 10, least=0.1, most=900)
    if timeout_s > FUNCTION_TIMEOUT_S:
        problems.warn(
            section.place("timeout_s"),
            f'"upstream.timeout_s": the function of the template ends after {FUNCTION_TIMEOUT_S} s, without an answer',
        )
    return Upstream(
        url=url,
        timeout_s=timeout_s,
        max_bytes=section.integer("max_bytes", 5_000_000, least=1_000, most=50_000_000),
        headers=headers,
        documents=section.choice("documents", DOCUMENTS, default="text"),
    )


def _headers(section: Section, problems: Problems) -> dict[str, str]:
    headers: dict[str, str] = {}
    for key in section.keys():  # noqa: SIM118 - a Section is no dict
        name, value = key.lower(), section.text(key)
        fault = header_fault(name, value) or ("it stands here twice" if name in headers else "")
        if fault:
            problems.add(section.place(key), f'upstream.headers "{key}": {fault}')
        headers[name] = value
    return headers


def header_fault(name: str, value: str) -> str:
    """Why a header (its name in lower case) cannot be set or read, or nothing."""
    if name in FORBIDDEN_HEADERS or name.startswith(FORBIDDEN_PREFIXES):
        return "this header cannot be used"
    if not HEADER_NAME.fullmatch(name):
        return "this is no header name: expected letters, digits, - and _"
    if not value.isprintable() or not value.isascii():
        return "expected printable ASCII"
    if value.startswith(REFERENCES):
        return f"{value!r:.60} cannot be looked up yet: expected the value itself"
    return ""


def _limits(section: Section) -> Limits:
    section.expect(*Limits.__slots__, "list_sizes")
    return Limits(
        max_tokens=section.integer("max_tokens", 5_000, least=10, most=100_000),
        max_depth=section.integer("max_depth", 12, least=1, most=50),
        max_fields=section.integer("max_fields", 200, least=1, most=10_000),
        max_aliases=section.integer("max_aliases", 20, least=0, most=10_000),
        max_cost=section.integer("max_cost", 5_000, least=1, most=10_000_000),
    )
