from __future__ import annotations

from stile import Toolkit

kit = Toolkit()


@kit.tool(requires_auth=[])  # 4: it would ask for nothing
def secret() -> str:
    return "secret"
