"""Searching an endpoint folder as a model would, and the questions that tell if answers are found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.commands.running import Stile
from tests.support.endpoints import write_endpoint

SDL = """
extend schema @tool(name: "explore", graphql: {expose: true, types: "Query", fields: "invoices|payslips"})
type Query { "The bills that we sent." invoices: [Invoice!]!  payslips: [Payslip!]! }
type Invoice { number: ID! "The day on which it has to be paid." dueOn: String }
type Payslip { month: String "What is paid out." amount: Int }
"""
OPERATIONS = """
"Invoices that are late."
query Overdue @mcpTool(name: "overdue") { invoices { number dueOn } }
"The payslips of everybody."
query Payslips @mcpTool(name: "payslips") { payslips { month amount } }
"""
CONFIG = """
upstream: {url: "https://api.example/graphql"}
access:
  policies:
    - type: Query
      rules: [{name: hr, condition: '$jwt.role:String == "hr"', fields: [payslips]}]
      policyDefault: {condition: true}
"""


@pytest.fixture
def folder(workplace: Path) -> Path:
    made = write_endpoint(
        workplace, {"index.graphql": SDL, "operations/o.graphql": OPERATIONS, "config.yaml": CONFIG}, name="api/things"
    )
    (made / "hr.json").write_text('{"role": "hr"}', "utf-8")
    (made / "emp.json").write_text('{"role": "sales"}', "utf-8")
    return made


def found(stile: Stile, *words: str) -> Any:
    done = stile("find", ".", *words, "--json")
    assert done.code in (0, 1), done.err
    (endpoint,) = json.loads(done.out)["endpoints"]
    return endpoint


def checked(stile: Stile, folder: Path, text: str, *options: str) -> tuple[int, Any]:
    (folder / "questions.yaml").write_text(text, "utf-8")
    done = stile("check", ".", "--json", *options)
    (endpoint,) = json.loads(done.out)["endpoints"]
    return done.code, endpoint


def test_answers_of_a_search_are_shown(stile: Stile, folder: Path) -> None:
    shown = found(stile, "which invoices are late")
    printed = stile("find", ".", "which invoices are late")

    (schema,) = shown["schemas"]
    assert schema["tool"] == "explore"
    assert "Query.invoices" in [match["coordinate"] for match in schema["matches"]]
    assert "dueOn: String" in schema["text"]
    assert shown["tools"]["names"][0] == "overdue"
    assert printed.code == 0
    assert "explore shows its whole schema" in printed.out
    assert "  1. overdue\n" in printed.out


def test_callers_find_what_is_theirs(stile: Stile, folder: Path) -> None:
    of_hr = found(stile, "payslips", "--as", str(folder / "hr.json"))
    of_others = found(stile, "payslips", "--as", str(folder / "emp.json"))

    assert "payslips" in of_hr["tools"]["names"]
    assert "payslips" not in json.dumps(of_others).lower()


def test_caller_whom_the_endpoint_challenges_is_said(stile: Stile, folder: Path) -> None:
    (folder / "config.yaml").write_text(f"{CONFIG}  anonymous: challenge\n", "utf-8")

    done = stile("find", ".", "payslips", "--as", "anonymous")

    assert done.code == 1
    assert done.err.startswith("The endpoint does not let this caller in: ")


def test_question_without_an_answer_is_an_exit_code(stile: Stile, folder: Path) -> None:
    assert stile("find", ".", "zeppelin").code == 1
    assert stile("find", ".", "  ").code == 2


def test_ranks_and_tokens_of_questions_are_told_by_caller(stile: Stile, folder: Path) -> None:
    code, report = checked(
        stile,
        folder,
        "- {ask: the day an invoice has to be paid, expect: [Query.invoices, Invoice.dueOn]}\n"
        "- {ask: late invoices, tool: overdue, as: emp.json}\n"
        "- {ask: payslips, tool: payslips, as: emp.json}\n"
        "- {ask: zeppelin, expect: Invoice}\n",
    )

    assert code == 0
    first, second, third, fourth = report["questions"]
    assert first["found"]
    assert first["ranks"]["Invoice.dueOn"] == 1
    assert first["tokens"] > 10
    assert (second["found"], second["ranks"], second["as"]) == (True, {"overdue": 1}, "emp.json")
    assert (third["found"], third["ranks"]) == (False, {"payslips": None})
    assert (fourth["found"], fourth["ranks"]) == (False, {"Invoice": None})


@pytest.mark.parametrize(("least", "code"), [("0", 0), ("0.5", 0), ("0.51", 1), ("1", 1)])
def test_least_recall_decides_the_exit_code(stile: Stile, folder: Path, least: str, code: int) -> None:
    questions = "- {ask: late invoices, tool: overdue}\n- {ask: zeppelin, tool: overdue}\n"

    assert checked(stile, folder, questions, "--min-recall", least)[0] == code


@pytest.mark.parametrize("least", ["-1", "1.1", "nan", "many"])
def test_least_recall_is_a_share(stile: Stile, folder: Path, least: str) -> None:
    done = stile("check", ".", f"--min-recall={least}")

    assert done.code == 2
    assert "expected a number from 0 to 1" in done.err


def test_questions_that_are_not_found_are_printed_with_their_place(stile: Stile, folder: Path) -> None:
    (folder / "questions.yaml").write_text("- {ask: late, tool: overdue}\n- {ask: zeppelin, tool: overdue}\n", "utf-8")

    out = stile("check", ".").out

    assert "Questions: 1 of 2 found" in out
    assert 'questions.yaml:2:3: "zeppelin": a search does not find overdue among the first 10' in out


@pytest.mark.parametrize(
    ("text", "place", "code"),
    [
        ("- {ask: late, tool: overdu}", (1, 21), "unknown-tool"),
        ("- {ask: late, expect: [Query.invoice]}", (1, 24), "unknown-coordinate"),
        ("- {ask: late, expects: [Query.invoices]}", (1, 15), "unknown-key"),
        ("- {ask: late}", (1, 3), "invalid-value"),
        ("- {tool: overdue}", (1, 3), "invalid-value"),
        ("- late", (1, 3), "invalid-value"),
        ("ask: late", (1, 1), "invalid-value"),
        ("- {ask: late, tool: overdue, as: nobody.json}", (1, 34), "invalid-value"),
        ("- {ask: late, tool: overdue, as: 'key:none'}", (1, 3), "invalid-value"),
        ("- [", (1, 4), "invalid-yaml"),
        ("- &a {ask: late, tool: *a}", (1, 3), "invalid-yaml"),
    ],
)
def test_mistakes_in_the_file_are_problems_at_their_place(
    stile: Stile, folder: Path, text: str, place: tuple[int, int], code: str
) -> None:
    exit_code, report = checked(stile, folder, text)

    assert exit_code == 1
    told = [(each["line"], each["column"], each["code"]) for each in report["problems"]]
    assert (*place, code) in told
    assert all(each["file"].endswith("questions.yaml") for each in report["problems"])


def test_near_names_are_suggested(stile: Stile, folder: Path) -> None:
    _, report = checked(stile, folder, "- {ask: late, tool: overdu, expect: [Invoice.dueon]}")

    sentences = " ".join(each["sentence"] for each in report["problems"])
    assert "did you mean overdue?" in sentences
    assert "did you mean Invoice.dueOn?" in sentences


def test_questions_are_no_part_of_the_bundle(stile: Stile, folder: Path, tmp_path: Path) -> None:
    assert stile("build", ".", "--out", str(tmp_path / "without")).code == 0
    (folder / "questions.yaml").write_text("- {ask: late, tool: overdue}\n", "utf-8")
    assert stile("build", ".", "--out", str(tmp_path / "with")).code == 0

    one, other = (
        {path.relative_to(tmp_path / name): path.read_bytes() for path in (tmp_path / name).rglob("*.json")}
        for name in ("without", "with")
    )
    assert one == other


def test_tokens_of_lists_searches_and_schemas_are_told(stile: Stile, folder: Path) -> None:
    types = "\n".join(
        f'type T{n} {{ "Of the {n}th thing, in many words, as it is kept." id: ID  next: T{(n + 1) % 300} }}'
        for n in range(300)
    )
    fields = " ".join(f"thing{n}(id: ID!): T{n}" for n in range(60))
    large = SDL.replace("type Query {", f"type Query {{ {fields}").replace("invoices|payslips", ".*")
    (folder / "index.graphql").write_text(f"{large}\n{types}", "utf-8")
    (folder / "config.yaml").write_text(f"{CONFIG}catalog: {{list: pinned}}\n", "utf-8")

    report = checked(stile, folder, "")[1]["reading"]
    printed = stile("check", ".").out

    assert report["listed"] < report["allTools"]
    (schema,) = report["schemas"]
    assert schema["tool"] == "explore"
    assert 50 < schema["search"] <= 1_000 < schema["sdl"]
    assert f"a search about {report['catalogSearch']}." in printed
    assert f"Search of explore: about {schema['search']} tokens, for a schema of about {schema['sdl']}." in printed


def test_endpoint_without_searches_has_no_costs_of_them(stile: Stile, folder: Path) -> None:
    assert checked(stile, folder, "")[1]["reading"] is None


def test_words_of_the_author_find_tools(stile: Stile, folder: Path) -> None:
    assert found(stile, "arrears")["tools"]["names"] == []
    (folder / "config.yaml").write_text(f"{CONFIG}find: {{words: {{Arrears: [late]}}}}\n", "utf-8")

    assert found(stile, "arrears")["tools"]["names"] == ["overdue"]


def test_question_that_expects_nothing_is_not_counted_as_found(stile: Stile, folder: Path) -> None:
    _, report = checked(stile, folder, "- {ask: late}")

    assert [each["found"] for each in report["questions"]] == [False]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("- {ask: late, tool: overdue}\n" * 1_001, "it has more than 1,000 questions"),
        (f"- {{ask: late, expect: [{'Invoice, ' * 50}Invoice]}}", "expected 50 coordinates at most"),
    ],
)
def test_long_files_of_questions_are_refused(stile: Stile, folder: Path, text: str, sentence: str) -> None:
    code, report = checked(stile, folder, text)

    assert code == 1
    assert sentence in [each["sentence"] for each in report["problems"]]


def test_table_shows_the_list_as_the_catalog_leaves_it(stile: Stile, folder: Path) -> None:
    def listed() -> set[str]:
        (endpoint,) = json.loads(stile("check", ".", "--json").out)["endpoints"]
        return {tool["name"] for tool in endpoint["tools"] if tool["listed"]}

    assert listed() == {"explore", "overdue", "payslips"}
    (folder / "config.yaml").write_text(f"{CONFIG}catalog: true\n", "utf-8")
    assert listed() == {"explore", "overdue", "payslips"}
    (folder / "config.yaml").write_text(f"{CONFIG}catalog: {{list: pinned}}\n", "utf-8")
    assert listed() == {"catalog", "catalog-call"}


def test_recall_below_its_share_is_said_in_the_last_line(stile: Stile, folder: Path) -> None:
    (folder / "questions.yaml").write_text("- {ask: late, tool: overdue}\n- {ask: zeppelin, tool: overdue}\n", "utf-8")

    enough, missed = (stile("check", ".", f"--min-recall={share}") for share in ("0.5", "0.51"))

    assert (enough.code, missed.code) == (0, 1)
    assert "recall" not in enough.out.splitlines()[-1]
    assert missed.out.splitlines()[-1].endswith("; recall 0.50, below 0.51")


def test_name_that_nobody_has_is_told_once(stile: Stile, folder: Path) -> None:
    text = "- {ask: late, expect: [Query.invoces, Payslip.month]}\n- {ask: late, expect: Query.nothing}\n"
    (folder / "questions.yaml").write_text(text, "utf-8")

    out = stile("check", ".").out

    assert out.count("Query.invoces") == out.count("Query.nothing") == 1
    assert "Payslip.month among the first" in out


def test_search_that_finds_no_tool_does_not_say_that_there_is_none(stile: Stile, workplace: Path) -> None:
    sdl = "type Query { invoices: [Int] }"
    config = 'upstream: {url: "https://api.example/graphql"}\naccess: {anonymous: allow}\n'
    operation = '"Bills." query Overdue @mcpTool(name: "overdue") { invoices }'
    write_endpoint(
        workplace, {"index.graphql": sdl, "operations/o.graphql": operation, "config.yaml": config}, name="api/things"
    )

    done = stile("find", ".", "zeppelin")

    assert done.code == 1
    assert done.out.splitlines()[-1] == "No tool answers the question, among those that the caller may use."
