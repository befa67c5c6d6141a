from __future__ import annotations

import json
import re
from hashlib import sha256
from pathlib import Path

import pytest

from tests.commands.running import CONFIG, FILES, OPERATION, Stile, ran, ran_on_terminal, started
from tests.support.endpoints import write_endpoint

MISTAKE = {**FILES, "operations/a.graphql": 'query A @mcpTool(name: "a") {\n  totl\n}\n'}


def test_an_endpoint_without_problems_is_a_table_and_exit_0(workplace: Path, stile: Stile) -> None:
    write_endpoint(workplace, FILES)

    done = stile("check", ".")

    assert (done.code, done.err) == (0, "")
    title, headings, row, access, graphql, empty, summary = done.out.splitlines()
    assert title == "api/things"
    assert headings.split() == ["tool", "kind", "runs", "types", "bytes", "~tokens", "listed", "anonymous"]
    assert re.fullmatch(r"a     prescribed  query A +1 +\d+ +\d+  yes     all", row)
    assert headings.index("bytes") + len("bytes") == row.index("  yes") - len("  ~tokens")
    assert (access, graphql) == ("Who gets in: anonymous callers.", "GraphQL over HTTP: 1 persisted document.")
    assert (empty, summary) == ("", "No problems in 1 endpoint")


def test_plain_output_has_no_escapes_no_boxes_and_no_spaces_at_the_end_of_lines(workplace: Path, stile: Stile) -> None:
    write_endpoint(workplace, FILES)

    out = stile("check", ".").out

    assert out.isascii()
    assert "\x1b" not in out
    assert all(line == line.rstrip() for line in out.splitlines())


def test_problems_of_several_endpoints_come_at_once_and_can_be_opened_from_here(workplace: Path, stile: Stile) -> None:
    write_endpoint(workplace / "all", MISTAKE, name="api/one")
    write_endpoint(workplace / "all", {**FILES, "config.yaml": "upstrem: {}\n"}, name="api/two")
    write_endpoint(workplace / "all", FILES, name="api/three")

    done = stile("check", "all")

    assert done.code == 1
    problems = re.findall(r"^(\S+):(\d+):(\d+): (.+)$", done.out, re.MULTILINE)
    assert [(file, line, column) for file, line, column, _ in problems] == [
        ("all/api/one/operations/a.graphql", "2", "3"),
        ("all/api/two/config.yaml", "1", "1"),
    ]
    assert "totl" in problems[0][3]
    assert "upstrem" in problems[1][3]
    assert all(Path(file).is_file() for file, *_ in problems)
    assert "api/three\n" in done.out
    assert done.out.endswith("2 problems in 2 of 3 endpoints\n")


