"""The cut of one answer: continued lists, errors, bundles without plans, and plans as they are stored."""

from __future__ import annotations

from typing import Any

import pytest
from graphql import build_schema

from handler.answers.fit import CallForm, ResultLimit, cut_value, fit
from handler.answers.plan import ANYTHING, Start, read_plan, write_plan
from handler.errors.infrastructure import BundleError
from handler.errors.upstream import ResultTooLarge
from handler.graph.documents.answer_plan import plan_of_text
from handler.strict_json import to_well_formed_json
from tests.answers.cases import API, OPERATIONS, planned_answer
from tests.support.schemas import view_of

SCHEMA = build_schema(API)
FORM = CallForm(variables={})
SMALL = ResultLimit(max_bytes=3_000, form=FORM)


def plan_of(text: str) -> Any:
    return read_plan(planned_answer(text, SCHEMA, settable=()))


def test_continuing_a_list_reads_every_row_once() -> None:
    plan = plan_of("query { node(id: 1) { id ... on Order { lines { sku } } } orders { nodes { id } } }")
    rows = [{"sku": f"s{number}" * 9} for number in range(200)]
    answer = {"data": {"node": {"id": "1", "lines": rows}, "orders": {"nodes": [{"id": "x"}] * 3}}}
    found: list[Any] = []
    start = None
    while start is None or start.offset:
        limit = ResultLimit(max_bytes=2_000, form=FORM, start=start, continue_at=lambda _: {"stileCursor": "sealed"})
        fitted = fit(answer, plan, limit)
        found += fitted.answer["data"]["node"]["lines"]
        assert len(fitted.text) <= 2_000
        assert (start is None) == bool(fitted.answer["data"]["orders"]["nodes"])
        (place,) = fitted.places or (None,)
        start = Start(path=place.origin, offset=place.seen) if place else Start(path=(), offset=0)

    assert found == rows


def test_list_inside_an_item_is_continued_by_its_place_in_the_apis_answer() -> None:
    plan = plan_of("query { orders { nodes { id lines { sku } } } }")
    orders = [{"id": str(number), "lines": [{"sku": "x" * 50}] * 40} for number in range(3)]
    limit = ResultLimit(
        max_bytes=3_500,
        form=FORM,
        start=Start(path=("orders", "nodes", 1, "lines"), offset=30),
        continue_at=lambda _: {"stileCursor": "sealed"},
    )

    fitted = fit({"data": {"orders": {"nodes": orders}}}, plan, limit)

    assert fitted.answer == {
        "data": {"orders": {"nodes": [{"id": "1", "lines": orders[1]["lines"][30:]}]}},
        "extensions": {"stile": {"continued": {"path": ["orders", "nodes", 0, "lines"], "from": 30}}},
    }
    assert fitted.places == ()


@pytest.mark.parametrize("count", range(200, 240, 2))
def test_tokens_of_a_list_count_its_nulls_as_often_as_it_has_them(count: int) -> None:
    rows = [{"id": str(number), "note": "x" * 200} if number % 2 else None for number in range(count)]

    fitted = fit({"data": {"orders": {"nodes": rows}}}, plan_of("query { orders { nodes { id note } } }"), SMALL)

    (note,) = fitted.answer["extensions"]["stile"]["truncated"]
    rest = to_well_formed_json(rows[note["kept"] :])
    assert note["tokens"] == pytest.approx(len(rest) / 4, rel=0.2)


def test_errors_stay_and_those_of_dropped_items_are_counted() -> None:
    plan = plan_of("query { orders { nodes { id note } } }")
    errors = [{"message": "no", "path": ["orders", "nodes", number, "note"]} for number in (0, 90, 95)]
    answer = {"data": {"orders": {"nodes": [{"id": "1" * 50, "note": None}] * 100}}, "errors": errors}

    fitted = fit(answer, plan, ResultLimit(max_bytes=3_000, form=FORM)).answer

    assert fitted["errors"] == errors
    assert fitted["extensions"]["stile"]["truncated"][0]["errors"] == 2
    assert {node["note"] for node in fitted["data"]["orders"]["nodes"]} == {None}


def test_list_in_a_custom_scalar_is_one_value() -> None:
    plan = plan_of("query { blob tags }")
    answer = {"data": {"blob": ["x" * 20] * 100, "tags": ["y" * 20] * 100}}

    fitted = fit(answer, plan, ResultLimit(max_bytes=3_500, form=FORM)).answer["data"]

    assert fitted["blob"] == answer["data"]["blob"]
    assert 0 < len(fitted["tags"]) < 100


def test_answer_without_a_plan_is_not_cut() -> None:
    with pytest.raises(ResultTooLarge, match="may have 1,000"):
        fit({"data": {"tags": ["y" * 27] * 100}}, None, ResultLimit(max_bytes=1_000, form=FORM))


