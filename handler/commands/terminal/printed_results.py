"""The printing of a call's result for a person."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from handler.bundle.tools import CONFIRM
from handler.commands.terminal.console import complain, say, show_json


def show_result(result: Mapping[str, Any]) -> None:
    """Print a tool's result. JSON is indented; content that is not text is only named."""
    if not result["content"]:
        show_json(result.get("structuredContent"))
    for block in result["content"]:
        text = _text_of(block)
        try:
            show_json(json.loads(text))
        except ValueError:
            (complain if result.get("isError") else say)(text)


def show_questions(requests: Mapping[str, Any]) -> None:
    """Print the questions that a tool asks first."""
    for key, request in requests.items():
        complain(f"{key}: {request['method']}" if key != CONFIRM else request["params"]["message"])
        if key != CONFIRM:
            _show_details(request.get("params") or {})
    if CONFIRM in requests:
        complain("Nothing was done yet: repeat the call with --yes to agree.")
    else:
        complain("The tool asks its user this first. A client that speaks MCP 2026-07-28 answers it.")


def _show_details(params: Mapping[str, Any]) -> None:
    if "message" in params:
        complain(f"  {params['message']}")
    if "url" in params:
        complain(f"  to open: {params['url']}")
    for name, field in params.get("requestedSchema", {}).get("properties", {}).items():
        complain(f"  to fill in: {name} ({field.get('type', 'anything')})")


def _text_of(block: Mapping[str, Any]) -> str:
    match block:
        case {"type": "text", "text": text}:
            return str(text)
        case {"type": "resource", "resource": {"uri": uri, **rest}}:
            return str(rest.get("text", f"[{uri}]"))
        case {"type": "resource_link", "uri": uri}:
            return f"[{uri}]"
        case {"type": kind, "mimeType": mime_type, "data": data}:
            return f"[{kind}, {mime_type}, {len(data) * 3 // 4:,} bytes]"
    return f"[{block['type']}]"
