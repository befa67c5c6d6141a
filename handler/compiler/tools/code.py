"""Toolkits in Python, imported at deploy time and frozen for the bundle, with the conditions on them."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import traceback
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import handler
from handler.bundle.content import CodePrompt, CodeResource
from handler.bundle.tools import CodeKit, CodeTool, ToolOptions
from handler.code_tools.content import PromptDefinition, ResourceDefinition
from handler.code_tools.definition import ToolDefinition
from handler.code_tools.loading import digest_of, load_kit, may_ask
from handler.code_tools.modules import is_among
from handler.code_tools.options import RegistrationOptions
from handler.code_tools.source_location import SourceLocation, place_of
from handler.code_tools.toolkit import Toolkit
from handler.code_tools.type_schemas import MISSING
from handler.compiler.access.code_access import AccessDefaults, required_auth_rule, rule_of
from handler.compiler.compile_context import CompileContext
from handler.compiler.config.config import KitUse
from handler.compiler.problems import Place, Problems, shown
from handler.compiler.tools.content import CompiledCode
from handler.compiler.tools.declaration import CompiledTool
from handler.compiler.tools.skills import CompiledSkill, code_skill
from handler.errors.authoring import ToolDefinitionError
from handler.errors.infrastructure import CodeUnavailable
from handler.policy.evaluation import Mask
from handler.strict_json import JSONObject, parse_json, to_json_bytes

Definition = ToolDefinition | PromptDefinition | ResourceDefinition


def read_code(context: CompileContext, grounds: AccessDefaults, *, modules: Sequence[str]) -> CompiledCode:
    """Import the toolkits and freeze their definitions. ``modules`` may be imported."""
    config, problems = context.config.code, context.problems
    rules = [rule_of(kit, grounds, problems) for kit in config.kits]
    toolkits = [import_kit(kit, modules=modules, problems=problems) for kit in config.kits]
    loaded = [
        _LoadedKit(config=kit, toolkit=toolkit, mask=rule.mask)
        for kit, rule, toolkit in zip(config.kits, rules, toolkits, strict=True)
        if toolkit is not None
    ]
    found = [frozen for kit in loaded for frozen in _freeze(kit, grounds, problems=problems)]
    _refuse_twice(found, problems)
    tools = [_made(each.made, each.at, view=each.view) for each in found if isinstance(each.made, CodeTool)]
    requiring = {each.made.name: each.at for each in found if isinstance(each.made, CodeTool) and each.requires_auth}
    return CompiledCode(
        modules=tuple(modules),
        kits=tuple(kit.frozen() for kit in loaded),
        rules=(*rules, *(required_auth_rule(name, at, grounds) for name, at in requiring.items())),
        tools=tuple(tools),
        prompts=tuple(each.made for each in found if isinstance(each.made, CodePrompt)),
        resources=tuple(each.made for each in found if isinstance(each.made, CodeResource)),
        asking={each.label: each.at for each in found if each.asks},
        requiring=requiring,
        skills=_skills(loaded, problems),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Frozen:
    """One frozen definition."""

    made: CodeTool | CodePrompt | CodeResource
    label: str
    at: Place
    asks: bool
    requires_auth: bool
    view: str  # of a tool


@dataclass(frozen=True, slots=True, kw_only=True)
class _LoadedKit:
    """A toolkit as imported, with its configuration and its mask."""

    config: KitUse
    toolkit: Toolkit
    mask: Mask

    def frozen(self) -> CodeKit:
        config, per_caller = self.config, self.toolkit.is_per_caller
        return CodeKit(
            use=config.use, per_caller=per_caller, hidden=config.hidden, category=config.category, mask=self.mask
        )


def _freeze(kit: _LoadedKit, grounds: AccessDefaults, *, problems: Problems) -> list[_Frozen]:
    """Freeze the definitions of a kit, with the configuration's overrides."""
    definitions: list[Definition] = []
    with reporting(kit.config, problems):
        laid_over = Toolkit()
        laid_over.add(kit.toolkit, **_overrides(kit.config))
        definitions = [*laid_over.tools, *laid_over.prompts, *laid_over.resources]
    found: list[_Frozen] = []
    for definition in definitions:
        written = place_of(definition.function, _label_of(definition))
        at = definition_place(written.file, written.line, kit.config.at)
        with reporting(kit.config, problems):
            needs = isinstance(definition, ToolDefinition) and definition.options.requires_auth
            whole = kit.mask | grounds.known() if needs else kit.mask
            made = _frozen(definition, _as_json(definition.entry, written), kit=kit.config.use, mask=whole)
            asks = may_ask(definition)
            view = definition.options.view if isinstance(definition, ToolDefinition) else ""
            frozen = _Frozen(made=made, label=written.label, at=at, asks=asks, requires_auth=needs, view=view)
            found.append(frozen)
    return found


