"""Searches of an endpoint's views: one for each outcome of conditions, in bounds."""

from __future__ import annotations

from pathlib import Path

import pytest

from handler.policy.evaluation import Evaluation
from handler.server.auth.principal import Principal
from handler.server.endpoints.endpoint import Endpoint
from handler.server.endpoints.schema_views import MAX_SEARCHES
from handler.storage.local import FolderStorage
from tests.support.endpoints import compiled
from tests.support.function import store

SDL = "type Query { orders: [Order!]! } type Order { total: Int margin: Int }"

CONFIG = """
access:
  anonymous: allow
  policies:
    - {type: Query, policyDefault: {condition: true}}
    - type: Order
      policyDefault: {condition: true}
      rules: [{condition: '$jwt.roles:String has "staff"', fields: [margin]}]
"""


@pytest.fixture
def endpoint(tmp_path: Path, folder_storage: FolderStorage) -> Endpoint:
    rules = "".join(f"{{condition: '$jwt.can:String has \"{n}\"', fields: [f{n}]}}, " for n in range(MAX_SEARCHES + 2))
    fields = " ".join(f"f{n}: Int" for n in range(MAX_SEARCHES + 2))
    made = compiled(
        tmp_path,
        {
            "index.graphql": SDL.replace("margin", f"{fields} margin"),
            "config.yaml": CONFIG.replace("rules: [", f"rules: [{rules}"),
        },
    )
    store(folder_storage, made)
    return Endpoint(made.bundle, folder_storage, stored_bytes=20_000)


def caller(endpoint: Endpoint, **claims: object) -> Evaluation:
    return endpoint.evaluation_of(Principal(kind="jwt", name="somebody", claims=claims))


def found(endpoint: Endpoint, evaluation: Evaluation) -> list[str]:
    return [match.coordinate for match in endpoint.schema.search(None, evaluation).search("margin", 5)]


def test_a_search_answers_from_the_callers_view(endpoint: Endpoint) -> None:
    assert found(endpoint, caller(endpoint, roles=["staff"])) == ["Order.margin", "Order"]
    assert found(endpoint, caller(endpoint, roles=["buyer"])) == []


def test_callers_of_one_outcome_share_a_search(endpoint: Endpoint) -> None:
    one, other = (endpoint.schema.search(None, caller(endpoint, roles=["staff"], sub=sub)) for sub in "ab")

    assert one is other
    assert one is not endpoint.schema.search(None, caller(endpoint, roles=[]))


def test_words_of_questions_count_as_memory_of_the_endpoint(endpoint: Endpoint) -> None:
    search = endpoint.schema.search(None, caller(endpoint, roles=[]))
    before = endpoint.cost_bytes
    search.search("orders of a customer", 5)

    assert endpoint.cost_bytes == before + search.kept_bytes > before


def test_searches_are_cached_in_bounds(endpoint: Endpoint) -> None:
    first = endpoint.schema.search(None, caller(endpoint, can=["0"]))
    for number in range(1, MAX_SEARCHES + 1):
        endpoint.schema.search(None, caller(endpoint, can=[str(number)]))

    assert endpoint.schema.search(None, caller(endpoint, can=["0"])) is not first
