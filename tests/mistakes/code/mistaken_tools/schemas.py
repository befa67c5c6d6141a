from __future__ import annotations

from typing import Any

from stile import Toolkit

kit = Toolkit()


@kit.tool(input_schema={"type": "object", "properties": {"a": {"$ref": "#/$defs/b"}}})  # 5: there is no b
def lost(arguments: dict[str, Any]) -> str:
    return str(arguments)


@kit.tool(input_schema={"type": "object", "$dynamicRef": "#node"})  # 6: there is no anchor of that name
def unanchored(arguments: dict[str, Any]) -> str:
    return str(arguments)
