import shop
from ariadne import MutationType, QueryType, make_executable_schema
from ariadne.asgi import GraphQL
from ariadne.validation import cost_validator
from shop import CUT, MAX_DEPTH, fail, pay, serve


def api(variant: str) -> GraphQL:
    changed = variant == "changed"
    total = "sum" if variant == "renamed" else "total"
    sdl = f"""
        type Query {{
            fails: String failsHard: String! {total}: Int color: Color cut: String node: Node paid: Int
            receipt(payment: Int): Color
            paint(color: Color, size: Size, mode: {"Int" if changed else "String"}): Int
            coat{"(layers: Int!)" if changed else ""}: Int
        }}
        type Mutation {{ pay: Int order: Order }}
        type Order {{ id: Int! }}
        input Size {{ width: Int {"" if changed else "depth: Int"} }}
        type Node {{ child: Node name: String }}
        enum Color {{ RED {"" if changed else "GREEN"} {"PURPLE" if variant == "enum" else ""} }}
    """
    query, mutation = QueryType(), MutationType()
    query.set_field("fails", lambda *_: fail(variant))
    query.set_field("failsHard", lambda *_: fail(variant))
    query.set_field(total, lambda *_: 3)
    query.set_field("color", lambda *_: "PURPLE" if variant == "enum" else "RED")
    query.set_field("cut", lambda *_: CUT)
    query.set_field("node", lambda *_: {"child": {"child": {"child": {"name": "leaf"}}}})
    query.set_field("paid", lambda *_: shop.paid)
    query.set_field("receipt", lambda *_, **__: "RED")

    @mutation.field("pay")
    async def resolve_pay(*_: object) -> int:
        return await pay(variant)

    @mutation.field("order")
    async def resolve_order(*_: object) -> dict[str, None]:
        await pay(variant)
        return {"id": None}

    # Ariadne limits what a request costs, and not how deep it is.
    costs = {"Query": {"node": {"complexity": MAX_DEPTH + 1}}}
    rules = [cost_validator(maximum_cost=MAX_DEPTH, cost_map=costs)] if variant == "limited" else None
    return GraphQL(make_executable_schema(sdl, query, mutation), validation_rules=rules)


serve(api)
