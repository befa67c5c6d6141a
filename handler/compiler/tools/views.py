"""Pages that hosts show in the chat: ``ui/NAME.html`` as ``ui://`` resources, a built-in table, and their tools.

Source: MCP Apps (SEP-1865, 2026-01-26), "UI Resource Format", "Resource Discovery".
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from handler.bundle.content import FileResource
from handler.bundle.resource_uris import page_uri, table_uri
from handler.bundle.tools import GraphQLTool, ListedEntry
from handler.compiler.access.policies import AccessDefaults
from handler.compiler.compile_context import CompileContext
from handler.compiler.config.table import PERMISSIONS
from handler.compiler.problems import Place, Problems
from handler.compiler.source.yaml_section import Section
from handler.compiler.tools.declaration import CompiledTool, argument_place
from handler.compiler.tools.resources import FileContent, mask_of, warn_of_unread
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

    def resources(self, tools: Iterable[CompiledTool]) -> tuple[FileResource, ...]:
        """Return the pages for the bundle, by name, with that of the built-in view if a tool has it."""
        if TABLE in self.pages or all(tool.view != TABLE for tool in tools):
            return tuple(self.pages.values())
        # The server adds the tool's name and output schema for each caller.
        content = FileContent(media_type=PAGE_TYPE, text=TABLE_FILE.read_text(encoding="utf-8"))
        table = content.resource(page_uri(self.endpoint, TABLE), {"name": TABLE}, mask=self.mask, hidden=True)
        return (*self.pages.values(), table)


def read_views(context: CompileContext, grounds: AccessDefaults) -> Views:
    """Read the pages of their folder, with their settings in ``config.yaml``."""
    section, problems, folder = context.config.ui, context.problems, context.project.path(VIEWS_FOLDER)
    mask = mask_of(section, context, default=grounds.unsaid)
    files = _files_of_pages(context, folder)
    settings = section.section("pages")
    pages: dict[str, FileResource] = {}
    for name in dict.fromkeys((*files, *settings)):
        if name not in files:
            sentence = f"there is no page {VIEWS_FOLDER}/{name:.64}{SUFFIX}{did_you_mean(name, list(files))}"
            problems.add(settings.key_place(name), sentence, code="unknown-view")
        page = _page(context, name, files.get(name), settings.section(name), mask=mask)
        pages |= {name: page} if page else {}
    total = sum(page.entry["size"] for page in pages.values())
    if total > MAX_PAGES_BYTES:
        sentence = f"its pages have {total} bytes together; the bundle that holds them takes {MAX_PAGES_BYTES}"
        problems.add(Place(folder), sentence, code="invalid-view")
    refused = frozenset(files.keys() - pages.keys())
    return Views(endpoint=context.project.endpoint, pages=pages, mask=mask, refused=refused)


def _files_of_pages(context: CompileContext, folder: str) -> dict[str, str]:
    """Return the files of pages by their names. Report links, and warn of other files in the folder."""
    files, problems, search = context.files, context.problems, context.files.search(folder)
    if (files.folder / folder).is_symlink():
        problems.add(Place(folder), "it is a link: expected a folder of the endpoint itself", code="invalid-view")
        return {}
    pages: dict[str, str] = {}
    others = list(search.links)
    for file in search.files:
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
    unread = sorted(each for each in others if not files.is_read(each))
    warn_of_unread(unread, f": pages are the files of {folder}/ itself that end in {SUFFIX}", problems)
    return pages


def _page(
    context: CompileContext, name: str, file: str | None, settings: Section, *, mask: Mask
) -> FileResource | None:
    """Read one page with its settings; ``None`` without a file, or after reporting why it is not valid.

    ``mask`` is that of a page without a condition of its own.
    """
    texts = {key: value for key in ("title", "description") if (value := settings.text(key))}
    own, ui = mask_of(settings, context, default=mask), _metadata(settings, context.problems)
    text = context.files.read(file, max_bytes=MAX_PAGE_BYTES) if file else None
    if file is None or text is None:
        return None
    if not text.lstrip().lower().startswith("<!doctype html"):
        sentence = "expected a whole page, which begins with <!doctype html>"
        context.problems.add(Place(file, 1, 1), sentence, code="invalid-view")
        return None
    content, uri = FileContent(media_type=PAGE_TYPE, text=text), page_uri(context.project.endpoint, name)
    page = content.resource(uri, {"name": name, **texts}, mask=own)
    return replace(page, entry={**page.entry, "_meta": {"ui": ui}}) if ui else page


def _metadata(settings: Section, problems: Problems) -> JSONObject:
    """Return ``_meta.ui`` of a page: only the author's settings, so that hosts allow nothing else."""
    csp = settings.section("csp")
    origins = {name: texts for key, name in ORIGINS.items() if (texts := _origins(csp, key, problems))}
    permissions: JSONObject = {}
    for value, at in settings.texts("permissions"):
        if value in PERMISSIONS:
            permissions[PERMISSIONS[value]] = {}
        else:
            sentence = f"{settings.name('permissions')}: expected one of {', '.join(PERMISSIONS)}, got {value!r:.80}"
            problems.add(at, sentence + did_you_mean(value, list(PERMISSIONS)), code="invalid-value")
    domain = settings.text("domain")
    if domain and ("*" in domain or not ORIGIN.fullmatch(f"https://{domain}")):
        settings.refuse("domain", "the name of a host, as its documentation says")
    border = {"prefersBorder": settings.boolean("prefers_border")} if "prefers_border" in settings else {}
    members = {"csp": origins, "permissions": permissions, "domain": domain}
    return {**{name: value for name, value in members.items() if value}, **border}


