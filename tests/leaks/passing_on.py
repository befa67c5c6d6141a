"""A tool in Python that an attacker would like: it passes on whatever its caller writes, and all that comes back."""

from __future__ import annotations

from typing import Any

from stile import Context, GraphQLErrors, Toolkit

kit = Toolkit()


@kit.tool
async def pass_on(query: str, ctx: Context, variables: dict[str, Any] | None = None) -> dict[str, Any]:
    """Ask the endpoint's API."""
    try:
        return {"data": await ctx.graphql(query, variables)}
    except GraphQLErrors as exc:
        return {"data": exc.partial, "errors": list(exc.errors)}