def test_a_path_above_and_an_absolute_one_show_in_the_problems(
    workplace: Path, stile: Stile, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint = write_endpoint(workplace, MISTAKE)
    (workplace / "elsewhere").mkdir()
    monkeypatch.chdir(workplace / "elsewhere")

    assert "\n../api/things/operations/a.graphql:2:3: " in "\n" + stile("check", "..").out
    assert stile("check", str(endpoint)).out.startswith(f"{endpoint}/operations/a.graphql:2:3: ")


def test_in_the_endpoint_folder_itself_paths_are_just_file_names(
    workplace: Path, stile: Stile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(write_endpoint(workplace, MISTAKE))

    assert stile("check", ".").out.startswith("operations/a.graphql:2:3: ")


def test_a_problem_of_a_whole_file_stands_at_its_beginning(workplace: Path, stile: Stile) -> None:
    write_endpoint(workplace, FILES)

    done = stile("check", ".", "--stage", "prod")

    assert done.code == 1
    assert re.match(
        r"api/things/config\.prod\.yaml:1:1: .*does not exist: .* \[unreadable-file\]$", done.out.splitlines()[0]
    )


def test_a_stage_is_laid_over(workplace: Path, stile: Stile) -> None:
    write_endpoint(workplace, {**FILES, "config.prod.yaml": "access: {anonymous: challenge}\n"})

    assert "Who gets in: anonymous callers." in stile("check", ".").out
    assert "Nobody gets in once this is published" in stile("check", ".", "--stage", "prod").out


@pytest.mark.parametrize(
    ("mode", "line"),
    [("off", "off."), ("persisted", "1 persisted document."), ("on", "any request within the policies.")],
)
def test_what_graphql_over_http_takes_is_said(workplace: Path, stile: Stile, mode: str, line: str) -> None:
    write_endpoint(workplace, {**FILES, "config.yaml": f"{FILES['config.yaml']}graphql: {mode}\n"})

    assert f"GraphQL over HTTP: {line}" in stile("check", ".").out.splitlines()


def test_two_folders_for_one_endpoint_are_a_problem_of_the_second(workplace: Path, stile: Stile) -> None:
    files = {**FILES, "stepzen.config.json": '{"endpoint": "api/same"}'}
    for name in ("one", "two"):
        write_endpoint(workplace, files, name=name)

    done = stile("check", ".")

    assert done.code == 1
    assert re.search(r'^two/index.graphql:1:1: .*"api/same".* one \[duplicate-endpoint\]$', done.out, re.MULTILINE)


def test_a_warning_does_not_fail_the_check(workplace: Path, stile: Stile) -> None:
    write_endpoint(workplace, {"index.graphql": SCHEMA_WITHOUT_TOOLS})

    done = stile("check", ".")

    assert done.code == 0
    assert re.search(r"^api/things/index.graphql:1:1: warning: .*default_tool: false", done.out, re.MULTILINE)


SCHEMA_WITHOUT_TOOLS = "type Query { a: String }\n"


def test_a_warning_fails_the_strict_check_and_nothing_else_does(workplace: Path, stile: Stile) -> None:
    folder = write_endpoint(workplace, FILES)
    assert stile("check", ".", "--strict").code == 0

    (folder / "operations" / "a.graphql").write_text(FILES["operations/a.graphql"].replace(', title: "A"', ""))

    done = stile("check", ".", "--strict")
    assert done.code == 1
    assert re.search(r'warning: "a".* \[untitled-tool\]$', done.out, re.MULTILINE)
    assert done.out.endswith("No problems in 1 endpoint; 1 warning, which --strict refuses\n")
    assert stile("check", ".").out.endswith("No problems in 1 endpoint; 1 warning\n")
    assert stile("check", ".", "--strict", "--json").code == 1
    assert stile("check", ".").code == 0


TWO_SIDES = """
extend schema
  @tool(name: "a.b", title: "T", graphql: {expose: true, types: "Query|Mutation", fields: ".*"})
  @tool(name: "plain", graphql: {expose: true, types: "Query", fields: "b"}, hidden: true)
type Query { a: String b: String }
type Mutation { c: String }
"""


def test_what_clients_refuse_is_a_warning_of_the_check(workplace: Path, stile: Stile) -> None:
    write_endpoint(workplace, {**FILES, "index.graphql": TWO_SIDES})

    done = stile("check", ".")

    assert done.code == 0
    place = "api/things/index.graphql"
    lines = [re.fullmatch(r"(\S+): warning: .+ \[(.+)\]", line) for line in done.out.splitlines()[:3]]
    assert [line.groups() for line in lines if line] == [
        (f"{place}:3:3", "reads-and-writes"),
        (f"{place}:3:3", "unportable-name"),
        (f"{place}:4:3", "untitled-tool"),
    ]


def test_table_tells_what_each_tool_runs_and_who_sees_it(workplace: Path, stile: Stile) -> None:
    write_endpoint(workplace, {**FILES, "index.graphql": TWO_SIDES})

    both, plain, prescribed = json.loads(stile("check", ".", "--json").out)["endpoints"][0]["tools"]

    assert (both["kind"], both["runs"], both["types"]) == ("graphql", "query a, b; mutation c", 2)
    assert (both["listed"], both["anonymous"]) == (True, "part")  # mutations have no policy, so they are closed
    assert (plain["runs"], plain["listed"], plain["anonymous"]) == ("query b", False, "all")
    assert (prescribed["kind"], prescribed["runs"], prescribed["types"]) == ("prescribed", "query A", 1)


def test_many_root_fields_are_cut_in_the_table_and_whole_in_json(workplace: Path, stile: Stile) -> None:
    fields = " ".join(f"field{number}: String" for number in range(30))
    write_endpoint(workplace, {"index.graphql": f"type Query {{ {fields} }}"})

    (row,) = [line for line in stile("check", ".").out.splitlines() if line.startswith("api-things")]
    (tool,) = json.loads(stile("check", ".", "--json").out)["endpoints"][0]["tools"]

    assert "field0, field1, field2" in row
    assert "…" in row
    assert "field29" not in row
    assert tool["runs"].endswith("field28, field29")


def test_prompts_resources_and_instructions_are_counted(workplace: Path, stile: Stile) -> None:
    config = FILES["config.yaml"] + "instructions: Größe\n"
    files = {**FILES, "config.yaml": config, "prompts/p.md": "P", "prompts/q.md": "Q", "resources/a/r.md": "R!"}
    write_endpoint(workplace, files)

    printed = stile("check", ".").out.splitlines()
    (told,) = json.loads(stile("check", ".", "--json").out)["endpoints"]

    assert "Beside tools: 2 prompts, 1 resource (2 bytes of files) and instructions of 7 bytes." in printed
    assert told["prompts"] == ["p", "q"]
    assert told["resources"] == ["stile://api/things/resources/a/r.md"]
    assert told["instructionsBytes"] == 7


def test_json_is_one_document_with_problems_and_tools(workplace: Path, stile: Stile) -> None:
    write_endpoint(workplace, MISTAKE, name="api/bad")
    write_endpoint(workplace, FILES, name="api/good")

    done = stile("check", ".", "--json")

    bad, good = json.loads(done.out)["endpoints"]
    assert (done.code, done.err) == (1, "")
    assert (bad["folder"], bad["endpoint"], bad["tools"], bad["warnings"]) == ("api/bad", None, [], [])
    (problem,) = bad["problems"]
    assert (problem["file"], problem["line"], problem["column"]) == ("api/bad/operations/a.graphql", 2, 3)
    assert "totl" in problem["sentence"]
    assert (good["folder"], good["endpoint"], good["problems"]) == ("api/good", "api/good", [])
    (tool,) = good["tools"]
    assert tool == {**tool, "name": "a", "kind": "prescribed", "runs": "query A", "types": 1, "anonymous": "all"}
    assert tool["tokens"] == tool["bytes"] // 4 > 0
    assert (bad["graphql"], good["graphql"]) == (None, "persisted")
    (document,) = good["documents"]
    assert document == {**document, "file": "operations/a.graphql", "operations": ["A"]}
    assert document["documentId"] == f"sha256:{sha256(FILES['operations/a.graphql'].encode()).hexdigest()}"


def test_json_stays_json_where_the_output_is_ascii(workplace: Path) -> None:
    write_endpoint(workplace, {**MISTAKE, "config.yaml": "graphql: é\n"})

    done = ran("check", ".", "--json", PYTHONIOENCODING="ascii")

    sentences = [problem["sentence"] for problem in json.loads(done.out)["endpoints"][0]["problems"]]
    assert any("'é'" in sentence for sentence in sentences)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["check"], "the following arguments are required: FOLDER"),
        (["check", "nowhere"], "nowhere: there is no such folder"),
        (["check", "file"], "file is a file; expected the folder of an endpoint, or one above it"),
        (
            ["check", "empty"],
            (
                "empty: no endpoint here; expected an index.graphql, a stepzen.config.json, or a config.yaml with "
                "code, in it or below it. `stile init` makes an endpoint of an API, and `stile adopt`"
            ),
        ),
        (["check", "empty", "--jsno"], "unrecognized arguments: --jsno"),
        (["chek"], 'there is no command "chek"; did you mean check?'),
    ],
)
def test_wrong_usage_is_exit_2_and_says_why(workplace: Path, stile: Stile, arguments: list[str], reason: str) -> None:
    (workplace / "file").touch()
    (workplace / "empty").mkdir()

    done = stile(*arguments)

    assert (done.code, done.out) == (2, "")
    assert reason in done.err


