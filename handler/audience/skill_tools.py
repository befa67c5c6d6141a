"""Warnings of skills that name a tool which some of their readers may not use."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from handler.audience.caller_classes import CallerClasses
from handler.audience.condition_bits import leaves_of, predicate_trait
from handler.audience.reach import Reach, Visitor
from handler.bundle.content import FileResource, Skill
from handler.bundle.tools import CompanionTool, GraphQLTool, PrescribedTool, Tool
from handler.compiler.compile import Compiled
from handler.compiler.problems import Place, Problems
from handler.errors.authoring import Problem
from handler.policy.evaluation import OPEN, Mask
from handler.server.auth.principal import ANONYMOUS, Principal
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
    named = [(skill, tool, at) for skill in compiled.bundle.skills for tool, at in _tools_named(skill, compiled)]
    if not named:
        return ()
    reach = Reach(compiled, None)
    for skill, tool, at in named:
        lacking = next(
            (each for each in _readers(reach, skill, tool) if not reach.endpoint.is_visible(tool, each.evaluation)),
            None,
        )
        if lacking:
            sentence = f'the skill "{skill.name}" names the tool "{tool.name}", which {lacking.label} may not use'
            problems.warn(at, f"{sentence}, and may read the skill", code="unusable-skill-tool", about=[tool.name])
    return problems.warnings


def _tools_named(skill: Skill, compiled: Compiled) -> Iterator[tuple[Tool, Place]]:
    """Yield the tools that a skill names, each with the first place."""
    uris = {each["uri"] for each in skill.entry["resources"]}
    resources = (each for each in compiled.bundle.resources if isinstance(each, FileResource))
    files = [each for each in resources if each.uri in uris]
    tools = skill.entry["frontmatter"].get("allowed-tools", "")  # that a skill asks its host to allow
    allowed = {*(re.split(r"[\s,]+", tools) if isinstance(tools, str) else tools)}
    for tool in compiled.bundle.tools:
        for name in (tool.name, *tool.options.aliases):
            found = next(((each, at) for each in files if (at := _place_in(each.text, name)) >= 0), None)
            if found is None and name not in allowed:
                continue
            file, offset = found or (files[0], 0)
            yield tool, _place(compiled.skill_places[file.uri], file.text, offset)
            break


def _place_in(text: str, name: str) -> int:
    """Return the place of a tool's name in a text; -1 if there is none."""
    if name not in text:  # most names are not, and this is much faster than the pattern
        return -1
    quoted = re.escape(name)
    alone = rf"`{quoted}[`(]" if WORD.fullmatch(name) else rf"(?<![\w.-]){quoted}(?![\w-]|\.\w)"
    found = re.search(rf"{alone}|(?<!\w){PREFIX}{quoted}(?![\w-])", text)
    return found.start() if found else -1


def _place(at: Place, text: str, offset: int) -> Place:
    if at.line or not text:
        return at  # in a file of another kind, such as a module in Python
    return Place(at.file, text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset))


def _readers(reach: Reach, skill: Skill, tool: Tool) -> Iterator[Visitor]:
    """Yield the callers of each combination of conditions who may read a skill."""
    bundle = reach.compiled.bundle
    callers = [(ANONYMOUS, "a caller without a credential")] if bundle.access.anonymous == "allow" else []
    if bundle.identity.exists:
        conditions = leaves_of(bundle.conditions, skill.mask | _conditions_of(tool, reach))
        traits = [predicate_trait(each, None) for each in conditions]
        for _, principal in CallerClasses(bundle, bundle, traits, most=MOST_READERS, unissued=True).tokens():
            claims = to_json_bytes(principal.claims).decode()
            words = f"a caller with the claims {claims}" if principal.claims else "a caller without claims"
            callers.append((principal, words))
        callers.append((Principal(kind="development", unrestricted=True), "any caller"))
    visitors = (reach.visitor_of(*each) for each in callers)
    return (each for each in visitors if each.evaluation.meets(skill.mask))


def _conditions_of(tool: Tool, reach: Reach) -> Mask:
    match tool:
        case PrescribedTool() | GraphQLTool():
            return tool.mask | tool.conditions
        case CompanionTool():
            return _conditions_of(reach.compiled.bundle.graphql_tool_of(tool), reach)
        case _:
            return getattr(tool, "mask", OPEN)
