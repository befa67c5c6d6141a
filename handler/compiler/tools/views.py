"""Pages that hosts show in the chat: ``ui/NAME.html`` as ``ui://`` resources, a built-in table, and their tools.

Source: MCP Apps (SEP-1865, 2026-01-26), "UI Resource Format", "Resource Discovery".
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from graphql import DirectiveNode, OperationDefinitionNode

from handler.bundle.content import FileResource
from handler.bundle.resource_uris import page_uri, table_uri
from handler.bundle.tools import GraphQLTool, ListedEntry, Tool
from handler.compiler.access.code_access import AccessDefaults, own_mask
from handler.compiler.compile_context import CompileContext
from handler.compiler.config.table import PERMISSIONS
from handler.compiler.problems import At, Place, Problems
from handler.compiler.schema.directives import value_of_argument
from handler.compiler.source.files import EndpointFiles
from handler.compiler.source.yaml_section import Section
from handler.compiler.tools.declaration import CompiledTool
from handler.policy.evaluation import Mask
from handler.strict_json import JSONObject
from handler.text.sentences import did_you_mean

VIEWS_FOLDER = "ui"

SUFFIX = ".html"

PAGE_TYPE = "text/html;profile=mcp-app"

TABLE = "table"
"""The name of the built-in view."""

TABLE_FILE = Path(__file__).with_name("table.html")

MAX_PAGE_BYTES = 500_000
MAX_PAGES_BYTES = 2_000_000
"""Limit of an endpoint's pages together: every container keeps the bundle that holds them in memory."""

MAX_TOLD = 10
"""The number of unread files that get a warning each."""

MAX_ORIGINS = 20

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")

ORIGIN = re.compile(
    r"(?P<scheme>https|wss)://(?:\*\.)?(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]"
    r"(?::(?:[1-5]?[0-9]{1,4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?",
    re.IGNORECASE | re.ASCII,
)
"""Hosts put origins into a Content Security Policy, so nothing that could end a directive fits."""

ORIGINS: Mapping[str, str] = {
    "connect_domains": "connectDomains",
    "resource_domains": "resourceDomains",
    "frame_domains": "frameDomains",
    "base_uri_domains": "baseUriDomains",
}
"""Key of ``csp`` -> its name for hosts. Source: MCP Apps, ``McpUiResourceCsp``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Views:
    """The views of an endpoint: the pages of its folder by name, and the mask of the built-in view.

    ``refused`` are the pages that are there, with problems that are reported already.
    """

    endpoint: str
    pages: Mapping[str, FileResource]
    mask: Mask
    refused: frozenset[str] = frozenset()

    @property
    def names(self) -> tuple[str, ...]:
        """The names that a tool may have as its ``view``."""
        return tuple(sorted({*self.pages, TABLE}))

    def view_of(self, tool: str, name: str) -> tuple[str, Mask]:
        """Return the URI and the mask of a tool's view."""
        page = self.pages.get(name)
        return (page.uri, page.mask) if page else (table_uri(self.endpoint, tool), self.mask)

    def resources(self, *, with_table: bool) -> tuple[FileResource, ...]:
        """Return the pages for the bundle, by name. ``with_table``: a tool has the built-in view."""
        return (*self.pages.values(), *((_table(self.endpoint, self.mask),) if with_table else ()))


def read_views(context: CompileContext, grounds: AccessDefaults) -> Views:
    """Read the pages of their folder, with their settings in ``config.yaml``."""
    section, problems = context.config.ui, context.problems
    mask = own_mask(section, context.conditions, problems) if "condition" in section else grounds.unsaid
    files = _files_of_pages(context.files, context.project.path(VIEWS_FOLDER), problems)
    named = section.section("pages")
    said = {name: _settings(named.section(name), context, mask=mask) for name in (*files, *named.keys())}
    for name in [name for name in named.keys() if name not in files]:  # noqa: SIM118 - a section is not a mapping
        sentence = f"there is no page {VIEWS_FOLDER}/{name:.64}{SUFFIX}{did_you_mean(name, list(files))}"
        problems.add(named.key_place(name), sentence, code="unknown-view")
    read = {name: _page(context, name, file, settings=said[name]) for name, file in files.items()}
    pages = {name: page for name, page in read.items() if page}
    total = sum(page.entry["size"] for page in pages.values())
    if total > MAX_PAGES_BYTES:
        sentence = f"its pages have {total} bytes together; the bundle that holds them takes {MAX_PAGES_BYTES}"
        problems.add(Place(context.project.path(VIEWS_FOLDER)), sentence, code="invalid-view")
    refused = frozenset(read.keys() - pages.keys())
    return Views(endpoint=context.project.endpoint, pages=pages, mask=mask, refused=refused)


