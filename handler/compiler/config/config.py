"""Read ``config.yaml``, with a stage's file laid over it: its sections that have no module of their own.

An endpoint without its ``config.yaml`` has no policies, no ``access.hide`` and no identity: `stile dev` would show
everything. So a file that only seems to be ``config.yaml`` is an error if ``config.yaml`` is missing. Beside a
``config.yaml`` such a file is a warning, because another program may read it. So is a file that only seems to have the
tests of policies or the questions: its expectations would never be judged.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType

import yaml

from handler.bundle.server_identity import MAX_ICON_BYTES, made_icon
from handler.bundle.tools import Limits
from handler.bundle.upstream import Upstream
from handler.compiler.codes import CHANGE_CODES, CODES
from handler.compiler.config.foreign import warn_of_foreign_keys
from handler.compiler.config.table import (
    ADOPTED,
    DOCUMENT_LIMITS,
    KEYS,
    MAX_WORDS,
    STEPZEN_IGNORED,
    UNLISTED,
)
from handler.compiler.config.upstream import read_upstream
from handler.compiler.config.values import is_toolkit
from handler.compiler.problems import Place, Problems, place_text
from handler.compiler.source.files import CONFIG, ENV_FILE, QUESTIONS, TESTS, EndpointFiles, Variables, join
from handler.compiler.source.yaml_section import Section
from handler.compiler.source.yaml_tree import overlay, parse_yaml
from handler.errors.authoring import Problem
from handler.search.words import STOP_WORDS, split
from handler.strict_json import JSONObject
from handler.text.sentences import did_you_mean, some

STAGE_FILE = re.compile(r"config\.(.+)\.yaml")
"""A file that ``--stage`` lays over ``config.yaml``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The values of ``config.yaml``, with the stage's file laid over it."""

    upstream: Upstream
    url_at: Place  # of upstream
    auth_at: Place  # of upstream
    limits: Limits
    list_sizes: Section  # of limits: coordinates of fields
    continues: bool  # limits.continue: callers can continue answers that were cut
    schemas: SchemaLimits  # of limits
    list_budget: int  # of limits: tokens of a caller's list of tools; 0: those of a page
    access: Section
    identity: tuple[Section, ...]  # one, or a list with one for each issuer
    identity_in_deployment: bool  # ``identity`` is below ``deployment``, as in StepZen
    scalars: Section
    adopted: frozenset[str]  # kinds of operations that become tools without a directive
    tools_at: Place
    other_server: str  # whose settings the file has; empty if it has those of Stile alone
    default_tool: bool | None  # an endpoint without declared tools gets one; ``None`` if not given
    graphql: str  # off, persisted or on; empty if not given
    graphql_at: Place
    instructions: str
    server: JSONObject  # members of ``serverInfo``
    listed: bool  # a public Server Card shows them
    software: bool  # introductions name Stile
    resources: Section
    skills: Section
    ui: Section  # pages that hosts show in the chat
    code: CodeConfig
    catalog: CatalogUse | None
    log: Section  # facts of calls that the log has in addition
    synonyms: Mapping[str, tuple[str, ...]]  # words of questions, and the words that each finds beside itself
    ignores: tuple[Ignore, ...]  # warnings that the author has judged
    ignored_changes: tuple[Ignore, ...]  # differences from the version before that the author has judged


def read_config(
    files: EndpointFiles,
    problems: Problems,
    *,
    stage: str | None,
    root: str = ".",
    environ: Mapping[str, str] = MappingProxyType({}),
) -> Config:
    """Read ``config.yaml`` below ``root`` and, with a stage, ``config.STAGE.yaml`` over it.

    A value that is the name of a ``STEPZEN_`` variable is replaced by the variable's value.
    """
    file = join(f"{root}/", CONFIG)
    variables = Variables(environ, files, join(file, ENV_FILE))
    report_misnamed(files, file, problems)
    top = Section(
        _top(files, file, problems, stage=stage), file=file, problems=problems, variables=variables, keys=KEYS
    )
    for key in top.accept(*STEPZEN_IGNORED):
        sentence = f'"{key}" {STEPZEN_IGNORED[key]}: it is ignored here'
        problems.warn(top.key_place(key), sentence, code="ignored-section", about=[key])
    other_server = warn_of_foreign_keys(top, problems, own=KEYS)
    top.expect_table()
    limits, upstream = top.section("limits"), top.section("upstream")
    return Config(
        upstream=read_upstream(upstream, problems),
        url_at=upstream.place("url"),
        auth_at=upstream.place("auth"),
        limits=Limits(**{name: limits.integer(name) for name in DOCUMENT_LIMITS}),
        list_sizes=limits.section("list_sizes"),
        continues=limits.boolean("continue"),
        schemas=SchemaLimits(
            max_schema_bytes=limits.integer("max_schema_bytes"),
            max_output_schema_bytes=limits.integer("max_output_schema_bytes"),
            recursive=limits.choice("recursion") == "ref",
            output=top.choice("output_schema") != "off",
        ),
        list_budget=_list_budget(top, problems),
        access=top.section("access"),
        identity=_identity(top, problems),
        identity_in_deployment="identity" in top.section("deployment"),
        scalars=top.section("scalars"),
        adopted=_adopted(top),
        tools_at=top.place("tools"),
        other_server=other_server,
        default_tool=top.boolean("default_tool") if "default_tool" in top else None,
        graphql=top.choice("graphql") if "graphql" in top else "",
        graphql_at=top.place("graphql"),
        instructions=top.text("instructions").strip(),
        server=_server(top.section("server"), files, file),
        listed=top.section("server").boolean("listed"),
        software=top.section("server").boolean("software"),
        resources=top.section("resources"),
        skills=top.section("skills"),
        ui=top.section("ui"),
        code=_code(top, problems),
        catalog=_catalog(top),
        log=top.section("log"),
        synonyms=_synonyms(top.section("find")),
        ignores=read_ignores(top.section("checks"), problems),
        ignored_changes=read_change_ignores(top.section("diff"), problems),
    )


