"""Graphene, which has no server of its own, behind the few lines that its documents give for one."""

import graphene
import shop
from graphene.validation import depth_limit_validator
from graphql import parse, validate
from shop import CUT, MAX_DEPTH, fail, pay, serve
from starlette.requests import Request
from starlette.responses import JSONResponse


def schema_of(variant: str) -> graphene.Schema:
    changed = variant == "changed"
    values = {
        "RED": "RED",
        **({} if changed else {"GREEN": "GREEN"}),
        **({"PURPLE": "PURPLE"} if variant == "enum" else {}),
    }
    color = graphene.Enum("Color", list(values.items()))

    class Node(graphene.ObjectType):
        child = graphene.Field(lambda: Node, resolver=lambda *_: Node())
        name = graphene.String(resolver=lambda *_: "leaf")

    class Order(graphene.ObjectType):
        id = graphene.Int(required=True)

    class Size(graphene.InputObjectType):
        width = graphene.Int()
        if not changed:
            depth = graphene.Int()

    class Query(graphene.ObjectType):
        fails = graphene.String(resolver=lambda *_: fail(variant))
        fails_hard = graphene.NonNull(graphene.String, resolver=lambda *_: fail(variant))
        total = graphene.Int(name="sum" if variant == "renamed" else "total", resolver=lambda *_: 3)
        color_ = graphene.Field(color, name="color", resolver=lambda *_: "PURPLE" if variant == "enum" else "RED")
        cut = graphene.String(resolver=lambda *_: CUT)
        node = graphene.Field(Node, resolver=lambda *_: Node())
        paid = graphene.Int(resolver=lambda *_: shop.paid)
        receipt = graphene.Field(color, payment=graphene.Int(), resolver=lambda *_, **__: "RED")
        paint = graphene.Int(
            color=color(),
            size=Size(),
            mode=graphene.Int() if changed else graphene.String(),
            resolver=lambda *_, **__: 1,
        )
        coat = graphene.Int(**({"layers": graphene.Int(required=True)} if changed else {}), resolver=lambda *_, **__: 1)

    async def resolve_pay(*_: object) -> int:
        return await pay(variant)

    async def resolve_order(*_: object) -> Order:
        await pay(variant)
        return Order(id=None)

    class Mutation(graphene.ObjectType):
        pay = graphene.Int(resolver=resolve_pay)
        order = graphene.Field(Order, resolver=resolve_order)

    return graphene.Schema(query=Query, mutation=Mutation)


def api(variant: str):
    schema = schema_of(variant)
    rules = [depth_limit_validator(max_depth=MAX_DEPTH)] if variant == "limited" else []

    async def answer(scope, receive, send) -> None:
        sent = await Request(scope, receive).json()
        errors = validate(schema.graphql_schema, parse(sent["query"]), rules) if rules else []
        if errors:
            body = {"errors": [error.formatted for error in errors]}
        else:
            body = (await schema.execute_async(sent["query"], variable_values=sent.get("variables"))).formatted
        await JSONResponse(body, status_code=200 if "data" in body else 400)(scope, receive, send)

    return answer


serve(api)