def test_value_of_a_tool_in_python_is_cut_by_its_own_form() -> None:
    value = [{"name": "x" * 90, "rows": [1, 2]} for _ in range(100)]
    found = cut_value(value, ANYTHING, max_bytes=1_000)

    assert found is not None
    cut, places = found
    assert len(to_well_formed_json(cut)) <= 1_000
    assert cut == value[: len(cut)]
    assert (places[0].kept, places[0].dropped) == (len(cut), 100 - len(cut))


@pytest.mark.parametrize("text", [text for text in OPERATIONS if " = " not in text])  # a call fills in defaults
def test_plan_is_read_as_it_was_written(text: str) -> None:
    plan = plan_of_text(text, view_of(SCHEMA))

    assert read_plan(write_plan(plan)) == plan


@pytest.mark.parametrize("text", ["", "[]", "{}", "[{}]", "[{'f':{'a':{'o':4}}}]", "[{'f':{'a':[]}}]"])
def test_plan_that_was_not_written_is_refused(text: str) -> None:
    with pytest.raises(BundleError, match="publish again"):
        read_plan(text)


PAGED = "query Q($size: Int, $at: String) { orders(first: $size, after: $at) { edges { cursor node { id } } } }"


def paged_answer() -> Any:
    return {"data": {"orders": {"edges": [{"cursor": f"c{each}", "node": {"id": "x" * 40}} for each in range(99)]}}}


def note_of_paged(form: CallForm, **limits: Any) -> Any:
    plan = read_plan(planned_answer(PAGED, SCHEMA, settable=("size", "at")))
    (note,) = fit(paged_answer(), plan, ResultLimit(max_bytes=3_000, form=form, **limits)).answer["extensions"][
        "stile"
    ]["truncated"]
    return note


def test_arguments_of_a_note_replace_those_of_the_call_whole() -> None:
    given = {"size": 99, "at": None}
    flat = note_of_paged(CallForm(variables=given, given=given))
    nested = note_of_paged(CallForm(below=("variables",), variables={**given, "bound": "b"}, given=given))

    assert flat["next"].keys() == {"at"}
    assert nested["next"]["variables"] == {"size": 99, **flat["next"]}


def test_arguments_of_a_note_do_not_fill_the_answer() -> None:
    given = {"ids": ["an id"] * 2_000}

    note = note_of_paged(CallForm(below=("variables",), variables=given, given=given))

    assert "next" not in note
    assert note["how"].startswith('Call again with the same arguments, and at: "c')


def test_no_note_asks_for_a_mutation_once_more() -> None:
    form = CallForm(mutates=True, writes_text=True, variables={})

    note = note_of_paged(form)
    with pytest.raises(ResultTooLarge) as refused:
        fit({"data": {"me": "x" * 9_000}}, None, ResultLimit(max_bytes=3_000, form=form))

    assert note["how"] == "The mutation was sent: do not repeat it to read the rest."
    assert "next" not in note
    assert "Ask for" not in str(refused.value)
    assert "largest" not in str(refused.value)  # nothing is known of the fields


def test_call_with_a_cursor_goes_on_by_cursors_of_the_same_kind() -> None:
    start = Start(path=("orders", "edges"), offset=3)

    note = note_of_paged(
        FORM, start=start, continue_at=lambda _: {"next": {"stileCursor": "sealed"}, "how": "With it."}
    )

    assert note["next"] == {"stileCursor": "sealed"}


@pytest.mark.parametrize("nodes", [{}, {"nodes": None}])
@pytest.mark.parametrize("path", [("orders", "edges"), ("orders", "edges", 1, "node", "lines")])
def test_continued_answer_has_no_list_that_the_api_left_out(path: tuple[str | int, ...], nodes: dict[str, Any]) -> None:
    text = "query { orders { edges { node { id lines { sku } } } nodes { id } } }"
    edges = [{"node": {"id": "1", "lines": [{"sku": "a"}]}}] * 3
    limit = ResultLimit(max_bytes=3_000, form=FORM, start=Start(path=path, offset=0))

    answer = fit({"data": {"orders": {"edges": edges, **nodes}}}, plan_of(text), limit).answer

    assert {key: value for key, value in answer["data"]["orders"].items() if key != "edges"} == nodes


CURSORS = build_schema("""
type Query { found: [Found!]! page: Page }
union Found = Page | Row
type Page { cursor: String prevCursor: String text: String }
type Row { text: String }
""")


def test_cursor_is_never_cut_under_any_name_that_ends_so() -> None:
    text = "query { page { cursor at: prevCursor text } found { ... on Page { by: cursor } ... on Row { by: text } } }"
    plan = read_plan(planned_answer(text, CURSORS, settable=()))
    page = {"cursor": "c" * 1_600, "at": "d" * 1_600, "text": "x" * 9_000}
    answer = {"data": {"page": page, "found": [{"by": "c" * 1_600}]}}

    fitted = fit(answer, plan, ResultLimit(max_bytes=6_000, form=FORM)).answer["data"]

    assert fitted["page"] | {"text": ""} == page | {"text": ""}
    assert fitted["page"]["text"].endswith("…")
    assert fitted["found"] == answer["data"]["found"]
