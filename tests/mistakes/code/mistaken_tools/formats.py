from __future__ import annotations

from stile import Toolkit

kit = Toolkit()


@kit.tool(formats={"even": 2})  # type: ignore[dict-item] # 2: a format is a function
def number(text: str) -> str:
    return text
