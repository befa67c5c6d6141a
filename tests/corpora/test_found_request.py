"""Requests at the end of a search's answer, in views of real schemas."""

from __future__ import annotations

from random import Random

import pytest

from tests.corpora.fetch import folder_of, is_fetched
from tests.corpora.sources import SOURCE_OF
from tests.graph.random_schemas import coordinates_of
from tests.graph.test_found_request import valid_requests
from tests.support.examples import examples
from tests.support.require import requires
from tests.support.schemas import schema_of_sdl, view_of


@pytest.mark.parametrize("corpus", ["github", "shopify-storefront", "vendure-admin", "dagster", "ghstack"])
def test_requests_are_valid_in_views_of_real_schemas(corpus: str) -> None:
    requires(SOURCE_OF[corpus].needs, is_fetched(corpus), f"`make corpora` fetches {corpus}")
    sdl, random = (folder_of(corpus) / "index.graphql").read_text(encoding="utf-8"), Random(corpus)
    schema = schema_of_sdl(sdl)
    coordinates = sorted(each for each in coordinates_of(schema) if not each.startswith("@"))
    requests: list[str] = []
    for count in (0, 20, 100):
        view = view_of(schema, random.sample(coordinates, count))
        requests += valid_requests(view, random.sample(coordinates, examples(600)), random)

    assert len(requests) > examples(600)
    assert sum(map(bool, requests)) > len(requests) / 2  # the others are too large, or have no way
