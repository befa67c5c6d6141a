"""Tools in Python whose arguments and results have the kinds that GraphQL lacks."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal

from pydantic import BaseModel

from stile import Context, Field, Text, ToolError, Toolkit

kit = Toolkit(category="Python")


class Card(BaseModel):
    """A card."""

    kind: Literal["card"]
    number: Annotated[str, Field(min_length=4, description="The digits on the card")]


class Transfer(BaseModel):
    """A transfer between banks."""

    kind: Literal["transfer"]
    iban: str
    on: date | None = None


class Choices(BaseModel):
    """What a customer chose."""

    colours: list[Literal["red", "green"]]
    sizes: dict[str, int]
    pair: tuple[int, str]


@kit.tool(title="Pay", annotations={"read_only_hint": True})
async def pay(
    by: Annotated[Card | Transfer, Field(discriminator="kind")],
    amount: Annotated[int | float | str, Field(description="A number, or a text such as 12.50")],
    note: str | None = None,
) -> dict[str, Any]:
    """Say how a payment would be made."""
    return {"by": by.model_dump(mode="json"), "amount": amount, "note": note}


@kit.tool(title="Choose", annotations={"read_only_hint": True})
async def choose(choices: Choices, anything: Any = None) -> dict[str, Any]:
    """Repeat what was chosen."""
    return {"choices": choices.model_dump(mode="json"), "anything": anything}


@kit.tool(title="Fail", annotations={"read_only_hint": True})
async def fail(how: Literal["told", "unexpected"]) -> str:
    """Fail in one of two ways."""
    if how == "told":
        raise ToolError("There is nothing to say about <b>this</b>.")
    raise RuntimeError("a detail of the machine")


@kit.tool(title="Two blocks", annotations={"read_only_hint": True})
async def two_blocks(ctx: Context) -> list[Text]:
    """Answer with two texts."""
    return [Text("the first"), Text("the <i>second</i>")]
