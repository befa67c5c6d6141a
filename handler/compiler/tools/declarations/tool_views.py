"""The views of tools: ``view`` of an author becomes ``_meta.ui.resourceUri`` of the tool's list entry.

Source: MCP Apps (SEP-1865, 2026-01-26), "Resource Discovery".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from graphql import DirectiveNode, OperationDefinitionNode

from handler.bundle.tools import GraphQLTool, ListedEntry, Tool
from handler.compiler.problems import At, Problems
from handler.compiler.schema.directives import value_of_argument
from handler.compiler.tools.content_files.view_pages import SUFFIX, TABLE, VIEWS_FOLDER, Views
from handler.compiler.tools.declarations.declaration import CompiledTool
from handler.policy.evaluation import Mask
from handler.text.sentences import did_you_mean


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
