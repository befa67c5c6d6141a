"""The differences of prompts, resources, instructions and persisted documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from handler.audience.predicate_text import mask_in_words
from handler.bundle.content import Prompt, Resource, Skill, TextPrompt
from handler.bundle.model import Bundle
from handler.bundle.operations import PersistedDocument
from handler.bundle.tools import PrescribedTool
from handler.commands.changes.argument_changes import prompt_argument_changes, prompt_value_changes, variable_changes
from handler.commands.changes.change import Change
from handler.policy.evaluation import OPEN, Mask
from handler.policy.predicates import Predicate

Content = Prompt | Resource | Skill


def content_changes(before: Bundle, after: Bundle) -> Iterator[Change]:
    """Yield the differences of what an endpoint has beside tools."""
    old, new = contents_of(before), contents_of(after)
    for name in [name for name in new if name not in old]:
        yield Change(code="content-added", about=name, sentence=f"{name} is new")
    for name, each in old.items():
        if name not in new:
            yield Change(code="content-removed", about=name, sentence=f"{name} is gone")
        else:
            yield from _of_content(name, each, new[name], conditions=(before.conditions, after.conditions))
    if before.instructions != after.instructions:
        yield Change(code="content-changed", about="instructions", sentence="the instructions are others")
    yield from _documents(before, after)


def contents_of(bundle: Bundle) -> dict[str, Content]:
    """Return the prompts, resources and skills by their kind and name. The files of skills are part of skills."""
    prompts: dict[str, Content] = {f"prompt {prompt.name}": prompt for prompt in bundle.prompts}
    skills: dict[str, Content] = {f"skill {skill.name}": skill for skill in bundle.skills}
    uris = (str(each.entry.get("uri") or each.entry["uriTemplate"]) for each in bundle.resources)
    resources = {f"resource {uri}": each for uri, each in zip(uris, bundle.resources, strict=True)}
    of_skills = {f"resource {file['uri']}" for skill in bundle.skills for file in skill.entry["resources"]}
    return prompts | {name: each for name, each in resources.items() if name not in of_skills} | skills


def _of_content(
    name: str, old: Content, new: Content, *, conditions: tuple[tuple[Predicate, ...], tuple[Predicate, ...]]
) -> Iterator[Change]:
    if conditions_of(old.mask, conditions[0]) != conditions_of(new.mask, conditions[1]):
        yield content_opened(name, (old.mask, new.mask), conditions)
    if name.startswith("prompt "):
        yield from prompt_argument_changes(old.entry.get("arguments"), new.entry.get("arguments"), about=name)
    if isinstance(old, TextPrompt) and isinstance(new, TextPrompt):  # a function may take other values than it offers
        both = {each["name"] for each in old.entry.get("arguments", ())} & {
            each["name"] for each in new.entry.get("arguments", ())
        }
        was, now = ({key: of.completions[key] for key in of.completions if key in both} for of in (old, new))
        yield from prompt_value_changes(was, now, about=name)
    if replace(old, mask=OPEN) != replace(new, mask=OPEN):
        yield Change(code="content-changed", about=name, sentence=f"{name} is another{_parts(old, new)}")


def _parts(old: Content, new: Content) -> str:
    """Return the members of a page's ``_meta.ui`` that differ, such as the origins that it may ask, in words."""
    was, now = ((each.entry.get("_meta") or {}).get("ui") or {} for each in (old, new))
    found = [str(key) for key in {**was, **now} if was.get(key) != now.get(key)]
    return f", with other {', '.join(found)}" if found else ""


def content_opened(
    name: str, masks: tuple[Mask, Mask], conditions: tuple[tuple[Predicate, ...], tuple[Predicate, ...]]
) -> Change:
    """Return the difference of a content's callers, with the conditions of both versions."""
    was, now = (mask_in_words(mask, some) for mask, some in zip(masks, conditions, strict=True))
    return Change(code="content-opened", about=name, sentence=f"{name} is for other callers: {now}, before: {was}")


def conditions_of(mask: Mask, conditions: tuple[Predicate, ...]) -> list[str]:
    """Return the conditions of a mask in a form that both versions have."""
    return sorted(str(conditions[number]) for number in mask)


def _documents(before: Bundle, after: Bundle) -> Iterator[Change]:
    old, new = (_names(bundle) for bundle in (before, after))
    modes = ("off", "persisted", "on")
    was, now = before.graphql.mode, after.graphql.mode
    if was != now:
        code = "route-opened" if modes.index(now) > modes.index(was) else "route-closed"
        yield Change(code=code, about="graphql", sentence=f"graphql is {now}, and was {was}")
    yield from _inputs_of_documents(before, after)
    added, removed = [each for each in new if each not in old], [each for each in old if each not in new]
    for id_ in removed:
        successor = next((each for each in added if {*new[each]} >= {*old[id_]}), "")
        if successor:
            added.remove(successor)
            sentence = f"the persisted document of {', '.join(old[id_])} is {successor}, and was {id_}"
            yield Change(code="document-replaced", about=", ".join(old[id_]), sentence=sentence)
        else:
            sentence = f"the persisted document of {', '.join(old[id_])} is gone: {id_}"
            yield Change(code="document-removed", about=", ".join(old[id_]), sentence=sentence)
    for id_ in added:
        names = ", ".join(new[id_])
        yield Change(code="document-added", about=names, sentence=f"the persisted document of {names} is new: {id_}")


def _inputs_of_documents(before: Bundle, after: Bundle) -> Iterator[Change]:
    """Yield the differences of variables in documents of one id: their types are the schema's."""
    old = {
        (document.id, each.operation.name): each
        for document in before.graphql.documents
        for each in document.operations
    }
    for document in after.graphql.documents:
        for each in document.operations:
            known = old.get((document.id, each.operation.name))
            if known:
                name = each.operation.name or document.id
                yield from variable_changes(known.variables, each.variables, about=f"/graphql {name}")


def _names(bundle: Bundle) -> Mapping[str, list[str]]:
    """Return the id of each persisted document -> the names of its operations."""
    return {
        each.id: sorted([*(of.operation.name or "anonymous" for of in each.operations), *_run_by(each, bundle)])
        for each in bundle.graphql.documents
    }


def _run_by(document: PersistedDocument, bundle: Bundle) -> list[str]:
    """Return the names of the operations that a document's tools run."""
    tools = {tool.name: tool for tool in bundle.tools if isinstance(tool, PrescribedTool)}
    return [tools[name].operation.name for name in document.tools if name in tools]
