"""The prompts, resources and skills of an endpoint, from files and from toolkits, with the conditions on them.

``code.py`` compiles the toolkits; this module does not import ``handler.code_tools``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from handler.bundle.content import CodePrompt, CodeResource, FileResource, TextPrompt
from handler.bundle.resource_uris import SCHEME, SKILL_SCHEME
from handler.bundle.tools import CodeKit
from handler.compiler.access.policies import AccessDefaults, Rule
from handler.compiler.compile_context import CompileContext
from handler.compiler.problems import Place, Problems
from handler.compiler.tools.declaration import CompiledTool
from handler.compiler.tools.prompts import PROMPTS_FOLDER, read_prompts
from handler.compiler.tools.resources import MAX_RESOURCES_BYTES, RESOURCES_FOLDER, mask_of, read_resources
from handler.compiler.tools.skills import SKILLS_FOLDER, CompiledSkill, read_skills
from handler.compiler.tools.views import VIEWS_FOLDER
from handler.strict_json import to_json_bytes

FOLDERS: Mapping[str, str] = {
    PROMPTS_FOLDER: "prompts",
    RESOURCES_FOLDER: "resources",
    SKILLS_FOLDER: "skills",
    VIEWS_FOLDER: "pages",
}
"""Folder -> its contents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledContent:
    """Prompts, resources, skills and pages from files; ``places``: prompt name -> its place."""

    prompts: tuple[TextPrompt, ...]
    places: Mapping[str, Place]
    resources: tuple[FileResource, ...]
    skills: tuple[CompiledSkill, ...]
    pages: tuple[FileResource, ...] = ()


def read_content(context: CompileContext, grounds: AccessDefaults) -> CompiledContent:
    """Read ``prompts/``, ``resources/`` and ``skills/``. Warn of folders whose names may be slips for these.

    Files without a condition have the mask ``AccessDefaults.unsaid``. Without policies, that admits only callers that
    skip policies, as for the rest of the endpoint.
    """
    default, config = grounds.unsaid, context.config
    prompts = read_prompts(context, default=default)
    for folder, contents in FOLDERS.items():
        path = context.project.path(folder)
        for alike in context.files.folders_like(path):
            if context.files.find(alike).files:
                sentence = f"it is not read: {contents} belong in {path}/"
                context.problems.warn(Place(alike), sentence, code="unread-file", about=[alike])
    return CompiledContent(
        prompts=tuple(prompt for prompt, _ in prompts),
        places={prompt.name: at for prompt, at in prompts},
        resources=read_resources(context, mask=mask_of(config.resources, context, default=default)),
        skills=read_skills(context, mask=mask_of(config.skills, context, default=default)),
    )


def refuse_shared_names(content: CompiledContent, code: CompiledCode, *, at: Place, problems: Problems) -> None:
    """Report prompts, resources and skills in Python that have the name or the URI of a file's, or a reserved scheme.

    All skills together may be too large for a bundle. ``at`` is the place where the toolkits are named.
    """
    for prompt in code.prompts:
        if prompt.name in content.places:
            sentence = f'{prompt.kit} has a prompt named "{prompt.name}" too'
            problems.add(content.places[prompt.name], sentence, code="duplicate-prompt")
    pages = {page.uri for page in content.pages}
    for resource in code.resources:
        uri = str(resource.entry.get("uri") or resource.entry["uriTemplate"])
        subject = f'{resource.kit} has the resource "{uri:.200}"'
        if uri.lower().startswith((f"{SCHEME}:", f"{SKILL_SCHEME}:")):
            sentence = f"{subject}: {SCHEME}: is for files and schemas, and {SKILL_SCHEME}: for skills"
            problems.add(at, sentence, code="reserved-uri")
        if resource.entry.get("uri") in pages:
            sentence = f"{subject}, which is a page of the endpoint: expected another"
            problems.add(at, sentence, code="reserved-uri")
    folders = {skill.skill.name: skill for skill in content.skills}
    for skill in code.skills:
        if skill.skill.name in folders:
            sentence = f'a toolkit has a skill named "{skill.skill.name}" too'
            problems.add(folders[skill.skill.name].at, sentence, code="duplicate-skill")
    in_skills = sum(skill.bytes for skill in (*content.skills, *code.skills))
    in_resources = sum(resource.entry["size"] for resource in content.resources)
    if in_skills and in_skills + in_resources > MAX_RESOURCES_BYTES:
        sentence = f"skills have {in_skills} bytes and resources {in_resources}"
        problems.add(at, f"{sentence}; the bundle that holds them takes {MAX_RESOURCES_BYTES}", code="large-resources")


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledCode:
    """The toolkits of an endpoint, frozen for the bundle."""

    kits: tuple[CodeKit, ...] = ()
    modules: tuple[str, ...] = ()  # that may be imported
    rules: tuple[Rule, ...] = ()  # of kits and of tools with requires_auth; their coordinates are names
    tools: tuple[CompiledTool, ...] = ()
    prompts: tuple[CodePrompt, ...] = ()
    resources: tuple[CodeResource, ...] = ()
    asking: Mapping[str, Place]  # label of a definition that may ask its client's user -> its place
    requiring: Mapping[str, Place] = field(default_factory=dict)  # tool with requires_auth -> its place
    skills: tuple[CompiledSkill, ...] = ()

    def sources(self, files: str) -> str:
        """Combine ``files``, the digest of the author's files, with the frozen definitions."""
        if not self.kits:
            return files
        parts = [*(each.tool for each in self.tools), *self.prompts, *self.resources]
        facts = [[files], *([part.entry, getattr(part, "digest", "")] for part in parts)]
        facts += [[each.skill.entry] for each in self.skills]
        return hashlib.sha256(to_json_bytes(facts)).hexdigest()


NO_CODE = CompiledCode(asking={})
