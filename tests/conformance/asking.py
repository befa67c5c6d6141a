"""The part of the suite's tools, and its prompt, that ask their client's user first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stile import Context, Elicit, InputRequired, Toolkit

asking = Toolkit()

Answer = str | InputRequired

Question = Elicit | Mapping[str, Any]

ROOTS: Mapping[str, Any] = {"method": "roots/list", "params": {}}


def text_question(message: str, name: str) -> Elicit:
    schema = {"type": "object", "properties": {name: {"type": "string"}}, "required": [name]}
    return Elicit(message, schema)


def _confirmation() -> Elicit:
    return Elicit("Please confirm", {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]})


def _sampling(question: str, *, max_tokens: int) -> Mapping[str, Any]:
    messages = [{"role": "user", "content": {"type": "text", "text": question}}]
    return {"method": "sampling/createMessage", "params": {"messages": messages, "maxTokens": max_tokens}}


def content_of(ctx: Context, key: str) -> Mapping[str, Any]:
    """What a form was filled with; nothing where it was not."""
    match ctx.input_responses.get(key):
        case {"action": "accept", "content": dict(content)}:
            return content
    return {}


@asking.tool
def test_input_required_result_elicitation(ctx: Context) -> Answer:
    """Ask for a name."""
    name = content_of(ctx, "user_name").get("name")
    return f"Hello, {name}!" if name else InputRequired({"user_name": text_question("What is your name?", "name")})


@asking.tool
def test_streaming_elicitation(ctx: Context) -> Answer:
    """Ask for a name."""
    return test_input_required_result_elicitation(ctx)


@asking.tool
def test_input_required_result_sampling(ctx: Context) -> Answer:
    """Ask the client's model."""
    answer = ctx.input_responses.get("capital_question")
    if answer:
        return str(answer["content"])
    return InputRequired({"capital_question": _sampling("What is the capital of France?", max_tokens=100)})


@asking.tool
def test_missing_capability(ctx: Context) -> Answer:
    """Ask the client's model, whether it has one or not."""
    return InputRequired({"question": _sampling("Is there anybody?", max_tokens=10)})


@asking.tool
def test_input_required_result_list_roots(ctx: Context) -> Answer:
    """Ask for the client's roots."""
    roots = ctx.input_responses.get("client_roots")
    return str(roots["roots"]) if roots else InputRequired({"client_roots": ROOTS})


@asking.tool
def test_input_required_result_request_state(ctx: Context) -> Answer:
    """Ask, and remember something until the answer comes."""
    if ctx.request_state == "remembered" and content_of(ctx, "confirm"):
        return "state-ok"
    return InputRequired({"confirm": _confirmation()}, state="remembered")


@asking.tool
def test_input_required_result_tampered_state(ctx: Context) -> Answer:
    """Ask, and remember something until the answer comes."""
    return test_input_required_result_request_state(ctx)


@asking.tool
def test_input_required_result_multiple_inputs(ctx: Context) -> Answer:
    """Ask three things at once."""
    if {"user_name", "greeting", "client_roots"} <= set(ctx.input_responses):
        return f"All of {ctx.request_state}"
    requests: Mapping[str, Question] = {
        "user_name": text_question("What is your name?", "name"),
        "greeting": _sampling("Generate a greeting", max_tokens=50),
        "client_roots": ROOTS,
    }
    return InputRequired(requests, state="three")


@asking.tool
def test_input_required_result_multi_round(ctx: Context) -> Answer:
    """Ask one thing, and then another one."""
    match ctx.request_state:
        case {"name": name} if content_of(ctx, "step2"):
            return f"{name} likes {content_of(ctx, 'step2')['color']}"
        case {"step": 1} if content_of(ctx, "step1"):
            name = content_of(ctx, "step1")["name"]
            return InputRequired(
                {"step2": text_question("Step 2: What is your favorite color?", "color")}, state={"name": name}
            )
    return InputRequired({"step1": text_question("Step 1: What is your name?", "name")}, state={"step": 1})


@asking.tool
def test_input_required_result_capabilities(ctx: Context) -> Answer:
    """Ask what the client can be asked."""
    if ctx.input_responses:
        return "answered"
    possible: Mapping[str, Question] = {
        "elicitation": text_question("What is your name?", "name"),
        "sampling": _sampling("What is the capital of France?", max_tokens=100),
    }
    return InputRequired({name: each for name, each in possible.items() if name in ctx.client_capabilities})


@asking.prompt
def test_input_required_result_prompt(ctx: Context) -> Answer:
    """Ask what the prompt is about."""
    context = content_of(ctx, "user_context").get("context")
    if not context:
        return InputRequired({"user_context": text_question("What context should the prompt use?", "context")})
    return f"Use this context: {context}"
