"""Input schemas within a budget: which types are written out, and that nothing wrong is said."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from handler.bundle.listed_entry import ListedEntries, listed_entry
from handler.bundle.tools import PrescribedTool
from handler.compiler.config.table import LIMITS
from handler.json_schema.shortening import schema_bytes
from handler.policy.evaluation import OPEN
from handler.policy.guarded_schema import GuardedSchemas
from handler.strict_json import JSONObject
from tests.compiler.advertised.cases import try_random
from tests.compiler.advertised.judged import Found, leads_to_itself
from tests.support.endpoints import READABLE, compiled, prescribed_tool
from tests.support.examples import examples


def fields(count: int, type_: str = "String", *, prefix: str = "f", described: bool = True) -> str:
    text = '"what it compares, and with what"' if described else ""
    return " ".join(f"{text} {prefix}{number}: {type_}" for number in range(count))


def tool_with(
    folder: Path, sdl: str, variables: str, *, limits: str, files: Mapping[str, str] = MappingProxyType({})
) -> PrescribedTool:
    """The tool of an operation that takes these variables, each as an argument of its own."""
    names = [each.split(":")[0].strip(" $") for each in variables.split(",")]
    arguments = ", ".join(each.strip(" $") for each in variables.split(","))
    made = compiled(
        folder,
        {
            "index.graphql": f"type Query {{ a({arguments}): Int }}\n{sdl}",
            "operations/o.graphql": f"query O({variables}) @mcpTool {{ a({', '.join(f'{n}: ${n}' for n in names)}) }}",
            "config.yaml": f"{READABLE}limits: {{{limits}}}\n",
            **files,
        },
    )
    return prescribed_tool(made, "O")


def input_of(folder: Path, sdl: str, variables: str, limits: str, **files: str) -> Any:
    return tool_with(folder, sdl, variables, limits=limits, files=files).entry["inputSchema"]


TWICE = f"input Range {{ {fields(2)} }} input Filter {{ one: Range two: Range }}"


def test_schema_has_no_references_if_it_fits_without(tmp_path: Path) -> None:
    inlined, tight, whole, referring = (
        input_of(tmp_path / str(number), TWICE, "$f: Filter", limits)
        for number, limits in enumerate(("", "max_schema_bytes: 380", "max_schema_bytes: 0", "recursion: ref"))
    )

    of_range = whole["$defs"]["Range"]
    assert of_range["properties"]["f0"]["description"] == "what it compares, and with what"
    assert "$defs" not in inlined
    assert inlined["properties"]["f"]["properties"] == {"one": of_range, "two": of_range}
    assert tight == referring == whole  # inlined, it would lose descriptions


def test_only_further_copies_are_lost_by_inlining(tmp_path: Path) -> None:
    sdl = f"input Range {{ {fields(4)} }} input Filter {{ {fields(4, 'Range')} not: Filter all: [Filter] }}"

    made = {
        size: input_of(tmp_path / str(size), sdl, "$f: Filter", f"max_schema_bytes: {size}") for size in (900, 6_000)
    }

    assert made[900]["$defs"]["Range"]["properties"]["f3"]
    below = made[6_000]["properties"]["f"]["properties"]
    assert "$defs" not in made[6_000]
    assert below["f0"]["properties"]["f0"] == {"type": "string", "description": "what it compares, and with what"}
    assert below["not"] == {
        "type": "object",
        "properties": {"f0": {"type": "object", "properties": below["f0"]["properties"]}},
        "additionalProperties": True,
        "description": "Filter, as f",
    }


def test_choice_in_a_choice_is_one_choice_with_its_description(tmp_path: Path) -> None:
    made = input_of(tmp_path, '"free text" scalar Any', "$x: Any, $y: Any", "")

    assert [set(each) for each in made["properties"].values()] == [{"anyOf", "description"}] * 2
    assert all(set(each) == {"type"} for each in made["properties"]["x"]["anyOf"][:4])
    assert made["properties"]["x"]["anyOf"][-1] == {"type": "null"}


def test_descriptions_inside_types_go_before_types_and_come_back_as_far_as_they_fit(tmp_path: Path) -> None:
    sdl = f"input Inner {{ {fields(10)} }} input Filter {{ {fields(10)} inner: Inner }}"

    whole, less, least = (
        input_of(tmp_path / str(size), sdl, "$f: Filter", f"max_schema_bytes: {size}") for size in (0, 1_300, 900)
    )

    assert "description" in whole["properties"]["f"]["properties"]["inner"]["properties"]["f0"]
    assert "description" in less["properties"]["f"]["properties"]["f0"]
    assert less["properties"]["f"]["properties"]["inner"]["properties"]["f0"] == {"type": "string"}
    assert least["properties"]["f"]["properties"]["f0"] == {"type": "string"}
    assert len(least["properties"]["f"]["properties"]["inner"]["properties"]) == 10


def test_types_are_written_out_level_by_level(tmp_path: Path) -> None:
    sdl = f"""
        input Deep {{ {fields(10, prefix="deep")} }}
        input Near {{ deep: Deep {fields(10, prefix="near")} }}
        input Other {{ {fields(10, prefix="other")} }}
    """

    made = input_of(tmp_path, sdl, "$near: Near, $other: Other", "max_schema_bytes: 900")

    assert "near9" in made["properties"]["near"]["properties"]
    assert "other9" in made["properties"]["other"]["properties"]
    assert made["properties"]["near"]["properties"]["deep"] == {
        "type": "object",
        "properties": {"deep0": {"type": "string"}, "deep1": {"type": "string"}},
        "additionalProperties": True,
        "description": "Deep, also with deep2, deep3, deep4, deep5, deep6, deep7 and 2 more",
    }


def test_open_object_lists_required_members_first_and_types_that_are_written_out(tmp_path: Path) -> None:
    sdl = f"""
        input Range {{ least: Int }}
        input Wide {{ {fields(80)} unknown: Deep range: Range! needed: String! }}
        input Deep {{ {fields(40)} }}
        input In {{ range: Range! wide: Wide }}
    """

    made = input_of(tmp_path, sdl, "$in: In", "max_schema_bytes: 1500")

    wide = made["properties"]["in"]["properties"]["wide"]
    assert list(wide["properties"])[:2] == ["range", "needed"]
    assert wide["required"] == ["range", "needed"]
    assert wide["properties"]["range"]["properties"] == {"least": {"type": "integer"}}
    assert "unknown" not in wide["properties"]
    assert wide["description"].startswith("Wide, also with f")
    assert schema_bytes(made) <= 1_500


@pytest.mark.parametrize(
    ("written_out", "left"), [("required: {0}!", "optional: {1}"), ('"described" said: {0}', "unsaid: {1}")]
)
def test_required_members_go_before_optional_ones_and_described_before_others(
    tmp_path: Path, written_out: str, left: str
) -> None:
    names = "First", "Second"
    sdl = "\n".join(f"input {name} {{ {fields(12)} }}" for name in names)
    first, second = written_out.format(*names), left.format(*names)

    made = input_of(tmp_path, f"{sdl} input In {{ {second} {first} }}", "$in: In", "max_schema_bytes: 700")

    properties = made["properties"]["in"]["properties"]
    assert ["additionalProperties" in each for each in properties.values()] == [True, False]


def levels_of(schema: JSONObject) -> list[JSONObject]:
    levels = [schema["properties"]["f"]]
    while "not" in levels[-1].get("properties", {}):
        levels.append(levels[-1]["properties"]["not"])
    return levels


def test_recursion_is_written_out_as_copies_and_ends_in_an_open_object(tmp_path: Path) -> None:
    sdl = "input Filter { name: String not: Filter }"

    short, long = (input_of(tmp_path, sdl, "$f: Filter", f"max_schema_bytes: {size}") for size in (1_000, 6_000))

    assert [len(levels_of(made)) for made in (short, long)] == [4, 7]
    assert levels_of(long)[-1] == {
        "type": "object",
        "properties": {"name": {"type": "string"}},
        "additionalProperties": True,
        "description": "Filter, as f",
    }


@pytest.mark.parametrize("limits", ["max_schema_bytes: 0", "recursion: ref", "recursion: ref, max_schema_bytes: 500"])
def test_reference_leads_to_itself_if_that_is_asked_for(tmp_path: Path, limits: str) -> None:
    made = input_of(tmp_path, "input Filter { name: String not: Filter }", "$f: Filter", limits)

    assert made["properties"]["f"] == {"$ref": "#/$defs/Filter"}
    assert made["$defs"]["Filter"]["properties"]["not"] == {"$ref": "#/$defs/Filter"}


def test_long_enums_are_any_text_where_they_do_not_fit(tmp_path: Path) -> None:
    sdl = f"enum Country {{ {' '.join(f'COUNTRY_{number}' for number in range(100))} }}"

    made = input_of(tmp_path, sdl, "$c: Country!", "max_schema_bytes: 500")

    assert made["properties"]["c"]["type"] == "string"
    assert made["properties"]["c"]["description"].startswith("Country with COUNTRY_0, COUNTRY_1")
    assert made["required"] == ["c"]


def test_descriptions_of_arguments_go_last(tmp_path: Path) -> None:
    sdl = f"input Filter {{ {fields(30)} }}"
    variables = f'$f: Filter @mcpToolArg(description: "{"long " * 200}")'
    files = {
        "index.graphql": f"type Query {{ a(f: Filter): Int }}\n{sdl}",
        "operations/o.graphql": f"query O({variables}) @mcpTool {{ a(f: $f) }}",
    }

    made = [
        prescribed_tool(
            compiled(tmp_path, {**files, "config.yaml": f"limits: {{max_schema_bytes: {size}}}"}), "O"
        ).entry["inputSchema"]["properties"]["f"]
        for size in (1_300, 500)
    ]

    assert [each["additionalProperties"] for each in made] == [True, True]
    assert made[0]["description"].startswith("long long")
    assert made[1]["description"].startswith("Filter, also with f1")


ASK = 'extend schema @tool(name: "ask", graphql: {{expose: true, types: "Query", fields: "{}"}} {})'


def line_beside(folder: Path, directive: str, *, config: str = "", sdl: str = "") -> str:
    wide = f"input Wide {{ {fields(40)} }} input Filter {{ name: String wide: Wide }}"
    files = {
        "index.graphql": f"{directive} type Query {{ a(f: Filter): Int b: Int }}\n{wide}\n{sdl}",
        "operations/o.graphql": "query O($f: Filter) @mcpTool { a(f: $f) }",
        "config.yaml": f"{READABLE}limits: {{max_schema_bytes: 500}}\n{config}",
    }
    found = prescribed_tool(compiled(folder, files), "O").entry["inputSchema"]["properties"]["f"]["properties"]["wide"]
    return str(found["description"])


def test_open_object_says_how_to_see_its_type_if_every_caller_can(tmp_path: Path) -> None:
    large = "\n".join(f"type T{n} {{ {fields(60)} }} extend type Query {{ t{n}: T{n} }}" for n in range(10))
    members = "Wide, also with f2, f3, f4, f5, f6, f7 and 32 more"

    assert line_beside(tmp_path / "1", "") == members
    assert line_beside(tmp_path / "2", ASK.format(".*", "")) == f"{members}: see __definitions in ask"
    assert line_beside(tmp_path / "3", ASK.format(".*", ""), sdl=large) == f"{members}: see ask-describe"
    assert line_beside(tmp_path / "4", ASK.format("b", "")) == members
    assert line_beside(tmp_path / "5", ASK.format(".*", "hidden: true")) == members
    assert line_beside(tmp_path / "6", ASK.format(".*", 'condition: "?$jwt"')) == members
    assert line_beside(tmp_path / "7", ASK.format(".*", 'scopes: ["a"]')) == members
    assert (
        line_beside(tmp_path / "8", "", config="catalog: true\n") == f"{members}: see catalog, by the name of this tool"
    )


def test_enforced_schema_stays_complete(tmp_path: Path) -> None:
    sdl = f"input Deep {{ {fields(60)} }} input Filter {{ deep: Deep }}"

    made = [tool_with(tmp_path, sdl, "$f: Filter", limits=f"max_schema_bytes: {size}") for size in (0, 500)]

    assert made[0].arguments == made[1].arguments
    assert schema_bytes(made[1].entry["inputSchema"]) < 500 < schema_bytes(made[0].entry["inputSchema"])


GUARDED = """
type Query { a(f: Filter): [Thing] }
type Thing { name: String price: Int rows: [Thing] }
input Filter { name: String %s rows: RowFilter other: Other }
input RowFilter { name: String %s not: Filter }
input Other { %s }
%s
"""
SECRET = "price: PriceFilter"
SECRET_TYPE = f"input PriceFilter {{ {fields(20)} not: PriceFilter rows: RowFilter }}"
RULE = "{type: Thing, policyDefault: {condition: true}, rules: [{condition: '?$jwt', fields: [price]}]}"


def guarded_tool(folder: Path, max_bytes: int, *, secret: str, secret_type: str) -> PrescribedTool:
    config = READABLE.replace("]}", f", {RULE}]}}") if secret else READABLE
    sdl = GUARDED % (secret, secret, fields(12), secret_type)
    files = {
        "index.graphql": sdl if secret else sdl.replace(" price: Int", ""),
        "operations/o.graphql": "query O($f: Filter) @mcpTool { a(f: $f) { name } }",
        "config.yaml": f"{config.replace('access: {', 'access: {anonymous: allow, ')}limits: "
        f"{{max_schema_bytes: {max_bytes}}}\n",
    }
    return prescribed_tool(compiled(folder, files), "O")


@pytest.mark.parametrize("max_bytes", [500, 800, 1_200, 2_000, 6_000])
def test_shortened_schema_tells_nobody_of_parts_that_are_hidden(tmp_path: Path, max_bytes: int) -> None:
    guarded = guarded_tool(tmp_path / "with", max_bytes, secret=SECRET, secret_type=SECRET_TYPE)
    without = guarded_tool(tmp_path / "without", max_bytes, secret="", secret_type="")

    seen: JSONObject = listed_entry(guarded, OPEN)["inputSchema"]
    everything: JSONObject = listed_entry(guarded, guarded.conditions)["inputSchema"]

    assert guarded.conditions
    assert seen == without.entry["inputSchema"]
    assert list(seen["properties"]) == list(without.entry["inputSchema"]["properties"])
    assert "price" in str(everything)
    assert max(schema_bytes(seen), schema_bytes(everything)) <= max_bytes
    assert not leads_to_itself(everything)
    assert "price" not in str(ListedEntries(GuardedSchemas()).whole(guarded, OPEN))


NAMES_OF_A_SCALAR = "scalar BigInt scalar Long"
SHARING = """
type Query { a(f: Filter): [Thing] b(f: Filter): [Thing] c(f: RowFilter, s: Sort): [Thing] }
type Thing { name: String price: Int }
enum Sort { NAME_ASC PRICE_ASC }
input Filter { name: BigInt price: Long rows: RowFilter sort: Sort not: Filter other: BigInt }
input RowFilter { sizes: [Long] price: Int sort: Sort not: Filter above: [BigInt] }
"""


def test_tools_that_share_definitions_are_listed_as_each_is_by_itself(tmp_path: Path) -> None:
    rule = "{type: Thing, policyDefault: {condition: true}, rules: [{condition: '?$jwt', fields: [price]}]}"
    made = compiled(
        tmp_path,
        {
            "index.graphql": SHARING + NAMES_OF_A_SCALAR,
            "operations/o.graphql": """
                query A($f: Filter) @mcpTool { a(f: $f) { name } }
                query B($f: Filter) @mcpTool { b(f: $f) { name } }
                query C($f: RowFilter, $s: Sort) @mcpTool { c(f: $f, s: $s) { name } }
            """,
            "config.yaml": f"{READABLE.replace(']}', f', {rule}]}}')}limits: {{max_schema_bytes: 900}}\n",
        },
    )
    tools = [prescribed_tool(made, name) for name in "ABC"]
    entries = ListedEntries(GuardedSchemas())

    assert "$defs" in tools[0].entry["inputSchema"]
    for tool, outcome in [(tool, outcome) for outcome in (OPEN, tools[0].conditions, OPEN) for tool in tools]:
        assert entries.listed(tool, outcome) == listed_entry(tool, outcome)
        assert entries.whole(tool, outcome) == ListedEntries(GuardedSchemas()).whole(tool, outcome)


def test_random_schemas_are_shortened_without_anything_wrong() -> None:
    found = Found()

    try_random(examples(100, share=8), seed="daily", found=found)

    assert found.faults == []
    assert found.tried["shortened"] >= examples(50, share=8)
    assert found.tried["values that the advertised schema refuses"] >= examples(50, share=8)


SELECTED = "query O @mcpTool {{ a {{ {} b {{ {} }} c {{ {} }} }} }}"


def output_of(folder: Path, config: str, directive: str = "@mcpTool") -> Any:
    names = [f"field_number_{number}" for number in range(40)]
    of_type = " ".join(f"{name}: String" for name in names)
    files = {
        "index.graphql": f"type Query {{ a: A }} type A {{ {of_type} b: A c: A }}",
        "operations/o.graphql": SELECTED.format(*[" ".join(names)] * 3).replace("@mcpTool", directive),
        "config.yaml": READABLE + config,
    }
    return prescribed_tool(compiled(folder, files), "O").entry.get("outputSchema")


def test_output_schema_loses_its_deepest_levels(tmp_path: Path) -> None:
    whole, less, least = (
        output_of(tmp_path, f"limits: {{max_output_schema_bytes: {size}}}\n") for size in (0, 4_000, 500)
    )

    a = less["properties"]["data"]["anyOf"][0]["properties"]["a"]["anyOf"][0]
    assert schema_bytes(whole) > LIMITS["max_output_schema_bytes"].default > schema_bytes(less) > schema_bytes(least)
    assert a["properties"]["field_number_1"] == {"anyOf": [{"type": "string"}, {"type": "null"}]}
    assert a["properties"]["b"] == {"anyOf": [{"type": "object"}, {"type": "null"}]}
    assert schema_bytes(least) <= 500
    assert output_of(tmp_path, "") == less
    assert LIMITS["max_schema_bytes"].default == 6_000


@pytest.mark.parametrize(
    ("config", "directive", "is_listed"),
    [
        ("output_schema: off\n", "@mcpTool", False),
        ("output_schema: off\n", "@mcpTool(output_schema: on)", True),
        ("", "@mcpTool(output_schema: off)", False),
        ("", "@mcpTool", True),
    ],
)
def test_output_schema_can_be_left_out(tmp_path: Path, config: str, directive: str, is_listed: bool) -> None:
    assert (output_of(tmp_path, config, directive) is not None) == is_listed
