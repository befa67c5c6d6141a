import enum

import shop
import strawberry
from shop import CUT, MAX_DEPTH, fail, pay, serve
from strawberry.asgi import GraphQL
from strawberry.extensions import QueryDepthLimiter


@strawberry.type
class Node:
    @strawberry.field
    def child(self) -> "Node | None":
        return Node()

    @strawberry.field
    def name(self) -> str | None:
        return "leaf"


def api(variant: str) -> GraphQL:
    changed = variant == "changed"
    values = ["RED", *([] if changed else ["GREEN"]), *(["PURPLE"] if variant == "enum" else [])]
    hue = strawberry.enum(enum.Enum("Color", {value: value for value in values}), name="Color")

    size = strawberry.input(
        type(
            "Size",
            (),
            {
                "__annotations__": {"width": int | None, **({} if changed else {"depth": int | None})},
                "width": None,
                "depth": None,
            },
        )
    )

    def resolve_paint(
        color: hue | None = None, size: size | None = None, mode: (int if changed else str) | None = None
    ) -> int:
        return 1

    def resolve_receipt(payment: int | None = None) -> hue | None:
        return hue("RED")

    def resolve_coat() -> int:
        return 1

    def coat_in_layers(layers: int) -> int:
        return 1

    @strawberry.type
    class Order:
        id: int

    @strawberry.type
    class Query:
        fails: str | None = strawberry.field(resolver=lambda: fail(variant))
        fails_hard: str = strawberry.field(resolver=lambda: fail(variant))
        total: int | None = strawberry.field(resolver=lambda: 3, name="sum" if variant == "renamed" else "total")
        color: hue | None = strawberry.field(resolver=lambda: hue(values[-1] if variant == "enum" else "RED"))
        cut: str | None = strawberry.field(resolver=lambda: CUT)
        node: Node | None = strawberry.field(resolver=Node)
        paid: int | None = strawberry.field(resolver=lambda: shop.paid)
        receipt: hue | None = strawberry.field(resolver=resolve_receipt)
        paint: int | None = strawberry.field(resolver=resolve_paint)
        coat: int | None = strawberry.field(resolver=coat_in_layers if changed else resolve_coat)

    @strawberry.type
    class Mutation:
        @strawberry.mutation
        async def pay(self) -> int | None:
            return await pay(variant)

        @strawberry.mutation
        async def order(self) -> Order | None:
            await pay(variant)
            return Order(id=None)

    extensions = [QueryDepthLimiter(max_depth=MAX_DEPTH)] if variant == "limited" else []
    return GraphQL(strawberry.Schema(Query, Mutation, extensions=extensions))


serve(api)
