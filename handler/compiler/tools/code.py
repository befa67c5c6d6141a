"""Toolkits in Python, imported at deploy time and frozen for the bundle, with the conditions on them."""

from __future__ import annotations

import contextlib
import dis
import importlib
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import handler
from handler.bundle.content import CodePrompt, CodeResource
from handler.bundle.tools import CodeKit, CodeTool, ToolOptions
from handler.code_tools.content import PromptDefinition, ResourceDefinition
from handler.code_tools.context import Context, lacking
from handler.code_tools.definition import ToolDefinition
from handler.code_tools.loading import digest_of, load_kit, may_ask
from handler.code_tools.modules import is_among
from handler.code_tools.options import RegistrationOptions
from handler.code_tools.signature import is_context, resolve_hints
from handler.code_tools.source_location import plain_function, source_location
from handler.code_tools.toolkit import Toolkit
from handler.code_tools.type_schemas import MISSING
from handler.compiler.access.policies import AccessDefaults, required_auth_rule, rule_of
from handler.compiler.compile_context import CompileContext
from handler.compiler.config.config import KitUse
from handler.compiler.problems import Place, Problems, place_text
from handler.compiler.tools.content import CompiledCode
from handler.compiler.tools.declaration import CompiledTool
from handler.compiler.tools.fastmcp_imports import PACKAGES, fastmcp_imports, unknown_options
from handler.compiler.tools.skills import CompiledSkill, code_skill
from handler.errors.authoring import ToolDefinitionError
from handler.errors.infrastructure import CodeUnavailable
from handler.policy.evaluation import Mask
from handler.strict_json import JSONObject, parse_json, to_json_bytes
from handler.text.sentences import did_you_mean

STDOUT, STDERR = 1, 2

OWN_PACKAGES = ("handler", "stile")

Definition = ToolDefinition | PromptDefinition | ResourceDefinition


