"""The context that all parts of one compilation share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from handler.compiler.conditions import ConditionTable
from handler.compiler.config.config import Config, read_config
from handler.compiler.problems import Place, Problems
from handler.compiler.schema.schema_cache import SchemaCache
from handler.compiler.source.files import CONFIG, ENTRY, EndpointFiles, Project, read_project


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileContext:
    """An endpoint's files and settings, and the tables that every part adds to: conditions and problems."""

    files: EndpointFiles
    project: Project
    config: Config
    environ: Mapping[str, str]
    problems: Problems
    conditions: ConditionTable = field(default_factory=ConditionTable)
    code_only: bool  # the endpoint has toolkits in Python and no ``index.graphql``
    schemas: SchemaCache | None = None  # those that were read before

    @property
    def entry(self) -> Place:
        """The place of problems that concern the endpoint as a whole."""
        return Place(self.project.path(CONFIG if self.code_only else ENTRY))

    @property
    def takes_any_document(self) -> bool:
        """Return whether the API takes documents that it has not seen."""
        return self.config.upstream.documents == "text"

    @property
    def is_guarded_as_stepzen(self) -> bool:
        """Return whether policies alone decide on callers without a credential, as they do in StepZen's projects."""
        has_identity = any(self.config.identity)
        return self.project.stepzen and self.config.identity_in_deployment and has_identity


def read_context(
    folder: Path,
    *,
    stage: str | None,
    endpoint: str | None,
    environ: Mapping[str, str],
    schemas: SchemaCache | None = None,
) -> CompileContext:
    """Read the project file and the configuration of an endpoint folder."""
    problems = Problems()
    files = EndpointFiles(folder, problems)
    project = read_project(files, problems, name=endpoint)
    config = read_config(files, problems, stage=stage, root=project.root, environ=environ)
    return CompileContext(
        files=files,
        project=project,
        config=config,
        environ=environ,
        problems=problems,
        code_only=config.code.named and not files.exists(project.path(ENTRY)),
        schemas=schemas,
    )
