"""A tool that is for callers with a credential alone."""

from __future__ import annotations

from stile import Context, Toolkit

kit = Toolkit()


@kit.tool(requires_auth=True)
def signed_in(ctx: Context) -> str:
    """Only for who signed in."""
    return f"welcome{', with a token for the API' if ctx.provider_token else ''}"