def _top(files: EndpointFiles, file: str, problems: Problems, *, stage: str | None) -> yaml.MappingNode | None:
    node = parse_yaml(files.read(file) or "", file, problems) if files.exists(file) else None
    if not stage:
        return node
    name = join(file, f"config.{stage}.yaml")
    if files.exists(name):
        over = files.read(name)
        return overlay(node, None if over is None else parse_yaml(over, name, problems))
    beside = files.names_beside(name)
    stages = [match[1] for match in map(STAGE_FILE.fullmatch, beside) if match]
    misnamed = [other for other, right_name in misnamed_files(beside) if join(name, right_name) == name]
    misnamed += [each for each in beside if re.fullmatch(rf"config[-_]{re.escape(stage)}\.ya?ml", each)]
    remedy = f"the stages here are {some(stages, most=10)}" if stages else "create it, or leave out --stage"
    remedy = f"rename {misnamed[0]} to config.{stage}.yaml" if misnamed else f"{remedy}{did_you_mean(stage, stages)}"
    problems.add(Place(name), f'the file of the stage "{stage}" does not exist: {remedy}', code="unreadable-file")
    return node


def _adopted(top: Section) -> frozenset[str]:
    """Read ``tools``: the text ``operations``, or a mapping that also says which operations."""
    if "tools" not in top:
        return frozenset()
    if not top.is_mapping("tools"):
        if top.text("tools", "operations") != "operations":
            top.refuse("tools", "operations, or {operations: queries_and_mutations}")
        return ADOPTED["queries"]
    section = top.section("tools")
    return ADOPTED[section.choice("operations")] if section else frozenset()


def _identity(top: Section, problems: Problems) -> tuple[Section, ...]:
    """Read the sections of ``identity``, or of ``deployment.identity`` as in StepZen."""
    deployment = top.section("deployment")
    if "identity" in top and "identity" in deployment:
        sentence = "identity also appears outside deployment: keep one of them"
        problems.add(deployment.key_place("identity"), sentence, code="duplicate-identity")
    return tuple((deployment if "identity" in deployment else top).one_or_more("identity"))


def _server(section: Section, files: EndpointFiles, file: str) -> JSONObject:
    """Read the author's members of ``serverInfo``. Names of icons' files begin beside ``file``."""
    icons, size = [], 0
    for entry in section.sections("icons"):
        name, theme = entry.text("file"), entry.choice("theme") if "theme" in entry else ""
        raw = files.read_bytes(join(file, name), named_at=entry.place("file"), max_bytes=MAX_ICON_BYTES)
        size += len(raw or b"")
        try:
            icons += [] if raw is None else [made_icon(raw, theme)]
        except ValueError as exc:
            entry.fault("file", f"{name} {exc}", code="invalid-icon")
    if size > MAX_ICON_BYTES:
        sentence = f"they have {size:,} bytes together: expected at most {MAX_ICON_BYTES:,}"
        section.fault("icons", sentence, code="invalid-icon")
    texts = {key: section.text(key).strip() for key in ("name", "title", "version", "description", "website")}
    if section.boolean("listed") and not texts["description"]:
        section.refuse("listed", "server.description beside it, which a Server Card needs")
    members = {**texts, "websiteUrl": texts["website"], "icons": icons}
    return {name: value for name, value in members.items() if value and name != "website"}


