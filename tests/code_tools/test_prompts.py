from __future__ import annotations

from enum import Enum
from typing import Annotated, Any, Literal

import pytest

from handler.errors.authoring import ToolDefinitionError
from handler.errors.protocol import InvalidParams
from stile import Context, EmbeddedResource, Field, Image, InputRequired, McpError, Text, ToolError, Toolkit
from stile.testing import TestClient


def client() -> TestClient:
    kit = Toolkit()

    @kit.prompt(title="Review")
    async def review(ctx: Context, code: Annotated[str, "What to review"], style: str = "short") -> str:
        """Review some code.

        Args:
            ctx: Who asks.
            code: Not this.
            style: How to answer.
        """
        return f"Review {code}, {style}, for {ctx.headers.get('x-user')}"

    @kit.prompt("talk", description="A talk", meta={"k": 1})
    def conversation() -> list[Any]:
        return [
            {"role": "user", "content": "Hello"},
            {"role": "assistant", "content": Image(b"\x01")},
            "Go on",
            EmbeddedResource("docs://a", text="t"),
        ]

    return TestClient(kit, headers={"x-user": "ann"})


def test_prompts_are_listed_with_their_arguments() -> None:
    assert client().list_prompts() == [
        {
            "name": "review",
            "title": "Review",
            "description": "Review some code.",
            "arguments": [
                {"name": "code", "description": "What to review", "required": True},
                {"name": "style", "description": "How to answer.", "required": False},
            ],
        },
        {"name": "talk", "description": "A talk", "_meta": {"k": 1}},
    ]


def test_text_of_a_prompt_is_the_users_message() -> None:
    assert client().get_prompt("review", code="x") == {
        "description": "Review some code.",
        "messages": [{"role": "user", "content": {"type": "text", "text": "Review x, short, for ann"}}],
    }


def test_prompt_may_be_several_messages_with_roles() -> None:
    assert client().get_prompt("talk")["messages"] == [
        {"role": "user", "content": {"type": "text", "text": "Hello"}},
        {"role": "assistant", "content": {"type": "image", "data": "AQ==", "mimeType": "image/png"}},
        {"role": "user", "content": {"type": "text", "text": "Go on"}},
        {"role": "user", "content": {"type": "resource", "resource": {"uri": "docs://a", "text": "t"}}},
    ]


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("nope", {}, "Unknown prompt: nope"),
        ("review", {}, "arguments of prompt review: missing code"),
        ("review", {"code": 7}, "arguments of prompt review: expected an object of texts"),
    ],
)
def test_prompt_that_is_asked_for_wrongly_is_a_protocol_error(name: str, arguments: Any, message: str) -> None:
    with pytest.raises(McpError) as caught:
        client().get_prompt(name, **arguments)

    assert (caught.value.code, str(caught.value)) == (-32602, message)


def failing(error: Any) -> TestClient:
    kit = Toolkit()

    @kit.prompt
    def broken() -> Any:
        if isinstance(error, Exception):
            raise error
        return error

    return TestClient(kit)


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (RuntimeError("boom"), -32603, "Prompt broken failed"),
        (7, -32603, "Prompt broken failed"),
        ([{"role": "system", "content": "x"}], -32603, "Prompt broken failed"),
        (ToolError("not today"), -32603, "not today"),
        (McpError(1001, "custom"), 1001, "custom"),
    ],
)
def test_prompt_that_fails_is_a_protocol_error(error: Any, code: int, message: str) -> None:
    with pytest.raises(McpError) as caught:
        failing(error).get_prompt("broken")

    assert (caught.value.code, str(caught.value)) == (code, message)


def test_prompt_may_ask_first() -> None:
    with pytest.raises(AssertionError, match="it asks first"):
        failing(InputRequired(state=1)).get_prompt("broken")


def test_prompt_that_cannot_be_is_refused() -> None:
    kit = Toolkit()

    with pytest.raises(
        ToolDefinitionError,
        match=r"prompt count: number: expected str, a Literal or an Enum of str, because arguments of prompts",
    ):

        @kit.prompt
        def count(number: int) -> str: ...  # type: ignore[empty-body]

    with pytest.raises(ToolDefinitionError, match="prompt t: unknown option category"):
        kit.prompt("t", category="x")(lambda: "")  # type: ignore[call-overload]
    kit.prompt("t")(lambda: "")
    with pytest.raises(ToolDefinitionError, match="prompt t: the toolkit has one of this name already"):
        kit.prompt("t")(lambda: "")


class Tone(Enum):
    SHORT = "short"
    LONG = "long"


def choosing() -> Toolkit:
    kit = Toolkit()

    @kit.prompt
    def ask(
        tone: Tone,
        length: Annotated[Literal["1", "2"], Field(description="Pages")] = "1",
        style: Literal["plain"] | None = None,
        about: str = "",
    ) -> str:
        return f"{tone!r} {length} {style} {about}"

    return kit


def test_arguments_of_some_values_are_completed_with_them() -> None:
    (prompt,) = choosing().prompts

    assert prompt.completions == {"tone": ("short", "long"), "length": ("1", "2"), "style": ("plain",)}


def test_arguments_of_some_values_take_no_others() -> None:
    client = TestClient(choosing())

    text = client.get_prompt("ask", tone="long", style="plain")["messages"][0]["content"]["text"]
    with pytest.raises(InvalidParams, match=r"^arguments of prompt ask: length: expected one of 1, 2$"):
        client.get_prompt("ask", tone="long", length="3")

    assert text == "<Tone.LONG: 'long'> 1 plain "


@pytest.mark.parametrize("hint", [Literal[1], Literal["a", 1], str | int, Enum("Number", {"ONE": 1}), list[str]])
def test_argument_of_other_values_than_texts_is_refused(hint: Any) -> None:
    def ask(value: Any) -> str: ...  # type: ignore[empty-body]

    ask.__annotations__["value"] = hint

    with pytest.raises(ToolDefinitionError, match=r"^.*prompt ask: value: expected str, a Literal or an Enum of str"):
        Toolkit().prompt(ask)


def test_prompts_of_an_added_kit_are_the_kits() -> None:
    inner, outer = Toolkit(), Toolkit()

    @inner.prompt
    def ask(about: Annotated[str | None, Field(description="About what")] = None) -> Text:
        return Text(f"About {about}")

    outer.add(inner)

    assert TestClient(outer).get_prompt("ask")["messages"][0]["content"]["text"] == "About None"
