from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pytest

from handler.bundle.tools import PrescribedTool
from handler.compiler.compile import Compiled, compile_endpoint
from tests.commands.running import FILES, Stile
from tests.support.endpoints import PUBLIC, write_endpoint
from tests.support.jobs import CANCEL, EXPORT, SDL, STATE
from tests.support.projects import PROJECTS

SENT = "query A {\n  a\n}"
STEPZEN = {
    "index.graphql": 'extend schema @tool(name: "b", prescribed: "B") type Query { a: String, b: Int }',
    "operations/b.graphql": "query B { b } # as it is\n",
    "operations/unused.graphql": "query Unused { a }",
}


def write_both(workplace: Path) -> None:
    write_endpoint(workplace, FILES, name="api/one")
    write_endpoint(workplace, FILES, name="api/two")
    write_endpoint(workplace, STEPZEN, name="api/three")


def digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def test_apollos_manifest_has_each_text_that_may_be_sent_once(workplace: Path, stile: Stile) -> None:
    write_both(workplace)

    done = stile("manifest", ".", "--format", "apollo")

    assert (done.code, done.err) == (0, "")
    as_written, persisted = STEPZEN["operations/b.graphql"], STEPZEN["operations/unused.graphql"]
    assert json.loads(done.out) == {
        "format": "apollo-persisted-query-manifest",
        "version": 1,
        "operations": [
            {"id": digest(SENT), "name": "A", "type": "query", "body": SENT},
            {"id": digest(as_written), "name": "B", "type": "query", "body": as_written},
            {"id": digest(persisted), "name": "Unused", "type": "query", "body": persisted},
        ],
    }


def test_relays_manifest_maps_ids_to_texts(workplace: Path, stile: Stile) -> None:
    write_both(workplace)

    done = stile("manifest", ".", "--format", "relay", "--out", "manifest.json")

    assert (done.code, done.out, done.err) == (0, "3 operations in manifest.json\n", "")
    assert json.loads((workplace / "manifest.json").read_text(encoding="utf-8")) == {
        f"sha256:{digest(text)}": text
        for text in (SENT, STEPZEN["operations/b.graphql"], STEPZEN["operations/unused.graphql"])
    }


def test_id_in_the_manifest_is_the_document_id_of_a_file_that_is_sent_as_it_is(workplace: Path, stile: Stile) -> None:
    write_endpoint(workplace, STEPZEN)

    listed = json.loads(stile("manifest", ".", "--format", "relay").out)
    (endpoint,) = json.loads(stile("check", ".", "--json").out)["endpoints"]

    assert set(listed) == {document["documentId"] for document in endpoint["documents"]}
    assert endpoint["tools"][0]["sends"] in listed


def test_check_tells_the_id_that_is_sent_where_the_text_is_not_the_files(workplace: Path, stile: Stile) -> None:
    write_endpoint(workplace, FILES)

    listed = json.loads(stile("manifest", ".", "--format", "relay").out)
    (endpoint,) = json.loads(stile("check", ".", "--json").out)["endpoints"]

    assert list(listed) == [endpoint["tools"][0]["sends"]] != [endpoint["documents"][0]["documentId"]]


def test_a_mistake_anywhere_makes_no_manifest(workplace: Path, stile: Stile) -> None:
    write_both(workplace)
    write_endpoint(workplace, {**FILES, "operations/a.graphql": "query A @mcpTool { nothing }"}, name="api/wrong")

    done = stile("manifest", ".", "--format", "apollo", "--out", "manifest.json")

    assert (done.code, done.out) == (1, "")
    assert done.err.endswith("No manifest was made.\n")
    assert not (workplace / "manifest.json").exists()


def test_a_manifest_that_cannot_be_written_is_said(workplace: Path, stile: Stile) -> None:
    write_both(workplace)

    done = stile("manifest", ".", "--format", "apollo", "--out", "nowhere/manifest.json")

    assert (done.code, done.err) == (1, "nowhere/manifest.json: No such file or directory\n")


def test_an_unknown_format_is_a_wrong_use(workplace: Path, stile: Stile) -> None:
    assert stile("manifest", ".", "--format", "json").code == 2
    assert stile("manifest", ".").code == 2


ADOPTED = {
    "index.graphql": "type Query { a(n: Int! = 1): A b: Int } type A { id: ID name: String }",
    "config.yaml": "tools: operations\n",
    "operations/a.graphql": "# Reads a.\nquery ReadA(\n  # Which\n  $n: Int!\n) { a(n: $n) { id } }\n",
    "operations/two.gql": "query First { a { ...Parts } } query Second { a { ...Parts id } b }",
    "operations/parts.graphql": "fragment Parts on A { name }",
}


@pytest.mark.parametrize(
    ("form", "name"), [("apollo", "persisted-query-manifest.json"), ("relay", "persisted_queries.json")]
)
def test_manifest_that_is_read_back_gives_the_tools_and_ids_of_its_folder(
    workplace: Path, stile: Stile, form: str, name: str
) -> None:
    folder = write_endpoint(workplace, ADOPTED)
    listed = stile("manifest", str(folder), "--format", form).out
    back = {file: text for file, text in ADOPTED.items() if not file.startswith("operations/")}
    again = write_endpoint(workplace / "again", back | {f"operations/{name}": listed})

    made = compile_endpoint(again)

    assert prescribed(made) == prescribed(compile_endpoint(folder))
    assert {each.id for each in made.documents} == {f"sha256:{each[1]}" for each in prescribed(made).values()}
    assert stile("manifest", str(again), "--format", form).out == listed


def prescribed(made: Compiled) -> dict[str, tuple[object, str]]:
    """Return the tools by name, each with what clients are listed and the digest of what the API gets."""
    tools = [each.tool for each in made.made if isinstance(each.tool, PrescribedTool)]
    return {tool.name: (tool.entry, tool.operation.sha256) for tool in tools}


@pytest.mark.parametrize("form", ["apollo", "relay"])
def test_manifest_of_a_folder_for_apollo_mcp_server_is_read_back_with_its_names_and_ids(
    workplace: Path, stile: Stile, form: str
) -> None:
    project = PROJECTS / "apollo-mcp"
    name = {"apollo": "persisted-query-manifest.json", "relay": "persisted_queries.json"}[form]
    kept = {each: (project / each).read_text("utf-8") for each in ("index.graphql", "schema.graphql", "config.yaml")}
    listed = stile("manifest", str(project), "--format", form).out

    again = write_endpoint(workplace, kept | {f"operations/{name}": listed})

    assert sends(compile_endpoint(again)) == sends(compile_endpoint(project))
    assert stile("manifest", str(again), "--format", form).out == listed


def sends(made: Compiled) -> dict[str, str]:
    """Return the tools by name, each with the digest of what the API gets."""
    return {name: digest for name, (_, digest) in prescribed(made).items()}


def test_manifest_has_the_operations_of_a_task(workplace: Path, stile: Stile) -> None:
    files = {
        "index.graphql": SDL,
        "operations/jobs.graphql": EXPORT.replace("OPTIONS", "").replace("ARGUMENTS", 'cancel: "Cancel"')
        + STATE
        + CANCEL,
        "config.yaml": f"graphql: off\n{PUBLIC}",
    }
    write_endpoint(workplace, files, name="api/jobs")

    done = stile("manifest", "api/jobs", "--format", "apollo")

    assert [each["name"] for each in json.loads(done.out)["operations"]] == ["Cancel", "Export", "State"]
