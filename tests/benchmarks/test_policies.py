from __future__ import annotations

from pathlib import Path

from benchmarks.policies import CASES, GUARDED, PLAIN, RULED, RULES, compare, publish
from benchmarks.report import RESULTS
from handler.bundle.stored import read_bundle
from handler.storage.local import FolderStorage
from tests.support.function import running_function
from tests.support.raw_http import answer, answering, running_server


def test_every_rule_is_a_condition_of_its_own_and_a_fifth_of_them_guard_the_operation(tmp_path: Path) -> None:
    bundles = publish("http://127.0.0.1:9/graphql", tmp_path)
    plain, ruled = (
        read_bundle((bundles / name / "bundle.v2.json").read_bytes(), endpoint=name) for name in (PLAIN, RULED)
    )

    assert (len(plain.conditions), len(ruled.conditions)) == (1, 1 + RULES)
    assert [len(tool.mask) for tool in ruled.tools if tool.name == "thing"] == [GUARDED]  # type: ignore[union-attr]


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
