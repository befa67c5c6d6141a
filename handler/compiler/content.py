"""What an endpoint offers beside its tools, from files: prompts and resources, and who may have them."""

from __future__ import annotations

from dataclasses import dataclass

from handler.bundle import FileResource, TextPrompt
from handler.compiler.access import FALSE
from handler.compiler.conditions import Conditions
from handler.compiler.config import Config
from handler.compiler.files import EndpointFiles
from handler.compiler.problems import Problems
from handler.compiler.project import Project
from handler.compiler.prompts import PROMPTS_FOLDER, read_prompts
from handler.compiler.resources import RESOURCES_FOLDER, read_resources
from handler.policy import OPEN


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """The prompts and resources that an author wrote as files."""

    prompts: tuple[TextPrompt, ...]
    resources: tuple[FileResource, ...]


def read_content(
    files: EndpointFiles, project: Project, config: Config, conditions: Conditions, problems: Problems
) -> Content:
    """Read ``prompts/`` and ``resources/``.

    Files are as open as the endpoint. Where it has no policies, they are for those who skip policies: nothing else
    of it is for anybody else either.
    """
    mask = OPEN if "policies" in config.access else conditions.mask(FALSE)
    return Content(
        prompts=read_prompts(files, project.path(PROMPTS_FOLDER), conditions, problems, default=mask),
        resources=read_resources(files, project.path(RESOURCES_FOLDER), project.endpoint, problems, mask=mask),
    )
