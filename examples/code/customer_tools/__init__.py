"""Tools in Python for the demo's endpoint: two operations joined, a schema of one's own, and an image."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any

from stile import Context, Field, Image, Text, ToolError, Toolkit

from .chart import bar_chart

MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

Email = Annotated[str, Field(description="The customer's email address")]

kit = Toolkit(category="Customers")


@dataclass
class Summary:
    """A customer in a few numbers."""

    name: str
    city: str | None
    orders: int
    spent: Annotated[str, Field(description="US dollars, over the latest 100 orders without those called off")]
    last_order: Annotated[str | None, Field(description="Number of the latest order")]


@kit.tool(title="Customer summary", annotations={"read_only_hint": True})
async def customer_summary(email: Email, ctx: Context) -> Summary:
    """Sum up a customer: where they live, how much they ordered, and what they ordered last."""
    found = (await ctx.operation("CustomerLookup", {"email": email}))["customer"]
    if found is None:
        raise ToolError(f"There is no customer with the email address {email}.")
    listed = (await ctx.operation("ListOrders", {"email": email, "first": 100}))["customer"]["orders"]
    orders = [edge["node"] for edge in listed["edges"]]
    return Summary(
        name=found["name"],
        city=(found["address"] or {}).get("city"),
        orders=listed["totalCount"],
        spent=str(sum(Decimal(order["total"]) for order in orders if order["status"] != "CANCELLED")),
        last_order=orders[0]["number"] if orders else None,
    )


# What hints cannot say: at least one of these, and nothing else.
FIND = {
    "type": "object",
    "properties": {
        "nameContains": {"type": "string", "minLength": 2, "description": "Part of the name, in any case"},
        "city": {"type": "string", "minLength": 1},
        "state": {"type": "string", "pattern": "^[A-Z]{2}$", "description": "Two letters, such as CA"},
    },
    "minProperties": 1,
    "additionalProperties": False,
}


@kit.tool(title="Find customers", input_schema=FIND, annotations={"read_only_hint": True})
async def find_customers(arguments: dict[str, Any], ctx: Context) -> list[str]:
    """Find customers by a part of their name, their city or their state: up to 20, as "name <email>"."""
    query = "query ($filter: CustomerFilter) { customers(filter: $filter) { edges { node { name email } } } }"
    data = await ctx.graphql(query, {"filter": arguments})
    nodes = [edge["node"] for edge in data["customers"]["edges"]]
    return [f"{node['name']} <{node['email']}>" for node in nodes]


@kit.tool(title="Chart of orders", annotations={"read_only_hint": True})
async def orders_chart(email: Email, year: Annotated[int, Field(ge=2000, le=2100)], ctx: Context) -> list[Text | Image]:
    """Draw how many of a customer's latest 100 orders fell into each month of a year."""
    query = "query ($email: String!) { customer(email: $email) { orders(first: 100) { edges { node { placedAt } } } } }"
    customer = (await ctx.graphql(query, {"email": email}))["customer"]
    if customer is None:
        raise ToolError(f"There is no customer with the email address {email}.")
    placed = [edge["node"]["placedAt"] for edge in customer["orders"]["edges"]]
    counts = [sum(when.startswith(f"{year}-{month:02}-") for when in placed) for month in range(1, 13)]
    told = ", ".join(f"{name} {count}" for name, count in zip(MONTHS, counts, strict=True))
    return [Text(f"Orders in {year}: {told}"), Image(bar_chart(counts), "image/png")]
