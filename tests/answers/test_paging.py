"""No row is lost: whoever follows what the answers say reaches every row, or reads that it cannot be reached."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest

from handler.server.auth.sealed_state import RequestStates
from tests.answers.paging_api import NESTED, ROWS, SDL, Form, forms, paging_api
from tests.support.endpoints import READABLE, compiled
from tests.support.examples import examples
from tests.support.function import Function, running_function
from tests.support.secrecy import SESSION

KEY = SESSION.keep("the key of paged answers", "Kp4-pages-are-sealed-with-it-Xw9")
FORMS = {form.name: form for form in forms()}
SIZES = (50, 25)
ASK = 'extend schema @tool(name: "ask", graphql: {expose: true, types: "Query", fields: ".*"}, find: false)'


@contextmanager
def served(folder: Path, *, continues: bool, max_bytes: int) -> Iterator[Function]:
    operations = "\n".join(
        form.document.replace("{", f'@mcpTool(name: "{form.name}") {{', 1) for form in FORMS.values()
    )
    with paging_api() as api:
        limits = f"limits: {{continue: {str(continues).lower()}, max_result_bytes: {max_bytes}}}\n"
        files = {
            "index.graphql": ASK + SDL,
            "operations/o.graphql": operations,
            "config.yaml": f"upstream: {{url: '{api.url}'}}\n{limits}{READABLE}",
        }
        with running_function(compiled(folder, files), states=RequestStates([KEY])) as running:
            yield Function(running.handler, path="/api/things/mcp")


TRIED = sorted(Random("forms").sample(sorted(FORMS), examples(len(FORMS))))
"""The forms of paging that this run tries: all in CI, some elsewhere, drawn once for all runs."""


class Reader:
    """Reads an endpoint as a model that does all that the answers say. ``writes``: it writes the documents itself."""

    def __init__(self, function: Function, form: Form, *, writes: bool) -> None:
        self._function = function
        self._form = form
        self._writes = writes
        self.ids: set[int] = set()
        self.said: list[str] = []

    def call(self, arguments: dict[str, Any], cursor: dict[str, Any]) -> Any:
        if self._writes:
            sent = {"query": self._form.document, "variables": arguments, **cursor}
            return self._function.call("ask", sent)
        return self._function.call(self._form.name, {**arguments, **cursor})

    def read_all(self, size: int) -> None:
        form = self._form
        waiting: list[tuple[dict[str, Any], dict[str, Any]]] = [({**form.first, **self._of_size(size)}, {})]
        for _ in range(600):
            if not waiting:
                return
            arguments, cursor = waiting.pop()
            answer = self.call(arguments, cursor)
            if answer.code == "result-too-large":
                waiting += self._smaller(answer.text, arguments)
                continue
            assert not answer.result.get("isError"), answer.text
            content = json.loads(answer.text)
            self.ids.update(form.ids(content["data"]))
            told = content.get("extensions", {}).get("stile", {})
            notes = told.get("truncated", [])
            waiting += [self._next(note, arguments) for note in notes if "next" in note]
            silent = [note["how"] for note in notes if "next" not in note]
            again = [each for sentence in silent for each in self._smaller(sentence, arguments)]
            waiting += again
            whole = not any(len(note["path"]) < 4 for note in notes)
            after = form.after(content["data"])
            if after and whole and len(told.get("continued", {}).get("path", [])) < 4:
                waiting.append(({**arguments, **after}, {}))
        raise AssertionError("the answers never end")

    def _of_size(self, size: int) -> dict[str, Any]:
        return {self._form.size: size} if self._form.size else {}

    def _next(self, note: Any, arguments: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        following = dict(note["next"])
        cursor = {name: following.pop(name) for name in ("stileCursor",) if name in following}
        following = following.get("variables", following) if self._writes else following
        return {**arguments, **following}, cursor

    def _smaller(self, sentence: str, arguments: dict[str, Any]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """The call with a smaller page, if the sentence says so."""
        found = re.search(r"with a smaller ([\w, ]+)", sentence)
        size = arguments.get(self._form.size, 0)
        if found is None or self._form.size not in found[1].split(", ") or size < 2:
            self.said.append(sentence)
            return []
        first = self._form.first if "from the first page" in sentence else {}
        return [({**arguments, **first, self._form.size: size // 2}, {})]


def reach(form: Form) -> set[int]:
    """The ids of all rows of a form."""
    rows = set(range(1, ROWS + 1))
    if form.name.endswith(("nest", "bare")):
        return rows | {1000 * row + number for row in rows for number in range(NESTED)}
    return rows


@pytest.fixture(scope="module", params=[(True, 1_600), (True, 3_000), (False, 1_600)], ids=str)
def endpoint(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Function]:
    continues, max_bytes = request.param
    with served(tmp_path_factory.mktemp("paging"), continues=continues, max_bytes=max_bytes) as function:
        yield function


@pytest.mark.parametrize("writes", [False, True], ids=["calls", "writes"])
@pytest.mark.parametrize("name", TRIED)
def test_every_row_is_reached_or_the_answer_says_that_it_cannot(endpoint: Function, name: str, writes: bool) -> None:
    for size in SIZES:
        reader = Reader(endpoint, FORMS[name], writes=writes)

        reader.read_all(size)

        missing = reach(FORMS[name]) - reader.ids
        assert not missing or reader.said or not FORMS[name].names_end, (size, sorted(missing), reader.said)
        if FORMS[name].names_end and not name.endswith(("nest", "bare")):
            assert not missing, (size, sorted(missing), reader.said)


@pytest.mark.parametrize("name", [name for name in TRIED if FORMS[name].names_end])
def test_end_that_an_answer_names_is_that_of_its_last_row(endpoint: Function, name: str) -> None:
    """Whoever reads the named ends alone skips no row: each page begins behind the last one."""
    form = FORMS[name]
    for size in SIZES:
        arguments: dict[str, Any] = {form.size: size}
        top: list[int] = []
        while True:
            answer = Reader(endpoint, form, writes=False).call(arguments, {})
            if answer.code == "result-too-large":
                break
            data = json.loads(answer.text)["data"]
            page = [each for each in form.ids(data) if each <= ROWS]
            top = [*page, *top] if form.backward else [*top, *page]
            after = form.after(data)
            if not after:
                break
            arguments |= after
        seen = sorted(set(top))
        expected = range(ROWS + 1 - len(seen), ROWS + 1) if form.backward else range(1, len(seen) + 1)
        assert seen == [*expected], (size, seen)
