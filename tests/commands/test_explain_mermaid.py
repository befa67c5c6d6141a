"""`stile explain --field X --mermaid`: callers, ways and rules as a Mermaid flowchart."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.commands.running import Stile
from tests.support.endpoints import write_endpoint

INDEX = """
schema @tool(name: "staff", graphql: [{expose: true, types: "Query|Employee", fields: ".*"}]) { query: Query }
type Query { employees: [Employee!]! }
type Employee { name: String salary: Int }
"""
CONFIG = """\
access:
  policies:
    - type: Query
      policyDefault: {condition: true}
    - type: Employee
      policyDefault: {condition: true}
      rules:
        - {condition: '$jwt.role:String == "hr"', fields: [salary]}
"""
NODE = re.compile(r'  (\w+)\["([^"]*)"\]')
LINE = re.compile(r'  (\w+) (-->|-\.-x)\|"([^"]*)"\| (\w+)')


@pytest.fixture
def folder(workplace: Path) -> str:
    write_endpoint(workplace, {"index.graphql": INDEX, "config.yaml": CONFIG})
    return "api/things"


def test_open_callers_have_a_way_and_closed_ones_the_rule(folder: str, stile: Stile) -> None:
    result = stile("explain", folder, "--field", "Employee.salary", "--mermaid")

    head, *lines = result.out.splitlines()
    nodes = {found[1]: found[2] for line in lines if (found := NODE.fullmatch(line))}
    arrows = {nodes[found[1]]: (found[2], found[3]) for line in lines if (found := LINE.fullmatch(line))}
    assert (result.code, head) == (0, "flowchart LR")
    assert len(lines) == len(nodes) + len(arrows)
    assert arrows["token {#34;role#34;: #34;hr#34;}"] == ("-->", "staff: { employees { salary } }")
    arrow, rule = arrows["anonymous"]
    assert arrow == "-.-x"
    assert rule.startswith("api/things/config.yaml:8: ")


def test_hostile_texts_stay_inside_their_quotes(folder: str, workplace: Path, stile: Stile) -> None:
    hostile = 'a"] --> b#quot; & \u202e\x01<script>'
    claims = workplace / f"{hostile}.json"
    claims.write_text("{}", encoding="utf-8")
    rule = "condition: '$jwt.x:String == \"</style>`<script>\"'"
    (workplace / folder / "config.yaml").write_text(CONFIG.replace("condition: '$jwt.role:String == \"hr\"'", rule))

    result = stile("explain", folder, "--field", "Employee.salary", "--mermaid", "--as", claims.name)

    _, *lines = result.out.splitlines()
    assert [line for line in lines if not NODE.fullmatch(line) and not LINE.fullmatch(line)] == []
    texts = [text for line in lines for text in re.findall(r'"([^"]*)"', line)]
    assert [text for text in texts if set(text) & set("<>`") or not text.isprintable()] == []
    assert any("a#34;] --#62; b#35;quot; #38; " in text for text in texts)


@pytest.mark.parametrize("options", [["--mermaid"], ["--mermaid", "--field", "Employee", "--json"]])
def test_flowchart_is_of_a_field_and_not_json(folder: str, stile: Stile, options: list[str]) -> None:
    result = stile("explain", folder, *options)

    assert result.code == 2
    assert "--mermaid: expected --field" in result.err
