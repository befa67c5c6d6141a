"""Skills from folders: ``skills/NAME/SKILL.md``, and the files beside it at any depth.

Source: Skills extension of MCP (SEP-2640, final since 2026-09); Agent Skills, "Specification".
"""

from __future__ import annotations

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
from handler.compiler.source.files import NEVER_ENTERED, EndpointFiles
from handler.compiler.source.yaml_tree import mark_place, node_place, read_front_matter, value_of
from handler.compiler.tools.resources import (
    MAX_RESOURCE_BYTES,
    FileContent,
    content_of,
    read_file_content,
    warn_of_unread,
)
from handler.policy.evaluation import Mask
from handler.strict_json import JSONObject

SKILLS_FOLDER = "skills"

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


def read_skills(context: CompileContext, *, mask: Mask) -> tuple[CompiledSkill, ...]:
    """Read the skills of their folder, by name. ``mask`` guards each of them.

    Links are errors: a link could publish a file that is not the skill's.
    """
    files, problems, folder = context.files, context.problems, context.project.path(SKILLS_FOLDER)
    search = files.search(folder)
    links = (folder,) if files.exists(folder) and _is_link(files, folder) else ()
    for link in links or (*search.links, *(file for file in search.files if _is_link(files, file))):
        problems.add(Place(link), "it is a link: expected a file of the skill itself", code="invalid-skill-file")
    by_skill: dict[str, list[str]] = {  # with the folders that a search enters
        name: []
        for name in files.folders(folder)
        if not name.startswith(".") and name not in NEVER_ENTERED and not _is_link(files, f"{folder}/{name}")
    }
    beside: list[str] = []
    for file in search.files:
        name, _, path = posixpath.relpath(file, folder).partition("/")
        by_skill.setdefault(name, []).append(path) if path else beside.append(file)
    unread = [file for file in beside if not files.is_read(file)]
    skills: list[CompiledSkill | None] = []
    for name, paths in sorted(by_skill.items()):
        if any(path.lower() == SKILL_FILE.lower() for path in paths):
            skills.append(_skill(context, f"{folder}/{name}", paths, mask=mask))
        elif not any(files.is_read(f"{folder}/{name}/{path}") for path in paths):  # by @sdl, as in StepZen's projects
            unread.append(f"{folder}/{name}")
    warn_of_unread(unread, f" as a skill: expected {folder}/NAME/{SKILL_FILE}", problems)
    return tuple(skill for skill in skills if skill)


def _is_link(files: EndpointFiles, name: str) -> bool:
    """Return whether a file, or a folder above it within the endpoint folder, is a link."""
    path = PurePosixPath(name)
    return any((files.folder / each).is_symlink() for each in (path, *path.parents[:-1]))


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
    if len(paths) > MAX_SKILL_FILES:
        problems.add(Place(folder), _too_many(len(paths)), code="large-skill")
        return None
    contents: dict[str, FileContent] = {}
    faults = file_faults(name, paths)
    for path in paths:
        file = f"{folder}/{path}"
        if path in faults:
            problems.add(Place(file), faults[path], code="invalid-skill-file")
        elif not _is_link(files, file):  # links are reported already
            content = read_file_content(files, file, max_bytes=MAX_RESOURCE_BYTES)
            contents |= {path: content} if content else {}
    if frontmatter is None or len(contents) < len(paths):
        return None
    return made_skill(frontmatter, contents, places={path: Place(f"{folder}/{path}") for path in contents}, mask=mask)


def code_skill(files: Mapping[str, str | bytes], *, at: Place, mask: Mask, problems: Problems) -> CompiledSkill | None:
    """Make the skill of a toolkit; ``None`` after reporting its faults at the toolkit's place."""
    own_problems = Problems()
    contents = {path: content_of(path, content) for path, content in files.items()}
    frontmatter = read_skill_text(contents[SKILL_FILE].text, SKILL_FILE, own_problems)
    faults = [f"{SKILL_FILE}:{each.line}: {each.sentence}" for each in own_problems.errors]
    if len(contents) > MAX_SKILL_FILES:
        faults.append(_too_many(len(contents)))
    by_path = file_faults(frontmatter["name"] if frontmatter else "", contents)
    for path, content in contents.items():
        limit = MAX_SKILL_FILE_BYTES if path == SKILL_FILE else MAX_RESOURCE_BYTES
        size = len(content.served)
        large = f"it has {size} bytes; a file may have {limit}" if size > limit else ""
        fault = by_path.get(path, large)
        faults += [f"{path}: {fault}"] if fault else []
    for fault in faults:
        problems.add(at, f"a skill of the toolkit: {fault}", code="invalid-skill")
    if frontmatter is None or faults:
        return None
    return made_skill(frontmatter, contents, places=dict.fromkeys(contents, at), mask=mask)