def _origins(csp: Section, key: str, problems: Problems) -> list[str]:
    """Read the origins below a key of ``csp``."""
    origins = csp.texts(key) if key in csp else []
    if len(origins) > MAX_ORIGINS:
        csp.refuse(key, f"at most {MAX_ORIGINS} origins")
    for origin, at in origins:
        match = ORIGIN.fullmatch(origin)
        if match is None or (match["scheme"].lower() == "wss" and key != "connect_domains"):
            expected = "an origin, such as https://api.example.com or https://*.example.com"
            problems.add(at, f"{csp.name(key)}: expected {expected}", code="invalid-value")
    return [origin for origin, _ in origins]


def with_views(tools: Sequence[CompiledTool], views: Views, problems: Problems) -> tuple[CompiledTool, ...]:
    """Return tools whose entries name the pages of their views. Report views that do not exist."""
    return tuple(_with_view(tool, views, problems) if tool.view else tool for tool in tools)


def _with_view(compiled: CompiledTool, views: Views, problems: Problems) -> CompiledTool:
    name, tool = compiled.view, compiled.tool
    if name in views.refused:
        return compiled
    if name not in views.names:
        expected = f"expected a page {VIEWS_FOLDER}/NAME{SUFFIX}, or {TABLE}, which is built in"
        sentence = f'"{tool.name}" has the view "{name:.64}": {expected}{did_you_mean(name, views.names)}'
        problems.add(argument_place(compiled.at, "view"), sentence, code="unknown-view")
        return compiled
    uri, mask = views.view_of(tool.name, name)
    tool = replace(tool, entry=_naming(tool.entry, uri), options=replace(tool.options, view_mask=mask))
    if isinstance(tool, GraphQLTool):
        listings = [
            replace(each, entry=_naming(each.entry, uri)) if each.entry is not None else each for each in tool.listings
        ]
        tool = replace(tool, listings=tuple(listings))
    return replace(compiled, tool=tool)


def _naming(entry: ListedEntry, uri: str) -> ListedEntry:
    """Return an entry with the URI of its view, beside other members of ``_meta.ui`` that an author gave."""
    meta = entry.get("_meta", {})
    ui = meta.get("ui")
    return {**entry, "_meta": {**meta, "ui": {**(ui if isinstance(ui, dict) else {}), "resourceUri": uri}}}
