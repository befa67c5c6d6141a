"""A schema may import ``@inaccessible`` by another name, and hides by that name then."""

from __future__ import annotations

from pathlib import Path

import pytest

from handler.policy.evaluation import HIDDEN
from tests.support.endpoints import READABLE, compiled

FEDERATION = "https://specs.apollo.dev/federation/v2.3"
LINK = "https://specs.apollo.dev/link/v1.0"
OWN = "https://specs.apollo.dev/inaccessible/v0.2"


@pytest.mark.parametrize(
    ("schema", "name"),
    [
        (f'@link(url: "{FEDERATION}", import: ["@key", "@inaccessible"])', "inaccessible"),
        (f'@link(url: "{FEDERATION}", import: ["@key", {{name: "@inaccessible", as: "@internal"}}])', "internal"),
        (f'@link(url: "{FEDERATION}", as: "fed")', "fed__inaccessible"),
        (f'@link(url: "{FEDERATION}")', "federation__inaccessible"),
        (f'@link(url: "{OWN}", as: "gone", for: SECURITY)', "gone"),
        (f'@core(feature: "{OWN}", as: "gone", for: SECURITY)', "gone"),
        (f'@link(url: "{FEDERATION}", import: {{name: "@inaccessible", as: "@internal"}})', "internal"),
        (f'@link(url: "{LINK}", as: "uses") @uses(url: "{FEDERATION}", as: "fed")', "fed__inaccessible"),
        (f'@link(url: "{LINK}", as: "uses") @uses(url: "{OWN}", as: "gone")', "gone"),
    ],
)
def test_field_that_a_renamed_directive_hides_is_hidden_from_everybody(tmp_path: Path, schema: str, name: str) -> None:
    core = "directive @core(feature: String!, as: String, for: String) repeatable on SCHEMA"
    core += "\ndirective @uses(url: String!, as: String) repeatable on SCHEMA"
    sdl = f"directive @{name} on FIELD_DEFINITION\ntype Query {{ open: Int secret: Int @{name} }}"
    files = {"index.graphql": f"extend schema {schema}\n{core}\n{sdl}", "config.yaml": READABLE}

    bundle = compiled(tmp_path, files).bundle

    assert (bundle.guards.get("Query.open"), bundle.guards.get("Query.secret")) == (None, HIDDEN)
