"""Values that a client may offer to a user who fills an argument."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handler.errors.protocol import InvalidParams
from handler.server.context.caller import Caller
from handler.server.mcp.listing.prompts import find_prompt
from handler.server.mcp.listing.resources import find_template
from handler.strict_json import JSONObject

MAX_VALUES = 100
"""Source: MCP 2026-07-28, server/utilities/completion, "Completion Results"."""

EXPECTED = "expected a ref (ref/prompt with its name, or ref/resource with its uri) and an argument (name and value)"


def complete(caller: Caller, params: Mapping[str, Any]) -> JSONObject:
    """Return the ``CompleteResult``: the values that begin with the text so far, in upper or lower case.

    Raises:
        InvalidParams: the parameters do not fit, or the argument or resource template does not exist.
        PromptNotFound: the caller has no such prompt.
        CredentialRequired: instead of that, if the caller is anonymous and a credential could help.
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
            return _completed((), begun)  # only the function knows its resources
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
