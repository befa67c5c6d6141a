from __future__ import annotations

import json
from pathlib import Path

from benchmarks.call import CONTEXT
from benchmarks.check import large_schema
from benchmarks.policies import CASES, GUARDED, PLAIN, RULED, RULES, compare, event_of, guarded_files, publish
from benchmarks.report import RESULTS
from handler.bundle.stored import read_bundle
from handler.compiler.compile import compile_endpoint
from handler.storage.local import FolderStorage
from tests.support.function import running_function
from tests.support.raw_http import answer, answering, running_server

HIDDEN = """
{
  shown: __type(name: "Record0") { name }
  hidden: __type(name: "Record150") { name }
  part: __type(name: "Record154") { fields { name } }
}
"""


def test_every_rule_is_a_condition_of_its_own_and_a_fifth_of_them_guard_the_operation(tmp_path: Path) -> None:
    bundles = publish("http://127.0.0.1:9/graphql", tmp_path)
    plain, ruled = (
        read_bundle((bundles / name / "bundle.v2.json").read_bytes(), endpoint=name) for name in (PLAIN, RULED)
    )

    assert (len(plain.conditions), len(ruled.conditions)) == (1, 1 + RULES)
    assert [len(tool.mask) for tool in ruled.tools if tool.name == "thing"] == [GUARDED]  # type: ignore[union-attr]


def test_rules_are_spread_over_a_schema_and_hide_types_and_fields(tmp_path: Path) -> None:
    folder = tmp_path / "policies" / "large"
    folder.mkdir(parents=True)
    for name, text in guarded_files(large_schema(300), "http://127.0.0.1:9/graphql", rules=64).items():
        (folder / name).write_text(text, encoding="utf-8")
    compiled = compile_endpoint(folder)
    storage = FolderStorage(tmp_path / "bundles")
    for key, content in compiled.objects():
        storage.write(key, content)

    assert len(compiled.bundle.conditions) == 2 + 64  # of Query and Mutation, too
    with running_function(storage=storage) as function:
        event = event_of("policies/large", "tools/call", {"name": "policies-large", "arguments": {"query": HIDDEN}})
        types = json.loads(json.loads(function.handler(event, CONTEXT)["body"])["result"]["content"][0]["text"])["data"]

    assert types["shown"] is not None  # by the first rule
    assert types["hidden"] is None  # by the 33rd
    assert "name" in str(types["part"])
    assert "note" not in str(types["part"])


def test_what_is_compared_gets_results_or_ends(tmp_path: Path) -> None:
    upstream = answering(answer(b'{"data": {"thing": null}}', content_type="application/json"))
    with running_server(upstream) as api:
        bundles = publish(api.url, tmp_path)
        with running_function(storage=FolderStorage(bundles)) as function:
            found = compare(function.handler, calls=1, others=True)

    assert found.keys() == CASES.keys()
    assert all(plain > 0 and ruled > 0 for plain, ruled in found.values())


def test_results_are_of_these_cases() -> None:
    results = (RESULTS / "policies.md").read_text(encoding="utf-8")

    for case in CASES:
        assert f"| {case} | the same | " in results
        assert f"| {case} | another each time | " in results
