from __future__ import annotations

from stile import Context, Toolkit

kit = Toolkit()


@kit.tool  # 1: one context is enough
def ping(first: Context, second: Context) -> str:
    return f"{first.request_id}{second.request_id}"
