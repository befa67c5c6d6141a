"""Read ``policies.test.yaml``: what callers of an endpoint are expected to have, and not to have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from handler.commands.local.callers import NOTATION, NamedCaller, read_caller
from handler.compiler.problems import Place, Problems
from handler.compiler.source.files import EndpointFiles, join
from handler.compiler.source.yaml_section import Section
from handler.compiler.source.yaml_tree import parse_yaml_list
from handler.errors.authoring import UnknownCaller
from handler.server.auth.principal import Principal
from handler.strict_json import JSONObject

KEYS = ("as", "sees", "not", "tools", "may", "may_not", "stages")
EXPECTING = ("sees", "not", "tools", "may", "may_not")
LISTS = ("sees", "not", "may", "may_not")

Named = tuple[str, Place]


@dataclass(frozen=True, slots=True, kw_only=True)
class Try:
    """A call of a tool, which is expected to be let through or refused."""

    tool: str
    arguments: JSONObject
    at: Place
    refused: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """One entry of the file: what one caller is expected to have."""

    caller: NamedCaller
    at: Place  # of the caller
    sees: Sequence[Named]
    misses: Sequence[Named]
    exactly: Sequence[Named] | None  # all tools that the caller may call; ``None`` if not given
    exactly_at: Place
    tries: Sequence[Try]


def read_expectations(folder: Path, file: str, problems: Problems, *, stage: str | None) -> list[Expectation]:
    """Read the entries for a stage. Files of claims are found from the folder of ``file``."""
    files = EndpointFiles(folder, problems)
    text = files.read(file)
    node = None if text is None else parse_yaml_list(text, file, problems, key="tests")
    top = Section(node, file=file, problems=problems, variables=None)
    found = []
    if text is not None and not top.has_items("tests") and not problems.any_errors:
        sentence = "it expects nothing: write an entry, as - {as: anonymous, tools: {exactly: []}}, or remove the file"
        problems.add(Place(file), sentence, code="unknown-expectation")
    for section in top.sections("tests"):
        section.expect(*KEYS)
        stages = list(_stages(section, files, file=file, problems=problems))
        if not stages or (stage or "") in stages:
            entry = _entry(section, problems, folder=(folder / file).parent)
            found += [entry] if entry else []
    return found


def _stages(section: Section, files: EndpointFiles, *, file: str, problems: Problems) -> Iterator[str]:
    """Yield the stages of an entry. An entry of a stage that does not exist would never be judged."""
    for name, at in section.texts("stages"):
        if name and not files.exists(join(file, f"config.{name}.yaml")):
            sentence = f'there is no stage "{name:.80}": config.{name:.80}.yaml does not exist'
            problems.add(at, sentence, code="unknown-expectation")
        yield name


def _entry(section: Section, problems: Problems, *, folder: Path) -> Expectation | None:
    caller = _caller(section, problems, folder=folder)
    if not any(key in section for key in EXPECTING):
        section.refuse("sees", f"one of {', '.join(EXPECTING)}: the entry expects nothing")
    for key in LISTS:
        if key in section and not section.has_items(key):
            section.refuse(key, "at least one: an empty list expects nothing")
    tools = section.section("tools")
    tools.expect("exactly")
    if "tools" in section and "exactly" not in tools:
        section.refuse("tools", "{exactly: […]}, with [] for a caller without tools")
    tries = [*_tries(section, "may", refused=False), *_tries(section, "may_not", refused=True)]
    if caller is None:
        return None
    return Expectation(
        caller=caller,
        at=section.place("as"),
        sees=section.texts("sees"),
        misses=section.texts("not"),
        exactly=tools.texts("exactly") if "exactly" in tools else None,
        exactly_at=tools.key_place("exactly"),
        tries=tries,
    )


def _caller(section: Section, problems: Problems, *, folder: Path) -> NamedCaller | None:
    if section.is_mapping("as"):
        given = section.section("as")
        given.expect("claims")
        principal = Principal(kind="token", name="claims", claims=given.json_object("claims"))
        return NamedCaller(text=f"the caller of line {section.place('as').line}", known=principal)
    text = section.text("as")
    if not text:
        section.refuse("as", f"{NOTATION}, or {{claims: {{…}}}}")
        return None
    try:
        return read_caller(text, folder=folder)
    except UnknownCaller as exc:
        problems.add(section.place("as"), str(exc), code="unknown-caller")
        return None


def _tries(section: Section, key: str, *, refused: bool) -> Iterator[Try]:
    for each in section.sections(key, short="tool"):
        each.expect("tool", "arguments")
        arguments = each.json_object("arguments") if "arguments" in each else {}
        yield Try(tool=each.text("tool"), arguments=arguments, at=each.place("tool"), refused=refused)