def _too_many(files: int) -> str:
    return f"it has {files:,} files: hosts take {MAX_SKILL_FILES} of one skill"


def read_skill_text(text: str, file: str, problems: Problems) -> JSONObject | None:
    """Read the front matter of a ``SKILL.md`` as JSON; ``None`` after reporting that it does not fit."""
    source, own_problems = Source(text.replace("\r\n", "\n"), file), Problems()
    node, end = read_front_matter(source, own_problems)
    problems.take(own_problems)
    if own_problems.errors:
        return None
    if node is None or not source.body.startswith("---\n"):
        sentence = 'it has no front matter: expected a line "---", name, description, and another line "---" first'
        problems.add(Place(file, 1, 1), sentence, code="invalid-skill")
        return None
    try:
        frontmatter: JSONObject = value_of(node, text_of=lambda scalar: str(scalar.value))
    except yaml.MarkedYAMLError as exc:
        at = mark_place(exc.problem_mark) if exc.problem_mark else Place(file, 1, 1)
        problems.add(at, f"its front matter: {exc.problem}", code="invalid-skill")
        return None
    places = {key.value: node_place(value) for key, value in node.value}
    faults = [*_faults(frontmatter, places, whole=Place(file, 1, 1)), *_ambiguous(node), *_uncommon(source, end)]
    if not source.body[end:].strip():
        faults.append((Place(file), "there is no text below its front matter: expected the skill's instructions"))
    for at, sentence in faults:
        problems.add(at, sentence, code="invalid-skill")
    return None if faults else frontmatter


def _faults(frontmatter: JSONObject, places: Mapping[str, Place], *, whole: Place) -> Iterator[tuple[Place, str]]:
    """Yield the values that the format does not allow. Unknown keys are allowed, and served as they are."""
    name, description = frontmatter.get("name"), frontmatter.get("description")
    if not isinstance(name, str) or not SKILL_NAME.fullmatch(name):
        expected = "1 to 64 lower-case letters, digits and single hyphens between them"
        yield places.get("name", whole), f'"name": expected {expected}'
    if not isinstance(description, str) or not description.strip() or len(description) > MAX_DESCRIPTION_CHARS:
        yield places.get("description", whole), f'"description": expected 1 to {MAX_DESCRIPTION_CHARS:,} characters'
    if not isinstance(frontmatter.get("license", ""), str):
        yield places["license"], '"license": expected a text'
    compatibility = frontmatter.get("compatibility", "any")
    if not isinstance(compatibility, str) or not 0 < len(compatibility) <= MAX_COMPATIBILITY_CHARS:
        yield places["compatibility"], f'"compatibility": expected 1 to {MAX_COMPATIBILITY_CHARS} characters'
    tools = frontmatter.get("allowed-tools", "")
    if not isinstance(tools, str) and not (isinstance(tools, list) and all(isinstance(each, str) for each in tools)):
        yield places["allowed-tools"], '"allowed-tools": expected a text, or a list of texts'
    metadata = frontmatter.get("metadata", {})
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        yield places["metadata"], '"metadata": expected a mapping of keys to texts, each number in quotes'
    elif any(key.startswith(RESERVED) for key in metadata):
        yield places["metadata"], f'"metadata": keys that begin with {RESERVED} are for extensions of MCP'