def read_code(context: CompileContext, grounds: AccessDefaults, *, modules: Sequence[str]) -> CompiledCode:
    """Import the toolkits and freeze their definitions. ``modules`` may be imported."""
    kits, problems = context.config.code.kits, context.problems
    rules = [rule_of(kit, grounds, problems) for kit in kits]
    imports = fastmcp_imports(modules) if kits else []
    reported: set[Place] = set()
    toolkits = [_import_kit(kit, imports, modules=modules, problems=problems, reported=reported) for kit in kits]
    for at, sentence, missing in imports:
        if missing and at not in reported:  # in a function, or in a try
            problems.warn(at, sentence, code="unknown-context-member")
    loaded = [
        (kit, toolkit, rule.mask)
        for kit, toolkit, rule in zip(kits, toolkits, rules, strict=True)
        if toolkit is not None
    ]
    parts: list[_Frozen] = []
    skills: dict[str, CompiledSkill] = {}
    for kit, toolkit, mask in loaded:
        parts += _freeze(kit, toolkit, mask, grounds, problems)
        for files in toolkit.skills:
            skill = code_skill(files, at=kit.at, mask=mask, problems=problems)
            if skill and skills.setdefault(skill.skill.name, skill) is not skill:
                sentence = f'"{kit.use}": a toolkit has a skill named "{skill.skill.name}" already'
                problems.add(kit.at, sentence, code="duplicate-skill")
    first: dict[str, Place] = {}
    for part in parts:  # judge_tools checks the names of tools
        if not isinstance(part.entity, CodeTool) and first.setdefault(part.label, part.at) is not part.at:
            sentence = f"{part.label}: also defined at {place_text(first[part.label])}"
            problems.add(part.at, sentence, code="duplicate-definition")
    tools = [(part, part.entity) for part in parts if isinstance(part.entity, CodeTool)]
    requiring = {tool.name: part.at for part, tool in tools if part.requires_auth}
    return CompiledCode(
        modules=tuple(modules),
        kits=tuple(
            CodeKit(use=kit.use, per_caller=toolkit.is_per_caller, hidden=kit.hidden, category=kit.category, mask=mask)
            for kit, toolkit, mask in loaded
        ),
        rules=(*rules, *(required_auth_rule(name, at, grounds) for name, at in requiring.items())),
        tools=tuple(CompiledTool(at=part.at, tool=tool, runs=tool.kit, view=part.view) for part, tool in tools),
        prompts=tuple(part.entity for part in parts if isinstance(part.entity, CodePrompt)),
        resources=tuple(part.entity for part in parts if isinstance(part.entity, CodeResource)),
        asking={part.label: part.at for part in parts if part.asks},
        requiring=requiring,
        skills=tuple(skills.values()),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Frozen:
    """One frozen definition."""

    entity: CodeTool | CodePrompt | CodeResource
    label: str
    at: Place
    asks: bool
    requires_auth: bool
    view: str  # of a tool


def _freeze(kit: KitUse, toolkit: Toolkit, mask: Mask, grounds: AccessDefaults, problems: Problems) -> list[_Frozen]:
    """Freeze the definitions of a kit, with the configuration's overrides."""
    overrides: RegistrationOptions = {"category": kit.category} if kit.category else {}
    if kit.hidden is not None:
        overrides["hidden"] = kit.hidden
    definitions: list[Definition] = []
    with _reporting(kit, problems):
        laid_over = Toolkit()
        laid_over.add(toolkit, **overrides)
        definitions = [*laid_over.tools, *laid_over.prompts, *laid_over.resources]
    frozen: list[_Frozen] = []
    lacked: set[tuple[Place, str]] = set()
    if not (definitions or toolkit.providers or toolkit.skills):
        name = kit.use.rpartition(":")[2]
        sentence = f'"{kit.use}": the toolkit has no tools: @{name}.tool before a function makes it a tool'
        problems.warn(kit.at, sentence, code="empty-toolkit")
    for definition in definitions:
        place = source_location(definition.function, _label_of(definition))
        for file, line, member in _unknown_members(definition.function):
            at = _definition_place(file, line, kit.at)
            if (at, member) not in lacked:  # a function that several tools name
                lacked.add((at, member))
                problems.warn(at, f"{place.label}: {lacking(member)}", code="unknown-context-member")
        options = definition.options if isinstance(definition, ToolDefinition) else None
        requires_auth = bool(options and options.requires_auth)
        with _reporting(kit, problems):
            try:
                entry = parse_json(to_json_bytes(definition.entry))
            except (ValueError, TypeError, RecursionError) as exc:
                place.refuse(f"its list entry is not valid JSON: {exc}", cause=exc)
            whole = mask | grounds.known() if requires_auth else mask
            frozen.append(
                _Frozen(
                    entity=_entity(definition, entry, kit=kit.use, mask=whole),
                    label=place.label,
                    at=_definition_place(place.file, place.line, kit.at),
                    asks=may_ask(definition),
                    requires_auth=requires_auth,
                    view=options.view if options else "",
                )
            )
    return frozen


def _unknown_members(function: Callable[..., Any]) -> Iterator[tuple[str, int, str]]:
    """Yield the file, line and name of each member of the context that a function uses and ``Context`` lacks.

    The functions that it names and gives the context to, by a hint or the name of a parameter, are searched, too.
    """
    known = {*dir(Context), *Context.__dataclass_fields__}
    functions, contexts = [plain_function(function)], set[str]()
    for plain in functions:
        if not isinstance(plain, FunctionType):
            continue
        hints, codes = resolve_hints(plain, {}, None), [plain.__code__]
        parameters = codes[0].co_varnames[: codes[0].co_argcount + codes[0].co_kwonlyargcount]
        own = {each for each in parameters if (is_context(hints[each]) if each in hints else each in contexts)}
        contexts |= own
        for code in codes if own else ():
            codes += [each for each in code.co_consts if isinstance(each, CodeType)]
            named = [plain.__globals__.get(name) for name in code.co_names]
            functions += [each for each in named if isinstance(each, FunctionType) and each not in functions]
            for before, each in pairwise(dis.get_instructions(code)):
                loaded = before.argval[-1] if before.argval and isinstance(before.argval, tuple) else before.argval
                if loaded in own and each.opname in ("LOAD_ATTR", "LOAD_METHOD") and each.argval not in known:
                    line = (each.positions.lineno if each.positions else 0) or code.co_firstlineno
                    yield code.co_filename, line, each.argval


def _label_of(definition: Definition) -> str:
    match definition:
        case ToolDefinition():
            return f"tool {definition.name}"
        case PromptDefinition():
            return f"prompt {definition.name}"
        case ResourceDefinition():
            return f"resource {definition.uri}"


def _entity(definition: Definition, entry: JSONObject, *, kit: str, mask: Mask) -> CodeTool | CodePrompt | CodeResource:
    digest = digest_of(definition)
    match definition:
        case ToolDefinition(name=name, options=own):
            options = ToolOptions(
                hidden=own.hidden,
                pinned=own.pinned,
                aliases=own.aliases,
                scopes=own.scopes,
                output="both",
                confirm="",
                meta={},  # the library adds the version to a tool's result
            )
            return CodeTool(name=name, entry=entry, kit=kit, digest=digest, mask=mask, options=options)
        case PromptDefinition(name=name, hidden=hidden):
            values = definition.completions
            return CodePrompt(
                name=name, entry=entry, kit=kit, digest=digest, mask=mask, hidden=hidden, completions=values
            )
        case ResourceDefinition(hidden=hidden):
            return CodeResource(entry=entry, kit=kit, digest=digest, mask=mask, hidden=hidden)


def _import_kit(
    kit: KitUse,
    imports: Sequence[tuple[Place, str, bool]],
    *,
    modules: Sequence[str],
    problems: Problems,
    reported: set[Place],
) -> Toolkit | None:
    """Import the current files of a toolkit; ``None`` after reporting an error. ``modules`` may be imported.

    A missing import of FastMCP reports all ``imports`` of it, and an unknown option those of all functions, once each.
    """
    if not is_among(kit.module, modules):
        remedy = f"set STILE_CODE_MODULES={','.join([*modules, kit.module])} here and where the function runs"
        sentence = f'"{kit.use}": modules are imported only if STILE_CODE_MODULES names them: {remedy}'
        sentence += did_you_mean(kit.module, modules)
        problems.add(kit.at, sentence, code="module-not-allowed")
        return None
    # No bytecode is written: it would seem fresh if a file changes within a second.
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    importlib.invalidate_caches()
    try:
        with _reporting(kit, problems):
            try:
                return load_kit(kit.use, modules=modules)
            except (ModuleNotFoundError, ToolDefinitionError) as exc:
                if isinstance(exc, ToolDefinitionError):
                    code, found = "invalid-tool-definition", unknown_options(modules, exc.sentence)
                else:
                    of_fastmcp = is_among(exc.name or "", PACKAGES)
                    code, found = "module-failed", [each[:2] for each in imports if of_fastmcp]
                if not found:
                    raise
                for at, sentence in found:
                    if at not in reported:
                        problems.add(at, sentence, code=code)
                reported.update(at for at, _ in found)
    finally:
        sys.dont_write_bytecode = before
    return None


@contextmanager
def _reporting(kit: KitUse, problems: Problems) -> Iterator[None]:
    """Report every exception of the author's code in the block, and redirect its output to stderr."""
    try:
        with _printing_to_stderr():
            yield
    except CodeUnavailable as exc:
        problems.add(kit.at, f'"{kit.use}": {exc.reason}', code="module-unavailable")
    except ToolDefinitionError as exc:
        at = _definition_place(exc.file, exc.line, kit.at)
        problems.add(at, f"{exc.label}: {exc.sentence}", code="invalid-tool-definition")
    except KeyboardInterrupt:
        raise
    except BaseException as exc:  # noqa: BLE001 - the edge of an author's module: sys.exit must not end the command
        problems.add(_place_in(exc, kit), f'"{kit.use}": {_sentence(exc)}', code="module-failed")


@contextmanager
def _printing_to_stderr() -> Iterator[None]:
    """Redirect stdout to stderr, also for child processes: stdout has this command's own output."""
    sys.stdout.flush()
    own_stdout = os.dup(STDOUT)
    os.dup2(STDERR, STDOUT)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(own_stdout, STDOUT)
        os.close(own_stdout)


def _definition_place(file: str, line: int, otherwise: Place) -> Place:
    """Return the place of a definition; ``otherwise`` if its file or line is unknown."""
    return Place(file, line, 1) if line and Path(file).is_absolute() else otherwise


def _place_in(exc: BaseException, kit: KitUse) -> Place:
    """Return the innermost line of the author's package in a traceback; the kit's place if there is none."""
    if isinstance(exc, SyntaxError) and exc.filename and exc.lineno:
        return Place(exc.filename, exc.lineno, exc.offset or 1)
    package = kit.module.partition(".")[0]
    frames = [
        (frame, line)
        for frame, line in traceback.walk_tb(exc.__traceback__)
        if is_among(str(frame.f_globals.get("__name__")), [package])
    ]
    return Place(frames[-1][0].f_code.co_filename, frames[-1][1], 1) if frames else kit.at


def _sentence(exc: BaseException) -> str:
    if isinstance(exc, SystemExit):
        return "its module calls sys.exit while it is imported"
    name = exc.name or "" if isinstance(exc, ImportError) else ""
    if isinstance(exc, ModuleNotFoundError) and name == "pydantic":
        return MISSING
    package, remedy = name.partition(".")[0], ""
    if package in OWN_PACKAGES and (own := _namesake(package)):
        remedy = f"; {own} has the name of a package of Stile, so that one of them hides the other: rename {own}"
    elif isinstance(exc, AttributeError) and isinstance(exc.obj, Toolkit):
        remedy = "; docs/from-fastmcp.md has what to write in its place"
    return f"its code raised {traceback.format_exception_only(exc)[-1].strip()}{remedy}"


def _namesake(package: str) -> str:
    """Return the author's file or folder with the name of a package of Stile; an empty string if there is none."""
    ours = Path(handler.__file__).parents[1]
    paths = [Path(path) / each for path in (*sys.path, ".") for each in (f"{package}.py", f"{package}/__init__.py")]
    others = (path for path in paths if path.is_file() and not path.resolve().is_relative_to(ours / package))
    return next((path.as_posix() for path in others), "")
