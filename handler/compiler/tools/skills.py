"""Skills from folders: ``skills/NAME/SKILL.md``, and the files beside it at any depth.

Source: Skills extension of MCP (SEP-2640, final since 2026-09); Agent Skills, "Specification".
"""

from __future__ import annotations

import base64
import hashlib
import posixpath
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

import yaml
from graphql import Source

from handler.bundle.content import FileResource, Skill
from handler.bundle.resource_uris import skill_uri
from handler.compiler.compile_context import CompileContext
from handler.compiler.problems import Place, Problems, place_in
from handler.compiler.source.files import NEVER_ENTERED, EndpointFiles, Found
from handler.compiler.source.yaml_tree import mark_place, node_place, read_front_matter, value_of
from handler.compiler.tools.resources import (
    MAX_RESOURCE_BYTES,
    MAX_RESOURCES_BYTES,
    FileContent,
    content_of,
    read_file_content,
)
from handler.policy.evaluation import Mask
from handler.strict_json import JSONObject

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


SKILL_FILE = "SKILL.md"

SKILL_NAME = re.compile(r"(?=.{1,64}\Z)[a-z0-9]+(-[a-z0-9]+)*")
"""Source: Agent Skills, "Specification" ("name")."""

MAX_DESCRIPTION_CHARS = 1_024
MAX_COMPATIBILITY_CHARS = 500

MAX_SKILL_FILES = 512
"""The files of a skill that every host takes. Source: SEP-2640, "Limits"."""

MAX_SKILL_FILE_BYTES = 100_000
"""The limit of ``SKILL.md``, which a model reads whole: longer texts belong in files beside it."""

MAX_URI_CHARS = 1_000

RESERVED = "io.modelcontextprotocol/"
"""The beginning of keys of ``metadata`` that only extensions of MCP define. Source: SEP-2640, "Frontmatter"."""

UNCOMMON = (
    yaml.tokens.AliasToken,
    yaml.tokens.AnchorToken,
    yaml.tokens.DirectiveToken,
    yaml.tokens.DocumentEndToken,
    yaml.tokens.TagToken,
)

INDENTED = re.compile(r"[|>][-+]?[0-9]")
"""The beginning of a block whose author counts its indentation."""

OTHER_BREAKS = re.compile("[\r\x85\u2028\u2029]")
"""Characters that end a line for some readers of YAML: a return alone, and those of YAML 1.1."""

