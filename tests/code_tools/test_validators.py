from __future__ import annotations

from typing import Any

import pytest

from stile import Context, InvalidParams, McpError, Tool, ToolError, Toolkit, tool
from tests.code_tools.cases import case
from tests.code_tools.echo import Mode, client_of

JSON = dict[str, Any]


def limited(validate: Any, **options: Any) -> Any:
    """A client of a tool that shows what it got."""

    @tool(validate=validate, **options)
    def take(limit: int, mode: Mode = Mode.PLAIN) -> str:
        return f"{limit!r} {mode}"

    return client_of(take)


@case("W-001")
def test_validator_stands_for_the_schema() -> None:
    client = limited(lambda arguments: None)

    assert client.call("take", limit="many", mode="loud", other=1).text == "'many' loud"
    assert client.list_tools()[0]["inputSchema"]["properties"]["limit"] == {"type": "integer"}


@case("W-002")
def test_validator_may_rewrite_the_arguments() -> None:
    async def rewrite(arguments: JSON, ctx: Context) -> JSON:
        return {"limit": len(arguments["limits"]), "mode": ctx.headers["x-mode"]}

    @tool(validate=rewrite)
    def take(limit: int, mode: str) -> str:
        return f"{limit} {mode}"

    assert client_of(take, headers={"x-mode": "m"}).call("take", limits=[1, 2]).text == "2 m"


@case("W-003")
def test_validator_may_refuse_with_a_protocol_error_or_a_sentence() -> None:
    def refuse(arguments: JSON) -> None:
        if arguments["limit"] > 100:
            raise InvalidParams("limit must be between 1 and 100")
        if arguments["limit"] > 50:
            raise ToolError("limit is large")

    client = limited(refuse)

    with pytest.raises(McpError) as caught:
        client.call("take", limit=101)
    assert (caught.value.code, str(caught.value)) == (-32602, "limit must be between 1 and 100")
    assert client.call("take", limit=51).json == {
        "content": [{"type": "text", "text": "limit is large"}],
        "isError": True,
    }
    assert client.call("take", limit=1, mode="plain").text == "1 plain"


@case("W-004")
@pytest.mark.parametrize(
    "validate",
    [lambda arguments: arguments["secret"], lambda arguments: "secret", lambda arguments: ["secret"]],
)
def test_odd_failure_of_a_validator_is_not_told(validate: Any) -> None:
    answer = limited(validate).call("take", limit=1)

    assert answer.json == {"content": [{"type": "text", "text": "Tool execution failed"}], "isError": True}


def test_validator_before_the_schema_repairs_what_the_schema_then_judges() -> None:
    client = limited(lambda arguments: {"limit": arguments.get("max")}, validate_mode="before")

    assert client.call("take", max=3).text == "3 Mode.PLAIN"
    assert "/limit: expected integer, got null" in client.call("take").text


def test_validator_after_the_schema_sees_only_what_fits() -> None:
    seen: list[JSON] = []
    client = limited(seen.append, validate_mode="after")

    assert "/limit: expected integer" in client.call("take", limit="many").text
    assert seen == []
    assert client.call("take", limit="3", mode="loud").text == "3 Mode.LOUD"
    assert seen == [{"limit": 3, "mode": "loud"}]


def test_method_of_a_class_is_its_validator() -> None:
    class Search(Tool):
        input_schema = {"type": "object", "required": ["query"]}  # noqa: RUF012 - a constant

        def validate(self, arguments: JSON, ctx: Context) -> JSON:
            return {"query": arguments.get("q", "nothing")}

        def call(self, arguments: JSON) -> str:
            return str(arguments["query"])

    kit = Toolkit()
    kit.add(Search)

    assert client_of(Search()).call("search", q="a").text == "a"
