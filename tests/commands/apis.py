"""GraphQL APIs of a few lines on loopback, with the manners of servers in use."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from graphql import GraphQLSchema, build_schema, graphql_sync

from tests.support.api import Api, Asked, Reply, running_api

SHOP = '''
"""Shops and what they sell."""
schema { query: Query mutation: Mutation }

type Query {
  "Products of the shop, newest first."
  products("How many." first: Int = 20, after: String, colour: Colour): ProductConnection!
  "One product."
  product(id: ID!): Product
  orders(limit: Int): [Order!]!
  login(name: String!, password: String!): String
  sessionToken: String
  me: Customer
  oldProducts(first: Int): [Product!]! @deprecated(reason: "Use products")
  search(query: SearchInput!): [Product!]!
  version: String!
}

type Mutation { buy(product: ID!): Order }

type ProductConnection { nodes: [Product!]! pageInfo: PageInfo! totalCount: Int! }
type PageInfo { hasNextPage: Boolean! endCursor: String }
type Product {
  name: String! id: ID! price: Float! colour: Colour secretKey: String data: JSON tags: [String!]! maker: Maker
}
type Maker { id: ID! name: String! }
type Order { id: ID! total: Float! placedAt: DateTime! customer: Customer! }
type Customer { id: ID! email: String! passwordHash: String! }
enum Colour { RED GREEN }
input SearchInput { text: String! }
scalar JSON
scalar DateTime
'''

Answer = Callable[[Asked], Reply]


def answering(sdl: str = SHOP, *, refused: tuple[str, ...] = (), status: int = 400) -> Answer:
    """An API with this schema. It refuses each request that names one of the ``refused`` words."""
    schema = build_schema(sdl)

    def answer(asked: Asked) -> Reply:
        query = asked.json["query"]
        word = next((word for word in refused if word in query), "")
        if word:
            return Reply({"errors": [{"message": f"{word} is not allowed"}]}, status)
        return Reply(graphql_sync(schema, query).formatted)

    return answer


def subgraph(sdl: str, schema: str, *, introspection: bool = True) -> Answer:
    """A subgraph with this SDL, whose API has this schema."""
    built: GraphQLSchema = build_schema(
        f"{schema}\nextend type Query {{ _service: _Service! }} type _Service {{ sdl: String }}"
    )

    def answer(asked: Asked) -> Reply:
        query = asked.json["query"]
        if "_service" in query:
            return Reply({"data": {"_service": {"sdl": sdl}}})
        if not introspection:
            return Reply({"errors": [{"message": "introspection is off"}]})
        return Reply(graphql_sync(built, query).formatted)

    return answer


@contextmanager
def running_shop(sdl: str = SHOP) -> Iterator[Api]:
    """The shop's API."""
    with running_api(answering(sdl)) as api:
        yield api
