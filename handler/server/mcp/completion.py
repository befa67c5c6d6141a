"""Values that a client may offer its user while they fill an argument."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handler.bundle.model import JSONObject
from handler.errors import InvalidParams
from handler.server.context.caller import Caller
from handler.server.mcp.prompts import find_prompt
from handler.server.mcp.resources import find_template

MAX_VALUES = 100
"""Source: MCP 2026-07-28, server/utilities/completion, "Completion Results"."""

EXPECTED = "expected a ref (ref/prompt with its name, or ref/resource with its uri) and an argument (name and value)"


def complete(caller: Caller, params: Mapping[str, Any]) -> JSONObject:
    """The ``CompleteResult``: values that begin with what is there so far, in either case.

    Raises:
        InvalidParams: parameters that do not fit; an argument, or a template of resources, that is not there.
        PromptNotFound: no prompt of that name for this caller.
        CredentialRequired: instead of that to an anonymous caller, where there are credentials that could help.
    """
    match params:
        case {
            "ref": {"type": "ref/prompt", "name": str() as name},
            "argument": {"name": str() as argument, "value": str() as begun},
        }:
            return _completed(_values(caller, name, argument), begun)
        case {
            "ref": {"type": "ref/resource", "uri": str() as uri},
            "argument": {"name": str(), "value": str() as begun},
        }:
            if find_template(caller, uri) is None:
                raise InvalidParams(f"Unknown resource template: {uri:.200}")
            return _completed((), begun)  # what a function reads, only the function knows
        case _:
            raise InvalidParams(f"Invalid params: {EXPECTED}")


def _values(caller: Caller, name: str, argument: str) -> tuple[str, ...]:
    prompt = find_prompt(caller, name)
    if not any(each["name"] == argument for each in prompt.entry.get("arguments", [])):
        raise InvalidParams(f"Invalid params: the prompt {name} has no argument {argument:.80}")
    return prompt.completions.get(argument, ())


def _completed(values: tuple[str, ...], begun: str) -> JSONObject:
    texts = {value: value.casefold() for value in values}
    longest = max(map(len, texts.values()), default=0)
    start = begun.casefold() if len(begun) <= longest else None  # folding makes no text shorter
    found = [] if start is None else [value for value, text in texts.items() if text.startswith(start)]
    return {"completion": {"values": found[:MAX_VALUES], "total": len(found), "hasMore": len(found) > MAX_VALUES}}