def _skills(kits: Sequence[_LoadedKit], problems: Problems) -> tuple[CompiledSkill, ...]:
    """Freeze the skills of toolkits, which have the toolkits' masks."""
    found: dict[str, CompiledSkill] = {}
    for kit in kits:
        for definition in kit.toolkit.skills:
            skill = code_skill(definition.files, at=kit.config.at, mask=kit.mask, problems=problems)
            if skill and found.setdefault(skill.skill.name, skill) is not skill:
                sentence = f'"{kit.config.use}": a toolkit has a skill named "{skill.skill.name}" already'
                problems.add(kit.config.at, sentence, code="duplicate-skill")
    return tuple(found.values())


def _overrides(kit: KitUse) -> RegistrationOptions:
    overrides: RegistrationOptions = {"category": kit.category} if kit.category else {}
    return overrides if kit.hidden is None else {**overrides, "hidden": kit.hidden}


def _label_of(definition: Definition) -> str:
    match definition:
        case ToolDefinition():
            return f"tool {definition.name}"
        case PromptDefinition():
            return f"prompt {definition.name}"
        case ResourceDefinition():
            return f"resource {definition.uri}"


def _as_json(entry: JSONObject, place: SourceLocation) -> JSONObject:
    """Copy a list entry as plain JSON."""
    try:
        plain: JSONObject = parse_json(to_json_bytes(entry))
    except (ValueError, TypeError, RecursionError) as exc:
        place.refuse(f"its list entry is not valid JSON: {exc}", cause=exc)
    return plain


def _frozen(definition: Definition, entry: JSONObject, *, kit: str, mask: Mask) -> CodeTool | CodePrompt | CodeResource:
    digest = digest_of(definition)
    match definition:
        case ToolDefinition(name=name):
            options = _options(definition)
            return CodeTool(name=name, entry=entry, kit=kit, digest=digest, mask=mask, options=options)
        case PromptDefinition(name=name, hidden=hidden):
            values = definition.completions
            return CodePrompt(
                name=name, entry=entry, kit=kit, digest=digest, mask=mask, hidden=hidden, completions=values
            )
        case ResourceDefinition(hidden=hidden):
            return CodeResource(entry=entry, kit=kit, digest=digest, mask=mask, hidden=hidden)


def _options(tool: ToolDefinition) -> ToolOptions:
    return ToolOptions(
        hidden=tool.options.hidden,
        pinned=tool.options.pinned,
        aliases=tool.options.aliases,
        scopes=tool.options.scopes,
        output="both",
        confirm="",
        meta={},  # the library adds the version to a tool's result
    )


def _made(tool: CodeTool, at: Place, *, view: str) -> CompiledTool:
    return CompiledTool(at=at, tool=tool, uses=(), runs=tool.kit, types=0, reads=False, writes=False, view=view)


def _refuse_twice(found: Iterable[_Frozen], problems: Problems) -> None:
    """Report duplicate prompt names and resource URIs. ``judge_tools`` checks the names of tools."""
    first: dict[str, Place] = {}
    for each in found:
        if not isinstance(each.made, CodeTool) and first.setdefault(each.label, each.at) is not each.at:
            problems.add(
                each.at,
                f"{each.label}: also defined at {shown(first[each.label])}",
                code="duplicate-definition",
            )