def _files_of_pages(files: EndpointFiles, folder: str, problems: Problems) -> dict[str, str]:
    """Return the files of pages by their names. Report links, and warn of other files in the folder."""
    found = files.find(folder)
    for at, reason in found.faults:
        problems.add(Place(at), f"it {reason}", code="unreadable-file")
    if (files.folder / folder).is_symlink():
        problems.add(Place(folder), "it is a link: expected a folder of the endpoint itself", code="invalid-view")
        return {}
    pages: dict[str, str] = {}
    others = list(found.links)
    for file in found.files:
        stem, suffix = posixpath.splitext(posixpath.basename(file))
        if posixpath.dirname(file) != folder or suffix != SUFFIX:
            others.append(file)
        elif (files.folder / file).is_symlink():
            problems.add(Place(file), "it is a link: expected the page itself", code="invalid-view")
        elif not NAME.fullmatch(stem):
            sentence = "its name is not a name of a view: expected 1 to 64 of A-Z a-z 0-9 _ -, not _ or - at first"
            problems.add(Place(file), sentence, code="invalid-view")
        else:
            pages[stem] = file
    for file in sorted(each for each in others if not files.is_read(each))[:MAX_TOLD]:
        sentence = f"it is not read: pages are the files of {folder}/ itself that end in {SUFFIX}"
        problems.warn(Place(file), sentence, code="unread-file", about=[file])
    return pages


@dataclass(frozen=True, slots=True, kw_only=True)
class _Settings:
    """The settings of a page in ``config.yaml``."""

    texts: Mapping[str, str]
    ui: JSONObject
    mask: Mask


def _settings(section: Section, context: CompileContext, *, mask: Mask) -> _Settings:
    """Read the settings of a page. ``mask`` is that of a page without a condition of its own."""
    texts = {key: section.text(key) for key in ("title", "description")}
    own = own_mask(section, context.conditions, context.problems) if "condition" in section else mask
    ui = _metadata(section, context.problems)
    return _Settings(texts={key: each for key, each in texts.items() if each}, ui=ui, mask=own)


def _page(context: CompileContext, name: str, file: str, *, settings: _Settings) -> FileResource | None:
    """Read one page; ``None`` after reporting why it is not valid."""
    text = context.files.read(file, max_bytes=MAX_PAGE_BYTES)
    if text is None:
        return None
    if not text.lstrip().lower().startswith("<!doctype html"):
        sentence = "expected a whole page, which begins with <!doctype html>"
        context.problems.add(Place(file, 1, 1), sentence, code="invalid-view")
        return None
    entry: JSONObject = {
        "uri": page_uri(context.project.endpoint, name),
        "name": name,
        **settings.texts,
        "mimeType": PAGE_TYPE,
        "size": len(text.encode()),
        **({"_meta": {"ui": settings.ui}} if settings.ui else {}),
    }
    return FileResource(entry=entry, text=text, blob="", mask=settings.mask)


def _metadata(settings: Section, problems: Problems) -> JSONObject:
    """Return ``_meta.ui`` of a page: nothing that is not said, so that hosts allow nothing else."""
    csp = settings.section("csp")
    origins = {name: _origins(csp, key, problems) for key, name in ORIGINS.items() if key in csp}
    origins = {name: each for name, each in origins.items() if each}
    permissions = list(_permissions(settings, problems))
    border = settings.boolean("prefers_border") if "prefers_border" in settings else None
    domain = settings.text("domain")
    if domain and ("*" in domain or not ORIGIN.fullmatch(f"https://{domain}")):
        settings.refuse("domain", "the name of a host, as its documentation says")
    return {
        **({"csp": origins} if origins else {}),
        **({"permissions": {name: {} for name in permissions}} if permissions else {}),
        **({"domain": domain} if domain else {}),
        **({} if border is None else {"prefersBorder": border}),
    }


