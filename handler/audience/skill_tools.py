"""Warnings of skills that name a tool which some of their readers may not use."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from handler.audience.caller_classes import CallerClasses, leaves_of, predicate_trait
from handler.audience.reach import Reach, Visitor
from handler.bundle.content import FileResource, Skill
from handler.bundle.tools import CompanionTool, GraphQLTool, PrescribedTool, Tool
from handler.compiler.compile import Compiled
from handler.compiler.problems import Place, Problems
from handler.errors.authoring import Problem
from handler.policy.evaluation import OPEN
from handler.server.auth.principal import ANONYMOUS, DEVELOPMENT
from handler.strict_json import to_json_bytes

MOST_READERS = 64
"""Classes of readers of one skill: a view of the schema may be needed for each."""

WORD = re.compile(r"[a-z]+")
"""Names of tools that prose may mean as a word: only in code, as `search`, do they name the tool."""

PREFIX = r"mcp__[\w-]+?__"
"""The beginning of a server's tools in the names of hosts, as in ``mcp__shop__search``."""


def warnings_about_skills(compiled: Compiled) -> Sequence[Problem]:
    """Return a warning at the first place where a skill names a tool that a reader of the skill may not use."""
    problems = Problems()
    names = [(skill, tool, at) for skill in compiled.bundle.skills for tool, at in _tools_in(skill, compiled)]
    if not names:
        return ()
    reach = Reach(compiled, None)
    for skill, tool, at in names:
        readers = (each for each in _readers(reach, skill, tool) if each.evaluation.meets(skill.mask))
        lacking = next((each for each in readers if not reach.endpoint.is_visible(tool, each.evaluation)), None)
        if lacking:
            sentence = f'the skill "{skill.name}" names the tool "{tool.name}", which {lacking.label} may not use'
            problems.warn(at, f"{sentence}, and may read the skill", code="unusable-skill-tool", about=[tool.name])
    return problems.warnings


def _tools_in(skill: Skill, compiled: Compiled) -> Iterator[tuple[Tool, Place]]:
    """Yield the tools that a skill names, each with the first place."""
    uris = {each["uri"] for each in skill.entry["resources"]}
    resources = (each for each in compiled.bundle.resources if isinstance(each, FileResource))
    files = [each for each in resources if each.uri in uris]
    tools = skill.entry["frontmatter"].get("allowed-tools", "")  # that a skill asks its host to allow
    allowed = {*(re.split(r"[\s,]+", tools) if isinstance(tools, str) else tools)}
    for tool in compiled.bundle.tools:
        for name in (tool.name, *tool.options.aliases):
            place = next(((each, offset) for each in files if (offset := _find_name(each.text, name)) >= 0), None)
            if place is None and name not in allowed:
                continue
            file, offset = place or (files[0], 0)
            at = compiled.skill_places[file.uri]
            if not at.line and file.text:  # else it is in a file of another kind, such as a module in Python
                column = offset - file.text.rfind("\n", 0, offset)
                at = Place(at.file, file.text.count("\n", 0, offset) + 1, column)
            yield tool, at
            break


def _find_name(text: str, name: str) -> int:
    """Return the place of a tool's name in a text; -1 if there is none."""
    if name not in text:  # most names are not, and this is much faster than the pattern
        return -1
    quoted = re.escape(name)
    alone = rf"`{quoted}[`(]" if WORD.fullmatch(name) else rf"(?<![\w.-]){quoted}(?![\w-]|\.\w)"
    match = re.search(rf"{alone}|(?<!\w){PREFIX}{quoted}(?![\w-])", text)
    return match.start() if match else -1


def _readers(reach: Reach, skill: Skill, tool: Tool) -> Iterator[Visitor]:
    """Yield a caller of each combination of the conditions of a skill and of a tool that it names."""
    bundle = reach.compiled.bundle
    if bundle.access.anonymous == "allow":
        yield reach.visitor_of(ANONYMOUS, "a caller without a credential")
    if not bundle.identity.exists:
        return
    if isinstance(tool, CompanionTool):
        tool = bundle.graphql_tool_of(tool)
    conditions = tool.conditions if isinstance(tool, PrescribedTool | GraphQLTool) else OPEN
    traits = [
        predicate_trait(each, None)
        for each in leaves_of(bundle.conditions, skill.mask | getattr(tool, "mask", OPEN) | conditions)
    ]
    for _, principal in CallerClasses(bundle, bundle, traits, most=MOST_READERS, unissued=True).tokens():
        claims = to_json_bytes(principal.claims).decode()
        words = f"a caller with the claims {claims}" if principal.claims else "a caller without claims"
        yield reach.visitor_of(principal, words)
    yield reach.visitor_of(DEVELOPMENT, "any caller")
