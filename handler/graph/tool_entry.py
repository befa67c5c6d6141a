"""The definition of a GraphQL tool in ``tools/list``, from an author's template and a view. Pure data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from handler.graph.sdl import print_small_view, print_view
from handler.graph.view import View

SCHEMA_SDL = "{schema_sdl}"

MAX_SDL_BYTES = 16_384
"""Largest schema in a default description; a larger one is summarised, because clients cut or refuse it."""

MAX_NAMES_BYTES, MAX_DIRECTIVES_BYTES = 80, 160
"""Sizes of the root fields' names, and of the directives, in a summary, which replaces a schema above the other limit.
The names are examples: a search finds the others. It finds no directives."""

QUESTION = '{ __search(query: "your question") { coordinate pathsToRoot } }'
"""The request that a summary advises. It is valid in every schema."""


class ViewEntry(NamedTuple):
    """A tool's entry for callers with one view; no ``entry`` if the view has no root fields.

    ``large``: the entry does not show the schema, because the schema is too large for a description.
    """

    entry: dict[str, Any] | None
    large: bool = False


def graphql_entry(template: Mapping[str, Any], view: View) -> ViewEntry:
    """Return the entry for callers with this view.

    The texts of a template may contain ``{schema_sdl}``. An empty description of ``query`` stands for the default. The
    default, and annotations that the template does not set, depend on the view.
    """
    roots = view.root_fields()
    if not roots:
        return ViewEntry(None)
    shape = template["inputSchema"]
    texts = (template["description"], *(each["description"] for each in shape["properties"].values()))
    shows_schema = any(SCHEMA_SDL in text for text in texts)  # however large
    small = print_small_view(view, MAX_SDL_BYTES)
    sdl = print_view(view) if small is None and shows_schema else small or ""
    properties = {
        name: {**parameter, "description": parameter["description"].replace(SCHEMA_SDL, sdl)}
        for name, parameter in shape["properties"].items()
    }
    query = properties["query"]
    properties["query"] = {**query, "description": query["description"] or _query_description(small, view)}
    entry = {
        **template,
        "description": template["description"].replace(SCHEMA_SDL, sdl),
        "inputSchema": {**shape, "properties": properties},
        "annotations": {**default_annotations(writes="mutation" in roots), **template["annotations"]},
    }
    return ViewEntry(entry, large=small is None and not shows_schema)


def default_annotations(*, writes: bool) -> dict[str, bool]:
    """Return a tool's annotations for clients if its author sets none."""
    return {"readOnlyHint": False, "destructiveHint": True} if writes else {"readOnlyHint": True}


def _query_description(sdl: str | None, view: View) -> str:
    """Return the default description, with the schema, or with a summary of one that is too large (``None``)."""
    head = "The GraphQL request to run."
    if sdl is not None:
        return f"{head} It must be valid for this schema:\n\n{sdl}"
    roots = view.root_fields()
    lines = [f"{kind}: {_some(names, MAX_NAMES_BYTES // len(roots))}" for kind, names in roots.items()]
    directives = []  # as a request writes them, with the types of their arguments
    for name, directive in view.directives().items():
        arguments = ", ".join(f"{each}: {value.type}" for each, value in directive.arguments.items())
        directives.append(f"@{name}({arguments})" if arguments else f"@{name}")
    lines += [f"directives: {_some(directives, MAX_DIRECTIVES_BYTES)}"] if directives else []
    return (
        f"{head} The schema is too large to show here. Root fields:\n\n"
        + "\n".join(lines)
        + f"\n\nSearch it: {QUESTION}, then read __definitions(coordinates:) or __type(name:)."
    )


def _some(names: Sequence[str], max_bytes: int) -> str:
    """Return as many of the first names as fit, and the number of further names."""
    sizes = accumulate(len(name) + len(", ") for name in names)  # names of GraphQL are ASCII
    count = sum(size <= max_bytes for size in sizes)
    more = [f"and {len(names) - count} more"] if count < len(names) else []
    return ", ".join([*names[:count], *more])
