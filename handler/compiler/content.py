"""What an endpoint offers beside its tools, from files: prompts and resources, and who may have them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from handler.bundle import FileResource, TextPrompt
from handler.compiler.access import FALSE
from handler.compiler.code_access import Grounds, own_mask
from handler.compiler.config import Config
from handler.compiler.files import EndpointFiles
from handler.compiler.problems import Place, Problems
from handler.compiler.project import Project
from handler.compiler.prompts import PROMPTS_FOLDER, read_prompts
from handler.compiler.resources import RESOURCES_FOLDER, read_resources
from handler.policy import OPEN


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """The prompts and resources that an author wrote as files."""

    prompts: tuple[TextPrompt, ...]
    resources: tuple[FileResource, ...]
    taken: Mapping[str, Place]  # where each stands, as ``prompt NAME`` and ``resource URI``


def read_content(
    files: EndpointFiles, project: Project, config: Config, grounds: Grounds, problems: Problems
) -> Content:
    """Read ``prompts/`` and ``resources/``.

    Files are as open as the endpoint, where no condition says otherwise. Without policies they are for those who skip
    policies: nothing else of the endpoint is for anybody else either.
    """
    default = OPEN if grounds.policies else grounds.conditions.mask(FALSE)
    prompts = read_prompts(files, project.path(PROMPTS_FOLDER), grounds.conditions, problems, default=default)
    config.resources.expect("condition")
    guarded = "condition" in config.resources
    mask = own_mask(config.resources, grounds.conditions, problems) if guarded else default
    folder = project.path(RESOURCES_FOLDER)
    resources = read_resources(files, folder, project.endpoint, problems, mask=mask)
    return Content(
        prompts=tuple(prompt for prompt, _ in prompts),
        resources=resources,
        taken={f"prompt {prompt.name}": at for prompt, at in prompts}
        | {f"resource {resource.uri}": Place(f"{folder}/{resource.entry['name']}") for resource in resources},
    )
