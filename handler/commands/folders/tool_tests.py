"""The calls of ``tools.test.yaml``, and what their answers are expected to hold."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from handler.audience.reach import Reach
from handler.commands.folders.policy_tests import arguments_misfit, entry_caller, read_entries
from handler.commands.folders.recording import RECORDING, Recording, read_recording
from handler.commands.local.call_arguments import json_or_text
from handler.commands.local.callers import NOTATION, NamedCaller
from handler.compiler.compile import Compiled
from handler.compiler.problems import Place, Problems
from handler.compiler.source.files import TOOL_TESTS, EndpointFiles
from handler.compiler.source.yaml_section import Section
from handler.errors.authoring import UnknownCaller
from handler.json_schema.checker import Checker
from handler.strict_json import JSONObject
from handler.text.sentences import did_you_mean

KEYS = ("tool", "as", "arguments", "agrees", "holds", "fails", "stages")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolTest:
    """One call, and its expected answer."""

    tool: str
    caller: NamedCaller
    arguments: JSONObject
    agrees: bool  # to a question for consent
    holds: JSONObject | str  # a part of the answer: of its JSON, or of its text
    fails: str  # a part of the error, refusal or question that comes instead; empty: an answer comes
    at: Place  # of the expectation

    def misses(self, result: JSONObject) -> list[str]:
        """Return a sentence for each difference of a result from the expected one."""
        asked = [each.get("params", {}).get("message", "") for each in result.get("inputRequests", {}).values()]
        text = "\n".join(asked or [block.get("text", "") for block in result.get("content", [])])
        came = "it fails" if result.get("isError") else "it is answered" if "content" in result else "the tool asks"
        part, is_met = self.fails or self.holds, bool(self.fails) is (came != "it is answered")
        if is_met and isinstance(part, dict):
            violations = Checker(schema_of_part(part)).violations(result.get("structuredContent", json_or_text(text)))
            return [f"{violation}; it is answered: {text:.300}" for violation in violations]
        return [] if is_met and str(part) in text else [f"expected {json.dumps(part):.200}, but {came}: {text:.300}"]


def schema_of_part(part: Any) -> JSONObject:
    """Return the schema of the JSON values that have a part.

    An object has an object with some of its members, and a list a list with as many items, in the same order.
    """
    match part:
        case dict():
            members = {name: schema_of_part(value) for name, value in part.items()}
            return {"type": "object", "properties": members, "required": [*part]}
        case list():
            items = [schema_of_part(value) for value in part]
            return {"type": "array", "prefixItems": items, "minItems": len(part), "maxItems": len(part)}
        case _:
            return {"const": part}


def read_tool_tests(
    folder: Path, compiled: Compiled, problems: Problems, *, stage: str | None, recorded: bool = True
) -> tuple[list[ToolTest], Recording]:
    """Read the tests of an endpoint for a stage, and the recording if it is ``recorded``. Nothing is sent."""
    root, files, reach = compiled.env_file.parent, EndpointFiles(folder, problems), Reach(compiled, None)
    file, recording = ((root / name).relative_to(folder).as_posix() for name in (TOOL_TESTS, RECORDING))
    sections = read_entries(files, file, problems, stage=stage, keys=KEYS)
    tests = [test for section in sections if (test := _read_test(section, problems, reach, folder=root))]
    return tests, read_recording(files, recording, problems) if recorded and files.is_read(file) else {}


def _read_test(section: Section, problems: Problems, reach: Reach, *, folder: Path) -> ToolTest | None:
    if section.is_mapping("as") or "as" not in section:  # a recording names callers and has no claims
        section.refuse("as", NOTATION)
        return None
    caller, has_json = entry_caller(section, problems, folder=folder), section.is_mapping("holds")
    if caller is None:
        return None
    expectation = "fails" if "fails" in section else "holds"
    test = ToolTest(
        tool=section.text("tool"),
        caller=caller,
        arguments=section.json_object("arguments") if "arguments" in section else {},
        agrees=section.boolean("agrees", default=False),
        holds=section.json_object("holds") if has_json else section.text("holds"),
        fails=section.text("fails"),
        at=section.place(expectation),
    )
    if bool(test.fails) is bool(test.holds):
        section.refuse(expectation, "either holds, with a part of the answer, or fails, with a part of the error")
    tool, bundle = reach.endpoint.tools.get(test.tool), reach.compiled.bundle
    try:
        caller.principal(bundle)
    except UnknownCaller as exc:
        problems.add(section.place("as"), str(exc), code="unknown-caller")
    if tool and not test.fails and (misfit := arguments_misfit(reach, tool, test.arguments)):
        at = section.place("arguments" if "arguments" in section else "tool")
        problems.add(at, f"the arguments do not fit: {misfit}", code="unknown-expectation")
    if tool is None and not any(kit.per_caller for kit in bundle.code):
        sentence = f'there is no tool "{test.tool:.80}"{did_you_mean(test.tool, reach.endpoint.tools)}'
        problems.add(section.place("tool"), sentence, code="unknown-expectation")
    return test
