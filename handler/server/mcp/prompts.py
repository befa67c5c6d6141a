"""List a caller's prompts, return the messages of one, and complete the values of its arguments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from handler.bundle.content import CodePrompt, Prompt, TextPrompt, expand, expanded_chars
from handler.code_tools.sections import Listed
from handler.errors.calls import PromptNotFound
from handler.errors.protocol import InvalidParams
from handler.server.context import Caller
from handler.server.mcp.method_call import Call
from handler.server.mcp.resources import find_template
from handler.strict_json import JSONObject

MAX_PROMPT_CHARS = 200_000
"""Characters of all messages together. An argument may be inserted in many places."""


async def prompts_for(caller: Caller) -> list[Listed]:
    """Return the prompts that a caller may use, in the order of the bundle."""
    return [
        Listed(entry=prompt.entry, hidden=isinstance(prompt, CodePrompt) and prompt.hidden)
        for prompt in caller.endpoint.bundle.prompts
        if caller.evaluation.meets(prompt.mask)
    ]


def find_prompt(caller: Caller, name: str) -> Prompt:
    """Return the prompt of a name.

    Raises:
        PromptNotFound: the caller has no such prompt, whether or not it exists.
        CredentialRequired: instead of that, if the caller is anonymous and a credential could help.
    """
    prompt = caller.endpoint.prompts.get(name)
    if prompt is None or not caller.evaluation.meets(prompt.mask):
        raise caller.missing(PromptNotFound(name))
    return prompt


async def get_prompt(call: Call, prompt: Prompt, arguments: Mapping[str, Any]) -> JSONObject:
    """Return the ``GetPromptResult`` of a prompt from ``find_prompt``, or an ``input_required`` result.

    Raises:
        InvalidParams: the arguments do not fit.
        McpError: a function raises it or fails.
        Rejected: a function asks for input that the client does not support.
    """
    match prompt:
        case TextPrompt():
            faults = list(_faults(prompt, arguments))
            if faults:
                raise InvalidParams(f"Invalid arguments for prompt {prompt.name}: {'; '.join(faults)}")
            # Forms of clients send empty strings for arguments that the user left out.
            result = _filled(prompt, {name: text for name, text in arguments.items() if text})
            call.note(decision="allowed")
            return result
        case CodePrompt():
            from handler.server.mcp.code_tools import get_code_prompt

            call.note(decision="allowed")
            return await get_code_prompt(call, prompt, arguments)


def _faults(prompt: TextPrompt, arguments: Mapping[str, Any]) -> Iterator[str]:
    declared = prompt.entry.get("arguments", [])
    declared_names = [each["name"] for each in declared]
    unknown = [name for name in arguments if name not in declared_names]
    if unknown:
        names = ", ".join(declared_names) or "no arguments"
        yield f"{unknown[0]:.80}: unknown, expected {names}"
    for each in declared:
        name, text = each["name"], arguments.get(each["name"], "")
        values = prompt.completions.get(name, ())
        if not isinstance(text, str):
            yield f"{name}: expected a string"
        elif not text and each["required"]:
            yield f"{name}: required, but missing"
        elif text and values and text not in values:
            yield f"{name}: expected one of {', '.join(values):.1000}"


def _filled(prompt: TextPrompt, values: Mapping[str, str]) -> JSONObject:
    chars = sum(expanded_chars(message.text, values) for message in prompt.messages)
    if chars > MAX_PROMPT_CHARS:
        sentence = f"too long together, prompts have {MAX_PROMPT_CHARS} characters at most"
        raise InvalidParams(f"Invalid arguments for prompt {prompt.name}: {sentence}")
    described = {"description": prompt.entry["description"]} if "description" in prompt.entry else {}
    messages = [
        {"role": message.role, "content": {"type": "text", "text": expand(message.text, values)}}
        for message in prompt.messages
    ]
    return {**described, "messages": messages}


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
            prompt = find_prompt(caller, name)
            if not any(declared["name"] == argument for declared in prompt.entry.get("arguments", [])):
                raise InvalidParams(f"Invalid params: the prompt {name} has no argument {argument:.80}")
            return _completed(prompt.completions.get(argument, ()), begun)
        case {
            "ref": {"type": "ref/resource", "uri": str() as uri},
            "argument": {"name": str(), "value": str() as begun},
        }:
            if find_template(caller, uri) is None:
                raise InvalidParams(f"Unknown resource template: {uri:.200}")
            return _completed((), begun)  # only the function knows its resources
        case _:
            raise InvalidParams(f"Invalid params: {EXPECTED}")


def _completed(values: tuple[str, ...], begun: str) -> JSONObject:
    texts = {value: value.casefold() for value in values}
    longest = max(map(len, texts.values()), default=0)
    start = begun.casefold() if len(begun) <= longest else None  # folding makes no text shorter
    matches = [] if start is None else [value for value, text in texts.items() if text.startswith(start)]
    return {"completion": {"values": matches[:MAX_VALUES], "total": len(matches), "hasMore": len(matches) > MAX_VALUES}}