STDOUT, STDERR = 1, 2

OWN_PACKAGES = ("handler", "stile")
FASTMCP = ("fastmcp", "mcp.server.fastmcp", "mcp")
"""Modules that files for FastMCP import."""


def import_kit(kit: KitUse, *, modules: Sequence[str], problems: Problems) -> Toolkit | None:
    """Import a toolkit; ``None`` after reporting an error. ``modules`` may be imported."""
    if not is_among(kit.module, modules):
        set_it = f"set STILE_CODE_MODULES={','.join([*modules, kit.module])} here and where the function runs"
        problems.add(
            kit.at,
            f'"{kit.use}": modules are imported only if STILE_CODE_MODULES names them: {set_it}',
            code="module-not-allowed",
        )
        return None
    with reporting(kit, problems), importing():
        return load_kit(kit.use, modules=modules)
    return None


@contextmanager
def reporting(kit: KitUse, problems: Problems) -> Iterator[None]:
    """Report every exception of the author's code in the block, and redirect its output to stderr."""
    try:
        with _printing_to_stderr():
            yield
    except CodeUnavailable as exc:
        problems.add(kit.at, f'"{kit.use}": {exc.reason}', code="module-unavailable")
    except ToolDefinitionError as exc:
        problems.add(
            definition_place(exc.file, exc.line, kit.at), f"{exc.label}: {exc.sentence}", code="invalid-tool-definition"
        )
    except KeyboardInterrupt:
        raise
    except BaseException as exc:  # noqa: BLE001 - the edge of an author's module: sys.exit must not end the command
        problems.add(_place_in(exc, kit), f'"{kit.use}": {_sentence(exc)}', code="module-failed")


@contextmanager
def importing() -> Iterator[None]:
    """Import current files. No bytecode is written: it would seem fresh if a file changes within a second."""
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.dont_write_bytecode = before


def definition_place(file: str, line: int, otherwise: Place) -> Place:
    """Return the place of a definition; ``otherwise`` if its file or line is unknown."""
    return Place(file, line, 1) if line and Path(file).is_absolute() else otherwise


@contextmanager
def _printing_to_stderr() -> Iterator[None]:
    """Redirect stdout to stderr, also for child processes: stdout has this command's own output."""
    sys.stdout.flush()
    kept = os.dup(STDOUT)
    os.dup2(STDERR, STDOUT)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(kept, STDOUT)
        os.close(kept)


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
    match exc:
        case SystemExit():
            return "its module calls sys.exit while it is imported"
        case ModuleNotFoundError(name="pydantic"):
            return MISSING
    return f"its code raised {traceback.format_exception_only(exc)[-1].strip()}{_remedy(exc)}"


def _remedy(exc: BaseException) -> str:
    """Return the way to mend a failed import, as the end of a sentence; an empty string if it is not known."""
    name = exc.name if isinstance(exc, ImportError) and exc.name else ""
    package = name.partition(".")[0]
    if name.partition(".")[0] in FASTMCP or name in FASTMCP:
        return "; write `from stile import Toolkit` instead, as docs/from-fastmcp.md shows"
    own = _namesake(package) if package in OWN_PACKAGES else ""
    return (
        f"; {own} has the name of a package of Stile, so that one of them hides the other: rename {own}" if own else ""
    )


def _namesake(package: str) -> str:
    """Return the author's file or folder with the name of a package of Stile; an empty string if there is none."""
    ours = Path(handler.__file__).parents[1]
    beside = [Path(path) / each for path in (*sys.path, ".") for each in (f"{package}.py", f"{package}/__init__.py")]
    found = [path for path in beside if path.is_file() and not path.resolve().is_relative_to(ours / package)]
    return found[0].as_posix() if found else ""