def test_folders_of_tools_are_not_entered(workplace: Path, stile: Stile) -> None:
    for name in ("node_modules/p/q", ".git/a/b", ".venv/a/b", ".stile/a/b", "api/things/inner/module"):
        write_endpoint(workplace, {"index.graphql": "no schema"}, name=name)
    write_endpoint(workplace, FILES)

    assert stile("check", ".").out.endswith("No problems in 1 endpoint\n")


def test_a_project_with_its_files_below_a_root_is_one_endpoint(workplace: Path, stile: Stile) -> None:
    project = {f"src/{name}": text for name, text in FILES.items()}
    write_endpoint(workplace, {**project, "stepzen.config.json": '{"endpoint": "shop/orders", "root": "src"}'})

    done = stile("check", ".")

    assert done.code == 0
    assert done.out.startswith("shop/orders\n")
    assert done.out.endswith("No problems in 1 endpoint\n")


def test_variables_come_from_the_environment(workplace: Path, stile: Stile, monkeypatch: pytest.MonkeyPatch) -> None:
    write_endpoint(workplace, {**FILES, "config.yaml": "upstream:\n  url: STEPZEN_API\n"})

    without = stile("check", ".")
    monkeypatch.setenv("STEPZEN_API", "http://127.0.0.1:9/graphql")

    assert without.code == 1
    assert re.search(r"config.yaml:2:8: .*STEPZEN_API.* \[unset-variable\]$", without.out, re.MULTILINE)
    assert stile("check", ".").code == 0


