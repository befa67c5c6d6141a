"""The definition of a GraphQL tool in ``tools/list``, from an author's template and a view. Pure data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from handler.graph.sdl import print_view
from handler.graph.view import View

SCHEMA_SDL = "{schema_sdl}"

MAX_SDL_BYTES = 16_384
"""Largest schema in a default description; a larger one is summarised, because clients cut or refuse it."""

MAX_NAMES_BYTES = MAX_SDL_BYTES // 4
"""Size of the root fields' names in a summary, which replaces a schema above the other limit."""

TYPE = "type { name kind ofType { name kind ofType { name kind ofType { name kind } } } }"
QUESTION = f'{{ __type(name: "%s") {{ fields {{ name args {{ name {TYPE} defaultValue }} {TYPE} }} }} }}'
"""Introspection request for a type's facts that a model needs. ``[Order!]!`` has three types around its name."""


def graphql_entry(template: Mapping[str, Any], view: View) -> dict[str, Any] | None:
    """Return the entry for callers with this view; ``None`` if the view has no root fields.

    The texts of a template may contain ``{schema_sdl}``. An empty description of ``query`` stands for the default. The
    default, and annotations that the template does not set, depend on the view.
    """
    roots = view.root_fields()
    if not roots:
        return None
    sdl = print_view(view)
    shape = template["inputSchema"]
    properties = {
        name: {**parameter, "description": _expanded(parameter["description"], sdl)}
        for name, parameter in shape["properties"].items()
    }
    query = properties["query"]
    properties["query"] = {**query, "description": query["description"] or _query_description(sdl, view)}
    return {
        **template,
        "description": _expanded(template["description"], sdl),
        "inputSchema": {**shape, "properties": properties},
        "annotations": {**default_annotations(writes="mutation" in roots), **template["annotations"]},
    }


def default_annotations(*, writes: bool) -> dict[str, bool]:
    """Return a tool's annotations for clients if its author sets none."""
    return {"readOnlyHint": False, "destructiveHint": True} if writes else {"readOnlyHint": True}


def _expanded(text: str, sdl: str) -> str:
    return text.replace(SCHEMA_SDL, sdl)


def _query_description(sdl: str, view: View) -> str:
    """Return the default description, with the schema or a summary of a large one."""
    head = "The GraphQL request to run."
    if len(sdl.encode()) <= MAX_SDL_BYTES:
        return f"{head} It must be valid for this schema:\n\n{sdl}"
    roots = view.root_fields()
    lines = [f"{kind}: {_some(names, MAX_NAMES_BYTES // len(roots))}" for kind, names in roots.items()]
    root = view.index.roots[next(iter(roots))]
    return (
        f"{head} The schema is too large to show here. Its root fields are:\n\n"
        + "\n".join(lines)
        + f"\n\nAsk for a type by its name with a request such as {QUESTION % root}. "
        "The name of the type that a field returns stands inside of LIST and NON_NULL."
    )


def _some(names: Sequence[str], max_bytes: int) -> str:
    """Return as many of the first names as fit, and the number of further names."""
    shown = 0
    for name in names:  # names of GraphQL are ASCII
        max_bytes -= len(name) + len(", ")
        if max_bytes < 0:
            break
        shown += 1
    more = [f"and {len(names) - shown} more"] if shown < len(names) else []
    return ", ".join([*names[:shown], *more])
