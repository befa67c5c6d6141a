"""The APIs of readers: GraphQL servers on loopback, one that wants a key, and one that behaves as Django's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from graphql import build_schema, graphql_sync

from tests.support.api import Api, Asked, Reply, running_api

SCHEMA = """\
type Query {
  "The newest orders."
  orders(first: Int! = 10): [Order!]!
  "One order by its number."
  order(number: String!): Order
}

type Mutation {
  "Cancel an order that was not sent yet."
  cancelOrder(number: String!): Order
}

"An order of a customer."
type Order {
  number: String!
  status: String!
}
"""
HEADER, KEY = "x-api-key", "the key of the API, 31e0"
SLASH = Reply(
    b"<h1>RuntimeError at /graphql</h1><pre>You called this URL via POST, but the URL doesn&#x27;t end in a slash and "
    b"you have APPEND_SLASH set. Django can&#x27;t redirect to the slash URL while maintaining POST data.</pre>",
    500,
    {"content-type": "text/html; charset=utf-8"},
)


@dataclass(slots=True)
class Orders:
    """An API of orders. ``key`` is wanted in a header; ``path`` is the only one that answers GraphQL."""

    key: str = ""
    path: str = "/graphql"
    status: dict[str, str] = field(default_factory=lambda: {"A-1": "open", "A-2": "open"})

    def answer(self, asked: Asked) -> Reply:
        if asked.path != self.path:
            return SLASH if f"{asked.path}/" == self.path else Reply({"detail": "Not Found"}, 404)
        if self.key and asked.headers.get(HEADER) != self.key:
            return Reply({"message": "no key"}, 401)
        root = {"orders": self._list, "order": self._one, "cancelOrder": self._cancel}
        body = asked.json
        done = graphql_sync(build_schema(SCHEMA), body["query"], root, variable_values=body.get("variables"))
        errors = {"errors": [each.formatted for each in done.errors]} if done.errors else {}
        return Reply({"data": done.data, **errors})

    def _list(self, _: Any, first: int) -> Sequence[Mapping[str, str]]:
        return [{"number": number, "status": status} for number, status in self.status.items()][:first]

    def _one(self, _: Any, number: str) -> Mapping[str, str] | None:
        return {"number": number, "status": self.status[number]} if number in self.status else None

    def _cancel(self, _: Any, number: str) -> Mapping[str, str] | None:
        self.status[number] = "cancelled"
        return self._one(_, number)


@contextmanager
def running(orders: Orders) -> Iterator[Api]:
    """Run an API on a free port."""
    with running_api(orders.answer) as api:
        yield api
