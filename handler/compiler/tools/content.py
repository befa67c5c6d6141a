"""The prompts and resources of an endpoint from files, with the conditions on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from handler.bundle.content import FileResource, TextPrompt
from handler.bundle.resource_uris import SCHEME
from handler.compiler.access.code_access import AccessDefaults, own_mask
from handler.compiler.compile_context import CompileContext
from handler.compiler.problems import Place, Problems
from handler.compiler.tools.compiled_code import CompiledCode
from handler.compiler.tools.prompts import PROMPTS_FOLDER, read_prompts
from handler.compiler.tools.resources import RESOURCES_FOLDER, read_resources


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledContent:
    """Prompts and resources from files; ``places``: prompt name -> its place."""

    prompts: tuple[TextPrompt, ...]
    places: Mapping[str, Place]
    resources: tuple[FileResource, ...]


def read_content(context: CompileContext, grounds: AccessDefaults) -> CompiledContent:
    """Read ``prompts/`` and ``resources/``.

    Files without a condition have the mask ``AccessDefaults.unsaid``. Without policies, that admits only callers who
    skip policies, as for the rest of the endpoint.
    """
    default, section = grounds.unsaid, context.config.resources
    found = read_prompts(context, default=default)
    _warn_of_similar_folders(context)
    section.expect("condition")
    guarded = "condition" in section
    mask = own_mask(section, context.conditions, context.problems) if guarded else default
    return CompiledContent(
        prompts=tuple(prompt for prompt, _ in found),
        places={prompt.name: at for prompt, at in found},
        resources=read_resources(context, mask=mask),
    )


def _warn_of_similar_folders(context: CompileContext) -> None:
    """Warn of folders whose names may be slips for ``prompts`` or ``resources``."""
    for folder, what in ((PROMPTS_FOLDER, "prompts"), (RESOURCES_FOLDER, "resources")):
        path = context.project.path(folder)
        for alike in context.files.folders_like(path):
            if context.files.find(alike).files:
                context.problems.warn(
                    Place(alike),
                    f"it is not read: {what} belong in {path}/",
                    code="unread-file",
                    about=[alike],
                )


def refuse_shared_names(content: CompiledContent, code: CompiledCode, *, at: Place, problems: Problems) -> None:
    """Report code prompts named like a file's prompt, and code resources in the URI scheme of files and schemas.

    ``at`` is the place where the toolkits are named.
    """
    for prompt in code.prompts:
        if prompt.name in content.places:
            problems.add(
                content.places[prompt.name],
                f'{prompt.kit} has a prompt named "{prompt.name}" too',
                code="duplicate-prompt",
            )
    for resource in code.resources:
        uri = str(resource.entry.get("uri") or resource.entry["uriTemplate"])
        if uri.lower().startswith(f"{SCHEME}:"):
            sentence = f'{resource.kit} has the resource "{uri:.200}": {SCHEME}: is for files and schemas'
            problems.add(at, sentence, code="reserved-uri")