_UNFIT = re.compile(r"[\x00-\x1f\x7f\\]")
"""Characters that hosts refuse in the path of a file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledSkill:
    """A skill for the bundle, with its files and the place of each by its URI."""

    skill: Skill
    files: tuple[FileResource, ...]
    places: Mapping[str, Place]

    @property
    def at(self) -> Place:
        """The place of the file SKILL.md."""
        return self.places[self.skill.uri]

    @property
    def bytes(self) -> int:
        """The size of the files together."""
        return sum(file.entry["size"] for file in self.files)


def read_skill_text(text: str, file: str, problems: Problems) -> JSONObject | None:
    """Read the front matter of a ``SKILL.md`` as JSON; ``None`` after reporting that it does not fit."""
    source, found = Source(text.replace("\r\n", "\n"), file), Problems()
    node, end = read_front_matter(source, found)
    for each in found.errors:
        problems.add(Place(each.file, each.line, each.column), each.sentence, code=each.code)
    if found.errors:
        return None
    if node is None or not source.body.startswith("---\n"):
        sentence = 'it has no front matter: expected a line "---", name, description, and another line "---" first'
        problems.add(Place(file, 1, 1), sentence, code="invalid-skill")
        return None
    try:
        said: JSONObject = value_of(node, text_of=lambda scalar: str(scalar.value))
    except yaml.MarkedYAMLError as exc:
        at = mark_place(exc.problem_mark) if exc.problem_mark else Place(file, 1, 1)
        problems.add(at, f"its front matter: {exc.problem}", code="invalid-skill")
        return None
    places = {key.value: node_place(value) for key, value in node.value}
    faults = [*_faults(said, places, whole=Place(file, 1, 1)), *_ambiguous(node), *_uncommon(source, end)]
    if not source.body[end:].strip():
        faults.append((Place(file), "there is no text below its front matter: expected the skill's instructions"))
    for at, sentence in faults:
        problems.add(at, sentence, code="invalid-skill")
    return None if faults else said


def _faults(said: JSONObject, places: Mapping[str, Place], *, whole: Place) -> Iterator[tuple[Place, str]]:
    """Yield the values that the format does not allow. Unknown keys are allowed, and served as they are."""
    name, description = said.get("name"), said.get("description")
    if not isinstance(name, str) or not SKILL_NAME.fullmatch(name):
        expected = "1 to 64 lower-case letters, digits and single hyphens between them"
        yield places.get("name", whole), f'"name": expected {expected}'
    if not isinstance(description, str) or not description.strip() or len(description) > MAX_DESCRIPTION_CHARS:
        yield places.get("description", whole), f'"description": expected 1 to {MAX_DESCRIPTION_CHARS:,} characters'
    if not isinstance(said.get("license", ""), str):
        yield places["license"], '"license": expected a text'
    compatibility = said.get("compatibility", "any")
    if not isinstance(compatibility, str) or not 0 < len(compatibility) <= MAX_COMPATIBILITY_CHARS:
        yield places["compatibility"], f'"compatibility": expected 1 to {MAX_COMPATIBILITY_CHARS} characters'
    tools = said.get("allowed-tools", "")
    if not isinstance(tools, str) and not (isinstance(tools, list) and all(isinstance(each, str) for each in tools)):
        yield places["allowed-tools"], '"allowed-tools": expected a text, or a list of texts'
    metadata = said.get("metadata", {})
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        yield places["metadata"], '"metadata": expected a mapping of keys to texts, each number in quotes'
    elif any(key.startswith(RESERVED) for key in metadata):
        yield places["metadata"], f'"metadata": keys that begin with {RESERVED} are for extensions of MCP'


def _ambiguous(node: yaml.Node) -> Iterator[tuple[Place, str]]:
    """Yield the values that readers of YAML 1.1 and 1.2 take for different ones.

    A host compares its reading of the file with the entry, and refuses the skill if they differ. So does a host that
    cannot read the file, as MCP's SDK for TypeScript, which reads only what most skills have.
    """
    if _spans_lines(node):
        yield node_place(node), "not all hosts read a value in quotes or brackets over several lines: expected one line"
    if _is_half_a_mapping(node):
        yield node_place(node), "not all hosts read this short form of a mapping: expected {key: value}"
    match node:
        case yaml.MappingNode():
            for key, value in node.value:
                if key.value in ("<<", "__proto__") or _differs(key, str(key.value)):
                    yield node_place(key), f'the key "{key.value:.40}" is not read alike by all hosts: expected a word'
                yield from _ambiguous(value)
        case yaml.SequenceNode():
            for each in node.value:
                yield from _ambiguous(each)
        case yaml.ScalarNode() if (node.style, node.value) == (None, "-") or _differs(
            node, value_of(node, text_of=lambda scalar: str(scalar.value))
        ):
            yield node_place(node), f'"{node.value:.40}" is not read alike by all hosts: expected it in quotes'


def _spans_lines(node: yaml.Node) -> bool:
    marked = node.style in ("'", '"') if isinstance(node, yaml.ScalarNode) else getattr(node, "flow_style", False)
    return marked and node.start_mark.line != node.end_mark.line


def _is_half_a_mapping(node: yaml.Node) -> bool:
    """Tell if a mapping between brackets lacks a value, as ``{a}``, or brackets of its own, as ``[a: b]``."""
    if not isinstance(node, yaml.MappingNode) or not node.flow_style or not node.value:
        return False
    is_bare = node.start_mark.index == node.value[0][0].start_mark.index
    return is_bare or any(value.start_mark.index == value.end_mark.index for _, value in node.value)


def _uncommon(source: Source, end: int) -> Iterator[tuple[Place, str]]:
    """Yield ends of lines of some readers, and marks that small readers do not know: tags, anchors, ``?``."""
    for each in OTHER_BREAKS.finditer(source.body, 0, end):
        sentence = f"U+{ord(each[0]):04X} ends a line for some hosts only: expected ordinary lines"
        yield place_in(source, each.start()), sentence
    for token in yaml.scan(source.body[:end]):
        at = token.start_mark
        if _is_rare(token, source.body):
            sentence = "not all hosts read this mark of YAML: expected plain values"
            yield Place(source.name, at.line + 1, at.column + 1), sentence


def _is_rare(token: yaml.Token, text: str) -> bool:
    match token:
        case yaml.KeyToken():
            return text.startswith("?", token.start_mark.index)
        case yaml.ScalarToken(style="|" | ">"):
            return bool(INDENTED.match(text, token.start_mark.index))
        case _:
            return isinstance(token, UNCOMMON)


def _differs(node: yaml.Node, expected: object) -> bool:
    """Tell if a reader of YAML 1.1 reads a scalar as another value."""
    try:
        read = yaml.constructor.SafeConstructor().construct_object(node)
    except (ValueError, OverflowError, yaml.YAMLError):
        return True
    return type(read) is not type(expected) or read != expected


def file_faults(name: str, paths: Iterable[str]) -> dict[str, str]:
    """Return the faults of the files of a skill by their paths below its folder. A valid path is left out."""
    first_of: dict[str, str] = {}
    faults: dict[str, str] = {}
    for path in sorted(paths):
        first = first_of.setdefault(unicodedata.normalize("NFC", path).casefold(), path)
        alike = f"many disks take its name for that of {first}, and a host that writes both loses one: rename it"
        fault = _path_fault(name, path) or (alike if first != path else "")
        if fault:
            faults[path] = fault
    return faults


def _path_fault(name: str, path: str) -> str:
    if any("\ud800" <= each <= "\udfff" for each in path):
        return "its name is not UTF-8"
    if _UNFIT.search(path):
        return "its name has a control character or \\, which hosts refuse: expected another name"
    size = len(skill_uri(name, path))
    return f"its URI has {size:,} characters: expected at most {MAX_URI_CHARS:,}" if size > MAX_URI_CHARS else ""


def made_skill(
    frontmatter: JSONObject, contents: Mapping[str, FileContent], *, places: Mapping[str, Place], mask: Mask
) -> CompiledSkill:
    """Make a skill of its files, by their paths. Only ``SKILL.md`` is listed as a resource."""
    name = frontmatter["name"]
    ordered = sorted(contents, key=lambda path: (path != SKILL_FILE, path))
    files = tuple(_file(name, path, contents[path], frontmatter=frontmatter, mask=mask) for path in ordered)
    digests = [
        {"uri": file.uri, "digest": f"sha256:{hashlib.sha256(contents[path].served).hexdigest()}", "size": size}
        for file, path, size in ((file, path, file.entry["size"]) for file, path in zip(files, ordered, strict=True))
    ]
    entry = {"uri": skill_uri(name, SKILL_FILE), "frontmatter": frontmatter, "resources": digests}
    return CompiledSkill(
        skill=Skill(entry=entry, mask=mask),
        files=files,
        places={file.uri: places[path] for file, path in zip(files, ordered, strict=True)},
    )


def _file(name: str, path: str, content: FileContent, *, frontmatter: JSONObject, mask: Mask) -> FileResource:
    """Source: SEP-2640, "Resource Metadata"."""
    is_main = path == SKILL_FILE
    texts = {"name": name, "description": frontmatter["description"]} if is_main else {"name": f"{name}/{path}"}
    entry = {"uri": skill_uri(name, path), **texts, "mimeType": content.media_type, "size": len(content.served)}
    blob = base64.b64encode(content.blob).decode("ascii")
    return FileResource(entry=entry, text=content.text, blob=blob, mask=mask, hidden=not is_main)