def _synonyms(find: Section) -> Mapping[str, tuple[str, ...]]:
    """Return the words of questions, each with the words that it also finds."""
    words = find.section("words")
    if len(words) > MAX_WORDS:
        find.refuse("words", f"at most {MAX_WORDS} words")
        return {}
    synonyms = {word: words.values(word) for word in words}
    for word, others in synonyms.items():
        if len(list(split(word))) != 1:
            words.refuse(word, "one word as the key, such as turnover")
        elif not STOP_WORDS.isdisjoint(split(word)):
            words.refuse(word, "a word about a subject: searches leave this one out")
        elif not others or not all(any(split(other)) for other in others):
            words.refuse(word, "a list of words, such as [revenue]")
    return synonyms


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaLimits:
    """The limits of the schemas in a tool's list entry; 0 for none."""

    max_schema_bytes: int
    max_output_schema_bytes: int
    recursive: bool  # a reference may lead to itself
    output: bool  # prescribed tools have an output schema


def _list_budget(top: Section, problems: Problems) -> int:
    """Read ``limits.list_budget``, or the old place of this key."""
    limits, key = top.section("limits"), "list_budget"
    catalog = top.section("catalog") if top.is_mapping("catalog") else top.defaults("catalog")
    if key not in catalog:
        return limits.integer(key)
    sentence = f"{catalog.name(key)} is the old name of {limits.name(key)}"
    problems.warn(catalog.key_place(key), sentence, code="old-key")
    return (limits if key in limits else catalog).integer(key)


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogUse:
    """The tools that find other tools and call them by name."""

    at: Place
    name: str
    hidden: bool  # not listed as long as all tools are
    unlisted: str  # a value of UNLISTED


