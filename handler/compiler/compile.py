from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from handler.bundle import Bundle
from handler.compiler.access import read_access, read_policies
from handler.compiler.config import read_config
from handler.compiler.files import EndpointFiles, endpoint_name
from handler.compiler.operations import read_operations
from handler.compiler.problems import Problems
from handler.compiler.schema import read_schema
from handler.compiler.schema_index import build_index
from handler.compiler.tools import Endpoint, make_tools
from handler.errors import Problem
from handler.graph.index import SchemaIndex, write_index


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """What an endpoint folder became: the bundle, the bytes of its schema index, and what was doubtful."""

    bundle: Bundle
    index: bytes
    warnings: tuple[Problem, ...]


def compile_endpoint(folder: Path, *, stage: str | None = None) -> Compiled:
    """Compile the author's files of one endpoint.

    ``stage`` names a ``config.STAGE.yaml`` that is laid over ``config.yaml``. The same files give the same bundle.

    Raises:
        CompileError: with every mistake found, in file order.
    """
    problems = Problems()
    files = EndpointFiles(folder, problems)
    name = endpoint_name(files, problems)
    config = read_config(files, problems, stage=stage)
    author = read_schema(files, problems)
    operations = read_operations(
        author.executables if author else (), files, author.schema if author else None, problems
    )
    access = read_access(config.access, config.identity, problems)
    if author is None:
        raise problems.error()

    policies = read_policies(config.access, author.schema, problems)
    content = build_index(author.schema)
    endpoint = Endpoint(
        name=name,
        schema=author.schema,
        index=SchemaIndex(content),
        conditions=policies.conditions,
        guards=policies.guards,
    )
    tools = make_tools(endpoint, author.tools, operations, problems, default_tool=config.default_tool)
    problems.raise_if_any()

    digest, raw = write_index(content)
    bundle = Bundle(
        endpoint=name,
        sources=files.digest(),
        index=digest,
        conditions=policies.conditions,
        guards=policies.guards,
        tools=tools,
        upstream=config.upstream,
        limits=config.limits,
        access=access,
    )
    return Compiled(bundle=bundle, index=raw, warnings=problems.warnings)