def test_an_endpoint_below_a_hidden_folder_that_was_named_is_found(workplace: Path, stile: Stile) -> None:
    write_endpoint(workplace / ".hidden", FILES)

    assert stile("check", ".hidden").code == 0


def test_a_terminal_gets_a_table_with_lines_and_colours(workplace: Path) -> None:
    write_endpoint(workplace, FILES)
    write_endpoint(workplace, MISTAKE, name="api/wrong")

    code, shown = ran_on_terminal("check", ".")

    assert code == 1
    assert "────" in shown
    assert "\x1b[31mapi/wrong/operations/a.graphql:2:3: " in shown


def test_a_narrow_terminal_keeps_the_names_of_tools_whole(workplace: Path) -> None:
    name = "a-name-of-some-length"
    write_endpoint(workplace, {**FILES, "operations/a.graphql": f'query A @mcpTool(name: "{name}") {{ a }}'})

    _, shown = ran_on_terminal("check", ".", columns=75)

    assert name in shown


def test_a_reader_that_goes_away_is_no_crash(workplace: Path) -> None:
    for number in range(3):
        write_endpoint(workplace, FILES, name=f"api/e{number}")
    process = started("check", ".", "--json")
    assert process.stdout
    assert process.stderr
    process.stdout.close()

    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait(60) == 1


def test_every_problem_is_one_line(workplace: Path, stile: Stile) -> None:
    fields = "\n".join(f"f{number}: Missing{number}" for number in range(200))
    write_endpoint(workplace, {**FILES, "index.graphql": f"type Query {{ a: String\n{fields}\n}}"})

    lines = stile("check", ".").out.splitlines()

    assert len([line for line in lines if re.match(r"api/things/index.graphql:\d+:\d+: ", line)]) == 200


def test_an_endpoint_that_stile_itself_fails_on_does_not_hide_the_others(workplace: Path, stile: Stile) -> None:
    write_endpoint(workplace, {**FILES, "stepzen.config.json": "[" * 100_000}, name="api/deep")
    write_endpoint(workplace, FILES)

    done = stile("check", ".")

    assert done.code == 1
    assert re.search(r"^api/deep/\S+:1:1: ", done.out, re.MULTILINE)
    assert done.out.startswith("api/things\n")
    assert done.out.endswith("1 problem in 1 of 2 endpoints\n")


TAKEN = {
    "index.graphql": """
        type Query { conduct(name: String!): Conduct person(name: String!): Person hidden(name: String!): Conduct }
        type Conduct { name: String a: Int } type Person { id: ID name: String of(nameLike: String!): [Conduct!] }
    """,
    "config.yaml": """
        default_tool: true
        access:
          anonymous: allow
          policies: [{type: Query, policyDefault: {condition: true}}]
          hide: [Conduct.name, Query.hidden]
    """,
}


def test_fields_that_hiding_takes_along_are_listed_with_the_line_that_keeps_them(workplace: Path, stile: Stile) -> None:
    write_endpoint(workplace, TAKEN)

    told = [line for line in stile("check", ".").out.splitlines() if "also hides" in line or "access.show" in line]

    assert told == [
        "Hiding Conduct.name also hides Person.of, Query.conduct, because their inputs contain its name. To keep them:",
        '  access.show: ["Person.of(nameLike:)", "Query.conduct(name:)"]',
    ]


def test_line_that_is_copied_keeps_what_it_names(workplace: Path, stile: Stile) -> None:
    config = TAKEN["config.yaml"] + '          show: ["Person.of(nameLike:)", "Query.conduct(name:)"]\n'
    write_endpoint(workplace, {**TAKEN, "config.yaml": config})

    assert json.loads(stile("check", ".", "--json").out)["endpoints"][0]["takenAlong"] == []
    assert "also hides" not in stile("check", ".").out


def test_many_fields_taken_along_are_told_in_few_lines_and_listed_as_json(workplace: Path, stile: Stile) -> None:
    roots = " ".join(f"q{number}(name: String!): Conduct" for number in range(100))
    types = "type Conduct { name: String a: Int }"
    write_endpoint(workplace, {**TAKEN, "index.graphql": f"type Query {{ {roots} hidden: Int }} {types}"})

    told = [line for line in stile("check", ".").out.splitlines() if "also hides" in line or "access.show" in line]

    assert len(told) == 2
    assert all(
        line.removesuffix(", because their inputs contain its name. To keep them:").endswith("and 92 more")
        for line in told
    )
    (listed,) = json.loads(stile("check", ".", "--json").out)["endpoints"][0]["takenAlong"]
    assert len(listed["lost"]) == len(listed["show"]) == 100