def _origins(csp: Section, key: str, problems: Problems) -> list[str]:
    """Read the origins below a key of ``csp``."""
    found = csp.texts(key)
    if len(found) > MAX_ORIGINS:
        csp.refuse(key, f"at most {MAX_ORIGINS} origins")
    for origin, at in found:
        match = ORIGIN.fullmatch(origin)
        if match is None or (match["scheme"].lower() == "wss" and key != "connect_domains"):
            expected = "an origin, such as https://api.example.com or https://*.example.com"
            problems.add(at, f"{csp.name(key)}: expected {expected}", code="invalid-value")
    return [origin for origin, _ in found]


def _permissions(settings: Section, problems: Problems) -> Iterator[str]:
    for value, at in settings.texts("permissions"):
        if value in PERMISSIONS:
            yield PERMISSIONS[value]
        else:
            sentence = f"{settings.name('permissions')}: expected one of {', '.join(PERMISSIONS)}, got {value!r:.80}"
            problems.add(at, sentence + did_you_mean(value, list(PERMISSIONS)), code="invalid-value")


def _table(endpoint: str, mask: Mask) -> FileResource:
    """Return the page of the built-in view. The server adds the tool's name and output schema for each caller."""
    text = TABLE_FILE.read_text(encoding="utf-8")
    entry = {
        "uri": page_uri(endpoint, TABLE),
        "name": TABLE,
        "mimeType": PAGE_TYPE,
        "size": len(text.encode()),
    }
    return FileResource(entry=entry, text=text, blob="", mask=mask, hidden=True)


def with_views(made: Sequence[CompiledTool], views: Views, problems: Problems) -> tuple[CompiledTool, ...]:
    """Return tools whose entries name the pages of their views. Report views that do not exist."""
    return tuple(_with_view(each, views, problems) if each.view else each for each in made)


def uses_table(made: Sequence[CompiledTool], views: Views) -> bool:
    """Tell if any tool has the built-in view."""
    return TABLE not in views.pages and any(each.view == TABLE for each in made)


def _with_view(made: CompiledTool, views: Views, problems: Problems) -> CompiledTool:
    name, tool = made.view, made.tool
    if name in views.refused:
        return made
    if name not in views.names:
        expected = f"expected a page {VIEWS_FOLDER}/NAME{SUFFIX}, or {TABLE}, which is built in"
        sentence = f'"{tool.name}" has the view "{name:.64}": {expected}{did_you_mean(name, views.names)}'
        problems.add(_place_of(made.at), sentence, code="unknown-view")
        return made
    uri, mask = views.view_of(tool.name, name)
    return replace(made, tool=_shown_by(tool, uri, mask))


def _shown_by(tool: Tool, uri: str, mask: Mask) -> Tool:
    options = replace(tool.options, view_mask=mask)
    if not isinstance(tool, GraphQLTool):
        return replace(tool, entry=_naming(tool.entry, uri), options=options)
    listings = tuple(
        replace(each, entry=_naming(each.entry, uri)) if each.entry is not None else each for each in tool.listings
    )
    return replace(tool, entry=_naming(tool.entry, uri), listings=listings, options=options)


def _naming(entry: ListedEntry, uri: str) -> ListedEntry:
    """Return an entry with the URI of its view, beside other members of ``_meta.ui`` that an author gave."""
    meta = entry.get("_meta", {})
    ui = meta.get("ui")
    return {**entry, "_meta": {**meta, "ui": {**(ui if isinstance(ui, dict) else {}), "resourceUri": uri}}}


def _place_of(at: At) -> At:
    """Return the place of the argument ``view``, for the place of a tool's declaration."""
    match at:
        case DirectiveNode():
            return value_of_argument(at, "view")
        case OperationDefinitionNode():
            given = (value_of_argument(each, "view") for each in at.directives or () if each.name.value == "mcpTool")
            return next(iter(given), at)
        case _:
            return at