def _ambiguous(node: yaml.Node) -> Iterator[tuple[Place, str]]:
    """Yield the values that readers of YAML 1.1 and 1.2 take for different ones.

    A host compares its reading of the file with the entry, and refuses the skill if they differ. So does a host that
    cannot read the file, as MCP's SDK for TypeScript, which reads only the common forms.
    """
    is_marked = node.style in ("'", '"') if isinstance(node, yaml.ScalarNode) else getattr(node, "flow_style", False)
    if is_marked and node.start_mark.line != node.end_mark.line:
        yield node_place(node), "not all hosts read a value in quotes or brackets over several lines: expected one line"
    if isinstance(node, yaml.MappingNode) and node.flow_style and node.value:
        # A value is missing, as in {a}, or the brackets are those of a list, as in [a: b].
        is_bare = node.start_mark.index == node.value[0][0].start_mark.index
        if is_bare or any(value.start_mark.index == value.end_mark.index for _, value in node.value):
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


def _uncommon(source: Source, end: int) -> Iterator[tuple[Place, str]]:
    """Yield ends of lines of some readers, and marks that small readers do not know: tags, anchors, ``?``."""
    for each in OTHER_BREAKS.finditer(source.body, 0, end):
        sentence = f"U+{ord(each[0]):04X} ends a line for some hosts only: expected ordinary lines"
        yield place_in(source, each.start()), sentence
    for token in yaml.scan(source.body[:end]):
        at = token.start_mark
        match token:
            case yaml.KeyToken():
                is_rare = source.body.startswith("?", at.index)
            case yaml.ScalarToken(style="|" | ">"):
                is_rare = bool(INDENTED.match(source.body, at.index))
            case _:
                is_rare = isinstance(token, UNCOMMON)
        if is_rare:
            sentence = "not all hosts read this mark of YAML: expected plain values"
            yield Place(source.name, at.line + 1, at.column + 1), sentence


def _differs(node: yaml.Node, expected: object) -> bool:
    """Return whether a reader of YAML 1.1 reads a scalar as another value."""
    try:
        value = yaml.constructor.SafeConstructor().construct_object(node)
    except (ValueError, OverflowError, yaml.YAMLError):
        return True
    return type(value) is not type(expected) or value != expected


def file_faults(name: str, paths: Iterable[str]) -> dict[str, str]:
    """Return the faults of the files of a skill by their paths below its folder. A valid path is left out."""
    first_of: dict[str, str] = {}
    faults: dict[str, str] = {}
    for path in sorted(paths):
        first = first_of.setdefault(unicodedata.normalize("NFC", path).casefold(), path)
        if any("\ud800" <= each <= "\udfff" for each in path):
            faults[path] = "its name is not UTF-8"
        elif _UNFIT.search(path):
            faults[path] = "its name has a control character or \\, which hosts refuse: expected another name"
        elif (size := len(skill_uri(name, path))) > MAX_URI_CHARS:
            faults[path] = f"its URI has {size:,} characters: expected at most {MAX_URI_CHARS:,}"
        elif first != path:
            alike = f"many disks take its name for that of {first}"
            faults[path] = f"{alike}, and a host that writes both loses one: rename it"
    return faults


def made_skill(
    frontmatter: JSONObject, contents: Mapping[str, FileContent], *, places: Mapping[str, Place], mask: Mask
) -> CompiledSkill:
    """Make a skill of its files, by their paths. Only ``SKILL.md`` is listed as a resource.

    Source: SEP-2640, "Resource Metadata".
    """
    name, description = frontmatter["name"], frontmatter["description"]
    files: dict[str, FileResource] = {}
    for path in sorted(contents, key=lambda path: (path != SKILL_FILE, path)):
        is_main = path == SKILL_FILE
        texts = {"name": name, "description": description} if is_main else {"name": f"{name}/{path}"}
        files[path] = contents[path].resource(skill_uri(name, path), texts, mask=mask, hidden=not is_main)
    digests = [
        {
            "uri": file.uri,
            "digest": f"sha256:{hashlib.sha256(contents[path].served).hexdigest()}",
            "size": file.entry["size"],
        }
        for path, file in files.items()
    ]
    entry = {"uri": skill_uri(name, SKILL_FILE), "frontmatter": frontmatter, "resources": digests}
    return CompiledSkill(
        skill=Skill(entry=entry, mask=mask),
        files=tuple(files.values()),
        places={file.uri: places[path] for path, file in files.items()},
    )
