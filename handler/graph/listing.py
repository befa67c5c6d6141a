"""What ``tools/list`` shows of a GraphQL tool: a template from its author, and a view of the schema. Pure data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handler.graph.view import View, print_view

SCHEMA_SDL = "{schema_sdl}"

MAX_SDL_BYTES = 16_384
"""Above this a schema is summarised in a default description: clients cut or refuse what is much longer."""


def graphql_entry(template: Mapping[str, Any], view: View) -> dict[str, Any] | None:
    """The entry for callers who have this view; ``None``: there is nothing that they could ask for.

    The texts of a template may name ``{schema_sdl}``; an empty one of ``query`` stands for the default, which depends
    on the view. So do the annotations, as far as the template has none.
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
    properties["query"] = {**query, "description": query["description"] or _query_description(sdl, roots)}
    return {
        **template,
        "description": _expanded(template["description"], sdl),
        "inputSchema": {**shape, "properties": properties},
        "annotations": {**default_annotations(writes="mutation" in roots), **template["annotations"]},
    }


def default_annotations(*, writes: bool) -> dict[str, bool]:
    """What clients are told of a tool where its author says nothing."""
    return {"readOnlyHint": False, "destructiveHint": True} if writes else {"readOnlyHint": True}


def _expanded(text: str, sdl: str) -> str:
    return text.replace(SCHEMA_SDL, sdl)


def _query_description(sdl: str, root_fields: Mapping[str, tuple[str, ...]]) -> str:
    """With the schema, or a summary of a large one."""
    head = "The GraphQL request to run."
    if len(sdl.encode()) <= MAX_SDL_BYTES:
        return f"{head} It must be valid for this schema:\n\n{sdl}"
    lines = [f"{kind}: {', '.join(names)}" for kind, names in root_fields.items()]
    return (
        f"{head} The schema is too large to show here. Its root fields are:\n\n"
        + "\n".join(lines)
        + '\n\nAsk for a type with a request such as { __type(name: "Query") { fields { name args { name } } } }.'
    )
