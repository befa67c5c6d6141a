from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

from tests.commands.running import FILES, Stile
from tests.support.endpoints import write_endpoint

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


def test_apollos_manifest_has_each_text_that_tools_send_once(workplace: Path, stile: Stile) -> None:
    write_both(workplace)

    done = stile("manifest", ".", "--format", "apollo")

    assert (done.code, done.err) == (0, "")
    as_written = STEPZEN["operations/b.graphql"]
    assert json.loads(done.out) == {
        "format": "apollo-persisted-query-manifest",
        "version": 1,
        "operations": [
            {"id": digest(SENT), "name": "A", "type": "query", "body": SENT},
            {"id": digest(as_written), "name": "B", "type": "query", "body": as_written},
        ],
    }


def test_relays_manifest_maps_ids_to_texts(workplace: Path, stile: Stile) -> None:
    write_both(workplace)

    done = stile("manifest", ".", "--format", "relay", "--out", "manifest.json")

    assert (done.code, done.out, done.err) == (0, "2 operations in manifest.json\n", "")
    assert json.loads((workplace / "manifest.json").read_text(encoding="utf-8")) == {
        f"sha256:{digest(text)}": text for text in (SENT, STEPZEN["operations/b.graphql"])
    }


def test_id_in_the_manifest_is_the_document_id_of_a_file_that_is_sent_as_it_is(workplace: Path, stile: Stile) -> None:
    write_endpoint(workplace, STEPZEN)

    listed = json.loads(stile("manifest", ".", "--format", "relay").out)
    (endpoint,) = json.loads(stile("check", ".", "--json").out)["endpoints"]

    assert list(listed) == [endpoint["documents"][0]["documentId"]] == [endpoint["tools"][0]["sends"]]


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
