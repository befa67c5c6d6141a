"""Skills from folders: ``skills/NAME/SKILL.md``, and the files beside it at any depth."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from handler.compiler.compile_context import CompileContext
from handler.compiler.problems import Place, Problems
from handler.compiler.source.files import NEVER_ENTERED, EndpointFiles, Found
from handler.compiler.tools.content_files.file_contents import FileContent, content_of, read_file_content
from handler.compiler.tools.content_files.resources import MAX_RESOURCE_BYTES, MAX_RESOURCES_BYTES
from handler.compiler.tools.content_files.skill_format import (
    MAX_SKILL_FILE_BYTES,
    MAX_SKILL_FILES,
    SKILL_FILE,
    CompiledSkill,
    file_faults,
    made_skill,
    read_skill_text,
)
from handler.policy.evaluation import Mask

SKILLS_FOLDER = "skills"

MAX_TOLD = 10
"""The number of unread files and folders that get a warning each."""


def read_skills(context: CompileContext, *, mask: Mask) -> tuple[CompiledSkill, ...]:
    """Read the skills of their folder, by name. ``mask`` guards each of them."""
    files, problems = context.files, context.problems
    folder = context.project.path(SKILLS_FOLDER)
    found = files.find(folder)
    _refuse_unsafe(files, folder, found=found, problems=problems)
    by_skill: dict[str, list[str]] = {name: [] for name in files.folders(folder) if _is_entered(files, folder, name)}
    beside: list[str] = []
    for file in found.files:
        name, _, path = posixpath.relpath(file, folder).partition("/")
        by_skill.setdefault(name, []).append(path) if path else beside.append(file)
    unread = [file for file in beside if not files.is_read(file)]
    skills: list[CompiledSkill | None] = []
    for name, paths in sorted(by_skill.items()):
        if any(path.lower() == SKILL_FILE.lower() for path in paths):
            skills.append(_skill(context, f"{folder}/{name}", paths, mask=mask))
        elif not any(files.is_read(f"{folder}/{name}/{path}") for path in paths):  # by @sdl, as in StepZen's projects
            unread.append(f"{folder}/{name}")
    for each in unread[:MAX_TOLD]:
        sentence = f"it is not read as a skill: expected {folder}/NAME/{SKILL_FILE}"
        problems.warn(Place(each), sentence, code="unread-file", about=[each])
    return tuple(skill for skill in skills if skill)


def code_skill(given: Mapping[str, str | bytes], *, at: Place, mask: Mask, problems: Problems) -> CompiledSkill | None:
    """Make the skill of a toolkit; ``None`` after reporting its faults at the toolkit's place."""
    found = Problems()
    contents = {path: content_of(path, content) for path, content in given.items()}
    frontmatter = read_skill_text(contents[SKILL_FILE].text, SKILL_FILE, found)
    faults = [f"{SKILL_FILE}:{each.line}: {each.sentence}" for each in found.errors]
    if len(contents) > MAX_SKILL_FILES:
        faults.append(f"it has {len(contents):,} files: hosts take {MAX_SKILL_FILES} of one skill")
    named = file_faults(frontmatter["name"] if frontmatter else "", contents)
    for path, content in contents.items():
        limit = MAX_SKILL_FILE_BYTES if path == SKILL_FILE else MAX_RESOURCE_BYTES
        size = len(content.served)
        large = f"it has {size} bytes; a file may have {limit}" if size > limit else ""
        fault = named.get(path, large)
        faults += [f"{path}: {fault}"] if fault else []
    for fault in faults:
        problems.add(at, f"a skill of the toolkit: {fault}", code="invalid-skill")
    if frontmatter is None or faults:
        return None
    return made_skill(frontmatter, contents, places=dict.fromkeys(contents, at), mask=mask)


def _is_entered(files: EndpointFiles, folder: str, name: str) -> bool:
    """Tell if a search for files enters a folder, so that the folder should be a skill."""
    return not name.startswith(".") and name not in NEVER_ENTERED and not _is_link(files, f"{folder}/{name}")


def _is_link(files: EndpointFiles, name: str) -> bool:
    """Tell if a file, or a folder above it within the endpoint folder, is a link."""
    path = PurePosixPath(name)
    return any((files.folder / each).is_symlink() for each in (path, *path.parents[:-1]))


def judge_skill_sizes(skills: Sequence[CompiledSkill], resources: int, *, at: Place, problems: Problems) -> None:
    """Report skills that are too large for a bundle, together with ``resources`` bytes of other files."""
    total = sum(skill.bytes for skill in skills)
    if total and total + resources > MAX_RESOURCES_BYTES:
        sentence = f"skills have {total} bytes and resources {resources}"
        problems.add(at, f"{sentence}; the bundle that holds them takes {MAX_RESOURCES_BYTES}", code="large-resources")


def _refuse_unsafe(files: EndpointFiles, folder: str, *, found: Found, problems: Problems) -> None:
    """Report folders that cannot be searched, and links: a link could publish a file that is not the skill's."""
    for at, reason in found.faults:
        problems.add(Place(at), f"it {reason}", code="unreadable-file")
    links = (folder,) if files.exists(folder) and _is_link(files, folder) else ()
    for link in links or (*found.links, *(file for file in found.files if _is_link(files, file))):
        problems.add(Place(link), "it is a link: expected a file of the skill itself", code="invalid-skill-file")


def _skill(context: CompileContext, folder: str, paths: Sequence[str], *, mask: Mask) -> CompiledSkill | None:
    """Read one skill; ``None`` after reporting its faults."""
    files, problems, name = context.files, context.problems, posixpath.basename(folder)
    if SKILL_FILE not in paths:
        similar = next(path for path in paths if path.lower() == SKILL_FILE.lower())
        problems.add(Place(f"{folder}/{similar}"), f"expected the name {SKILL_FILE}", code="invalid-skill")
        return None
    main = f"{folder}/{SKILL_FILE}"
    text = None if _is_link(files, main) else files.read(main, max_bytes=MAX_SKILL_FILE_BYTES)
    frontmatter = None if text is None else read_skill_text(text, main, problems)
    if frontmatter and frontmatter["name"] != name:
        sentence = f'"name" is "{frontmatter["name"]}": expected the folder\'s name, {name}'
        problems.add(Place(main, 1, 1), sentence, code="invalid-skill")
        return None
    contents = _contents(files, folder, paths, problems=problems)
    if frontmatter is None or contents is None:
        return None
    return made_skill(frontmatter, contents, places={path: Place(f"{folder}/{path}") for path in contents}, mask=mask)


def _contents(
    files: EndpointFiles, folder: str, paths: Sequence[str], *, problems: Problems
) -> dict[str, FileContent] | None:
    """Read the files of a skill by their paths; ``None`` after reporting a fault."""
    named = [(path, f"{folder}/{path}") for path in paths]
    if len(named) > MAX_SKILL_FILES:
        sentence = f"it has {len(named):,} files: hosts take {MAX_SKILL_FILES} of one skill"
        problems.add(Place(folder), sentence, code="large-skill")
        return None
    contents: dict[str, FileContent] = {}
    faults = file_faults(posixpath.basename(folder), paths)
    is_whole = True
    for path, file in named:
        if path in faults:
            problems.add(Place(file), faults[path], code="invalid-skill-file")
        linked = path in faults or _is_link(files, file)  # links are reported already
        content = None if linked else read_file_content(files, file, max_bytes=MAX_RESOURCE_BYTES)
        if content is None:
            is_whole = False
        else:
            contents[path] = content
    return contents if is_whole else None