def test_a_slip_in_the_name_of_the_folder_opens_nothing_and_is_told(workplace: Path, stile: Stile) -> None:
    files = {name.replace("operations/a", "Operations/sub/a"): text for name, text in FILES.items()}
    write_endpoint(workplace, files)

    done = stile("check", ".")

    assert done.code == 0
    place = "api/things/Operations/sub/a.graphql:1:9"
    assert f"{place}: warning: it is not read: operations belong in operations/ [unread-file]" in done.out.splitlines()
    assert "GraphQL over HTTP: 0 persisted documents." in done.out
    assert stile("check", ".", "--strict").code == 1
    (endpoint,) = json.loads(stile("check", "--json", ".").out)["endpoints"]
    assert (endpoint["tools"], endpoint["graphql"]) == ([], "persisted")


def test_commands_agree_on_operations_in_folders_below(workplace: Path, stile: Stile) -> None:
    file = "operations/orders/late/a.gql"
    write_endpoint(workplace, {"index.graphql": FILES["index.graphql"], "config.yaml": CONFIG, file: OPERATION})

    (endpoint,) = json.loads(stile("check", "--json", ".").out)["endpoints"]
    assert [tool["name"] for tool in endpoint["tools"]] == ["a"]
    assert [document["file"] for document in endpoint["documents"]] == [file]
    assert re.search(r"^a +prescribed +yes", stile("explain", ".").out, re.MULTILINE)
    assert "/x: unknown name" in stile("call", ".", "a", "x=1").err
    assert "+a" in stile("build", ".").out


def test_condition_of_a_tool_is_shown(workplace: Path, stile: Stile) -> None:
    operation = OPERATION.replace('name: "a"', 'name: "a", condition: "?$jwt.hr"')
    write_endpoint(workplace, {**FILES, "operations/a.graphql": operation})

    done, told = stile("check", "."), stile("check", ".", "--json")

    assert "a asks its caller for ?$jwt.hr\n" in done.out
    (tool,) = json.loads(told.out)["endpoints"][0]["tools"]
    assert (tool["condition"], tool["anonymous"]) == ("?$jwt.hr", "none")


@pytest.mark.parametrize(("count", "arguments", "is_whole"), [(30, [], True), (31, [], False), (31, ["--full"], True)])
def test_many_tools_have_totals_instead_of_lines(
    workplace: Path, stile: Stile, count: int, arguments: list[str], is_whole: bool
) -> None:
    tools = {f"operations/o{number}.graphql": OPERATION.replace('"a"', f'"a{number}"') for number in range(count)}
    files = {path: text.replace("query A", f"query A{number}") for number, (path, text) in enumerate(tools.items())}
    hidden = files.pop("operations/o0.graphql").replace("@mcpTool(", "@mcpTool(hidden: true, ")
    write_endpoint(workplace, {**FILES, **files, "operations/a.graphql": hidden})

    done, printed = stile("check", ".", *arguments), stile("check", ".", *arguments, "--json")

    (report,) = json.loads(printed.out)["endpoints"]
    assert len(report["tools"]) == count
    rows = re.findall(r"^a\d+ +prescribed ", done.out, re.MULTILINE)
    if is_whole:
        assert (len(rows), "--full" in done.out) == (count, False)
    else:
        headings, totals, largest = done.out.partition("api/things\n")[2].splitlines()[:3]
        size, tokens = (sum(tool[name] for tool in report["tools"]) for name in ("bytes", "tokens"))
        assert headings.split() == ["kind", "tools", "bytes", "~tokens", "listed"]
        assert totals.split() == ["prescribed", "31", str(size), str(tokens), "30"]
        assert largest.startswith("The largest are a")
        assert largest.count(" bytes)") == 5
        assert largest.endswith("--full prints a line for each of the 31 tools.")
        assert rows == []


def test_condition_that_many_tools_share_is_one_line(workplace: Path, stile: Stile) -> None:
    operation = OPERATION.replace('name: "a"', 'name: "a", condition: "?$jwt.hr"')
    files = {
        f"operations/o{number}.graphql": operation.replace('"a"', f'"a{number}"').replace("query A", f"query A{number}")
        for number in range(6)
    }
    write_endpoint(workplace, {**FILES, "operations/a.graphql": files.pop("operations/o0.graphql"), **files})

    assert "a0, a1, a2, a3, a4 and 1 more ask their callers for ?$jwt.hr\n" in stile("check", ".").out