def _catalog(top: Section) -> CatalogUse | None:
    """Read ``catalog``: a boolean, or a mapping that overrides the defaults. ``None``: the endpoint has none."""
    if "catalog" not in top or not (top.is_mapping("catalog") or top.boolean("catalog")):
        return None
    section = top.section("catalog") if top.is_mapping("catalog") else top.defaults("catalog")
    return CatalogUse(
        at=section.place("name") if "name" in section else top.place("catalog"),
        name=section.text("name", "catalog"),
        hidden=section.boolean("hidden"),
        unlisted=UNLISTED[section.choice("list")],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class KitUse:
    """A toolkit that the endpoint takes."""

    use: str  # module:attribute
    hidden: bool | None  # for all of its tools; ``None`` if not given
    category: str  # for all of its tools; empty if not given
    section: Section  # with its condition
    at: Place

    @property
    def module(self) -> str:
        """The toolkit's module."""
        return self.use.partition(":")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeConfig:
    """The values of ``code``."""

    kits: tuple[KitUse, ...]
    named: bool  # ``code`` has entries, invalid ones included
    at: Place  # of ``code``


def _code(top: Section, problems: Problems) -> CodeConfig:
    """Read ``code``: a list of ``module:attribute``, or of mappings with that as ``use``."""
    kits: dict[str, KitUse] = {}
    entries = top.sections("code")
    for entry in entries:
        use, at = entry.text("use"), entry.place("use")
        visible = entry.boolean("visible") if "visible" in entry else None
        hidden = None if visible is None else not visible
        hidden = entry.boolean("hidden") if "hidden" in entry else hidden
        if use in kits:
            problems.add(
                at, f'"{use}" also appears at {place_text(kits[use].at)}: remove one', code="duplicate-toolkit"
            )
        elif is_toolkit(use):
            kits[use] = KitUse(use=use, hidden=hidden, category=entry.text("category"), section=entry, at=at)
    return CodeConfig(kits=tuple(kits.values()), named=bool(entries), at=top.place("code"))


STEM, SUFFIX = CONFIG.split(".")
YAML_NAME = re.compile(r"(.*)\.ya?ml(?:\.txt)?", re.IGNORECASE | re.DOTALL)
"""Some editors add ``.txt``, and some file managers hide it."""

OTHER_STEMS = ("conf", "configuration")
LIKENESS = 0.9
"""``confg``, ``cnofig`` and ``configs`` are like ``config``."""

TESTING = {name.removesuffix(".yaml"): name for name in (*TESTS, QUESTIONS)}
TESTING_LIKENESS = 0.8
"""``policy.test`` and ``policies.tests`` are like ``policies.test``, and ``policies`` is not."""


def report_misnamed(files: EndpointFiles, file: str, problems: Problems) -> None:
    """Report the unread files beside ``file``, which is ``config.yaml``, that look like it or a stage's file."""
    exists, names = files.exists(file), files.names_beside(file)
    for name, right_name in misnamed_files(names):
        at = Place(join(file, name))
        if not exists:
            remedy = f"rename it to {right_name}"
            sentence = f"this file is not read, so its policies, identity and upstream do not hold: {remedy}"
            problems.add(at, sentence, code="misnamed-config")
        elif right_name != CONFIG or name.casefold() != CONFIG:  # which a file system that ignores case reads
            remedy = f"move what it says to {CONFIG}" if right_name == CONFIG else f"rename it to {right_name}"
            sentence = f"this file is not read beside {CONFIG}: {remedy}, or remove it"
            problems.warn(at, sentence, code="unread-file", about=[at.file])
    for name, match in ((name, YAML_NAME.fullmatch(name)) for name in names):
        stem = match[1].casefold().replace("-", ".").replace("_", ".") if match else ""
        for alike in get_close_matches(stem, TESTING, n=1, cutoff=TESTING_LIKENESS):
            right_name = TESTING[alike]
            if name != right_name and not (name.casefold() == right_name and files.exists(join(file, right_name))):
                sentence = f"this file is not read: rename it to {right_name}, or remove it"
                problems.warn(Place(join(file, name)), sentence, code="unread-file", about=[name])


def misnamed_files(names: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the names that are not read but look as if they were, each with the name that may be meant."""
    for name, match in ((name, YAML_NAME.fullmatch(name)) for name in names):
        stem, *stage = match[1].split(".") if match else [""]
        right_name, folded = ".".join((STEM, *stage, SUFFIX)), stem.casefold()
        is_alike = folded in OTHER_STEMS or get_close_matches(folded, [STEM], cutoff=LIKENESS)
        if stem and len(stage) < 2 and right_name != name and is_alike:
            yield name, right_name


@dataclass(frozen=True, slots=True, kw_only=True)
class Ignore:
    """One entry: a code, the coordinates, tools or names that it is about, and the reason."""

    code: str
    names: frozenset[str]  # empty: all warnings of the code. For a difference there is a name at least
    reason: str
    at: Place

    def covers(self, code: str, about: Collection[str]) -> bool:
        """Return whether the entry names a warning or difference, with all parts that this is about."""
        return code == self.code and (not self.names or (bool(about) and self.names.issuperset(about)))


def read_ignores(checks: Section, problems: Problems) -> tuple[Ignore, ...]:
    """Read ``checks``. Each entry needs the code of a warning, and a reason."""
    warnings = [name for name, code in CODES.items() if code.is_warning]
    ignores = []
    for section in checks.sections("ignore"):
        ignore = _ignore(section, "coordinates")
        if ignore.code in CODES and ignore.code not in warnings:
            sentence = f'checks.ignore: "{ignore.code}" is the code of an error: expected that of a warning'
            problems.add(ignore.at, sentence, code="not-ignorable")
        elif _is_known(ignore, warnings, problems, path="checks.ignore"):
            if "coordinates" in section and not ignore.names:
                section.refuse("coordinates", "one or more, or no such key")
            ignores.append(ignore)
    return tuple(ignores)


def read_change_ignores(diff: Section, problems: Problems) -> tuple[Ignore, ...]:
    """Read ``diff``. Each entry needs the code of a difference, names, and a reason."""
    ignores = []
    for section in diff.sections("ignore"):
        ignore = _ignore(section, "about")
        if not ignore.names:
            section.refuse("about", "one or more coordinates, tools or other names")
        if _is_known(ignore, CHANGE_CODES, problems, path="diff.ignore"):
            ignores.append(ignore)
    return tuple(ignores)


def _ignore(section: Section, key: str) -> Ignore:
    return Ignore(
        code=section.text("code"),
        names=frozenset(section.values(key)),
        reason=" ".join(section.text("reason").split()),
        at=section.place("code"),
    )


def _is_known(ignore: Ignore, codes: Collection[str], problems: Problems, *, path: str) -> bool:
    if ignore.code not in codes:
        sentence = f'{path}: there is no code "{ignore.code:.80}"{did_you_mean(ignore.code, codes)}'
        problems.add(ignore.at, sentence, code="unknown-code")
    return ignore.code in codes


def left_over(warnings: Iterable[Problem], ignores: Sequence[Ignore]) -> list[Problem]:
    """Return the warnings that no entry covers."""
    return [warning for warning in warnings if not any(each.covers(warning.code, warning.about) for each in ignores)]


def unused_ignores(warnings: Sequence[Problem], ignores: Iterable[Ignore]) -> Iterator[Problem]:
    """Warn of each entry that covers no warning."""
    for entry in ignores:
        if not any(entry.covers(warning.code, warning.about) for warning in warnings):
            about = " about these coordinates" if any(warning.code == entry.code for warning in warnings) else ""
            yield Problem(
                file=entry.at.file,
                line=entry.at.line,
                column=entry.at.column,
                sentence=f'checks.ignore: there is no warning "{entry.code}"{about}',
                code="unused-ignore",
            )
