import hashlib
import json
import re
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import urllib3

from examples.upstream.database import connect, create_database
from examples.upstream.demo_data import demo_rows
from tests.support.upstream import ROOT, Upstream, running_upstream

SCHEMA_FILE = ROOT / "examples/endpoints/api/customers/schema.graphql"


@pytest.fixture(scope="module")
def upstream(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Upstream]:
    with running_upstream(tmp_path_factory.mktemp("upstream")) as running:
        yield running


def answer(upstream: Upstream, document: str, **variables: object) -> dict[str, Any]:
    response = urllib3.request("POST", upstream.url, json={"query": document, "variables": variables})
    assert response.status == 200
    body: dict[str, Any] = response.json()
    return body


def ask(upstream: Upstream, document: str, **variables: object) -> dict[str, Any]:
    body = answer(upstream, document, **variables)
    assert "errors" not in body
    found: dict[str, Any] = body["data"]
    return found


def only_error(upstream: Upstream, document: str, **variables: object) -> dict[str, Any]:
    (error,) = answer(upstream, document, **variables)["errors"]
    found: dict[str, Any] = error
    return found


def content_hash(path: Path) -> str:
    with closing(sqlite3.connect(path)) as connection:
        return hashlib.sha256("\n".join(connection.iterdump()).encode()).hexdigest()


# The database


def test_two_databases_have_equal_content(tmp_path: Path) -> None:
    create_database(tmp_path / "one.sqlite")
    create_database(tmp_path / "two.sqlite")

    assert content_hash(tmp_path / "one.sqlite") == content_hash(tmp_path / "two.sqlite")


def test_rows_are_the_same_on_every_machine() -> None:
    rows = json.dumps(demo_rows(), ensure_ascii=False)

    assert hashlib.sha256(rows.encode()).hexdigest() == (
        "07257c5a3bd801d8de1aef4babe4df2d46e98335638b4e98840c6f8544517087"
    )


def test_database_is_made_quickly_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    started = time.process_time()
    create_database(tmp_path / "new" / "demo.sqlite")

    assert time.process_time() - started < 5
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["demo.sqlite"]


def test_database_that_exists_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "demo.sqlite"
    create_database(path)
    with closing(connect(path)) as connection, connection:
        connection.execute("update customers set name = 'Somebody Else' where id = 'cust_0001'")
    before = content_hash(path)

    create_database(path)

    assert content_hash(path) == before


def test_database_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "demo.sqlite"

    with ThreadPoolExecutor(2) as threads:
        both = [threads.submit(create_database, path) for _ in range(2)]
        while not path.exists() and not all(each.done() for each in both):
            pass
        at_first_sight = content_hash(path)
        for each in both:
            each.result()

    assert at_first_sight == content_hash(path)


def test_every_customer_has_an_address_and_up_to_eight_orders_of_up_to_five_lines() -> None:
    rows = demo_rows()
    orders = Counter(row[2] for row in rows["orders"])
    lines = Counter(row[0] for row in rows["order_lines"])

    assert len(rows["customers"]) == 1000
    assert all(all(customer[4:8]) for customer in rows["customers"])
    assert 3800 <= len(rows["orders"]) <= 4200
    assert set(orders.values()) == set(range(1, 9))
    assert len(orders) < 1000
    assert set(lines.values()) == set(range(1, 6))
    assert len(lines) == len(rows["orders"])


def test_what_is_confidential_of_an_employee_is_found_nowhere_else() -> None:
    rows = demo_rows()
    employees = rows.pop("employees")
    everything_else = json.dumps(rows)

    assert len(employees) == 60
    for *_, ssn, salary, street, _city, _state, _zip, _hired_on, _manager in employees:
        assert re.fullmatch(r"9\d\d-\d\d-\d{4}", str(ssn))
        assert re.fullmatch(r"\d{5,6}\.\d\d", str(salary))
        assert not any(str(secret) in everything_else for secret in (ssn, salary, street))
    assert all(len({employee[column] for employee in employees}) == 60 for column in (4, 5, 6))


def test_only_the_first_employee_has_no_manager() -> None:
    managers = {row[0]: row[-1] for row in demo_rows()["employees"]}

    assert [employee for employee, manager in managers.items() if manager is None] == ["empl_01"]
    assert {manager for manager in managers.values() if manager} < set(managers)


# The schema


def test_schema_file_is_what_the_server_prints() -> None:
    printed = subprocess.run(
        [sys.executable, "-m", "examples.upstream", "--print-schema"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        encoding="utf-8",
    )

    assert printed.stdout == SCHEMA_FILE.read_text("utf-8")


def test_every_type_field_argument_and_enum_value_is_described(upstream: Upstream) -> None:
    types = ask(
        upstream,
        """{ __schema { types { name description
          fields { name description args { name description } }
          inputFields { name description }
          enumValues { name description } } } }""",
    )["__schema"]["types"]
    own = [each for each in types if not each["name"].startswith("__")]
    parts = [part for each in own for part in nested(each)]

    assert len(parts) > 100
    assert [part["name"] for part in parts if not part["description"]] == []


def nested(part: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield part
    for key in ("fields", "args", "inputFields", "enumValues"):
        for child in part.get(key) or []:
            yield from nested(child)


# Queries


def test_customer_is_found_by_email_in_any_case(upstream: Upstream) -> None:
    (row,) = upstream.query_rows("select * from customers where id = ?", "cust_0007")

    found = ask(
        upstream,
        """query ($email: String!) { customer(email: $email) {
          id name email phone createdAt address { street city state zip } } }""",
        email=row["email"].upper(),
    )["customer"]

    assert found == {
        "id": "cust_0007",
        "name": row["name"],
        "email": row["email"],
        "phone": row["phone"],
        "createdAt": row["created_at"],
        "address": {part: row[part] for part in ("street", "city", "state", "zip")},
    }


def test_customer_nobody_knows_is_null(upstream: Upstream) -> None:
    assert ask(upstream, '{ customer(email: "nobody@example.com") { id } }') == {"customer": None}


def test_quotes_in_a_value_are_no_sql(upstream: Upstream) -> None:
    document = "query ($text: String!) { customers(filter: {nameContains: $text}) { totalCount } }"

    assert ask(upstream, document, text="' or 1=1 --")["customers"]["totalCount"] == 0
    assert ask(upstream, document, text="o'brien")["customers"]["totalCount"] > 0


def test_employee_is_found_by_id_with_manager_and_reports(upstream: Upstream) -> None:
    (row,) = upstream.query_rows("select * from employees where id = ?", "empl_03")
    reports = upstream.query_rows("select id from employees where manager_id = ? order by name", "empl_03")

    found = ask(
        upstream,
        """{ employee(id: "empl_03") { id name email title ssn salary hiredOn
          address { street city state zip } manager { id } reports { id manager { id } } } }""",
    )["employee"]

    assert found == {
        "id": "empl_03",
        "name": row["name"],
        "email": row["email"],
        "title": row["title"],
        "ssn": row["ssn"],
        "salary": row["salary"],
        "hiredOn": row["hired_on"],
        "address": {part: row[part] for part in ("street", "city", "state", "zip")},
        "manager": {"id": "empl_01"},
        "reports": [{"id": report["id"], "manager": {"id": "empl_03"}} for report in reports],
    }


def test_order_is_found_by_id_with_customer_and_lines(upstream: Upstream) -> None:
    (row,) = upstream.query_rows("select * from orders where id = ?", "ordr_00042")
    lines = upstream.query_rows("select * from order_lines where order_id = ? order by line", "ordr_00042")

    found = ask(
        upstream,
        """{ order(id: "ordr_00042") { id number status total placedAt customer { id }
          lines { product quantity unitPrice } } }""",
    )["order"]

    assert found == {
        "id": "ordr_00042",
        "number": row["number"],
        "status": row["status"],
        "total": str(Decimal(row["total_cents"]).scaleb(-2)),
        "placedAt": row["placed_at"],
        "customer": {"id": row["customer_id"]},
        "lines": [
            {
                "product": line["product"],
                "quantity": line["quantity"],
                "unitPrice": str(Decimal(line["unit_price_cents"]).scaleb(-2)),
            }
            for line in lines
        ],
    }
    assert Decimal(found["total"]) == sum(Decimal(line["unitPrice"]) * line["quantity"] for line in found["lines"])


@pytest.mark.parametrize(
    ("node_id", "expected"),
    [
        ("cust_0001", {"__typename": "Customer", "id": "cust_0001"}),
        ("empl_01", {"__typename": "Employee", "id": "empl_01"}),
        ("ordr_00001", {"__typename": "Order", "id": "ordr_00001"}),
        ("cust_9999", None),
        ("nonsense", None),
    ],
)
def test_node_is_whatever_has_the_id(upstream: Upstream, node_id: str, expected: dict[str, str] | None) -> None:
    assert ask(upstream, "query ($id: ID!) { node(id: $id) { __typename id } }", id=node_id) == {"node": expected}


def test_person_is_an_interface_of_customers_and_employees(upstream: Upstream) -> None:
    document = "query ($id: ID!) { node(id: $id) { ... on Person { name address { city } } } }"
    (customer,) = upstream.query_rows("select * from customers where id = 'cust_0002'")
    (employee,) = upstream.query_rows("select * from employees where id = 'empl_02'")

    for row in (customer, employee):
        assert ask(upstream, document, id=row["id"])["node"] == {
            "name": row["name"],
            "address": {"city": row["city"]},
        }
    assert ask(upstream, document, id="ordr_00001")["node"] == {}


def test_search_finds_every_kind_in_turns(upstream: Upstream) -> None:
    found = ask(
        upstream,
        """{ search(text: "MASON", first: 6) { __typename
          ... on Customer { name } ... on Employee { name } ... on Order { lines { product } } } }""",
    )["search"]

    assert [each["__typename"] for each in found[:3]] == ["Customer", "Employee", "Order"]
    assert len(found) == 6
    assert all("Mason" in json.dumps(each) for each in found)


def test_search_finds_an_order_by_its_number(upstream: Upstream) -> None:
    found = ask(upstream, '{ search(text: "so-100777") { ... on Order { id number } } }')["search"]

    assert found == [{"id": "ordr_00777", "number": "SO-100777"}]


# Lists


CUSTOMERS_PAGE = """query ($filter: CustomerFilter, $first: Int!, $after: String) {
  page: customers(filter: $filter, first: $first, after: $after) {
    totalCount edges { cursor node { id } } pageInfo { hasNextPage endCursor } } }"""


def all_pages(upstream: Upstream, document: str, **variables: object) -> list[list[str]]:
    """The ids on each page, from the first page to the last."""
    pages: list[list[str]] = []
    after = None
    while True:
        data = ask(upstream, document, after=after, **variables)
        page = data["page"] if "page" in data else data["customer"]["page"]
        pages.append([edge["node"]["id"] for edge in page["edges"]])
        if not page["pageInfo"]["hasNextPage"]:
            assert sum(map(len, pages)) == page["totalCount"]
            return pages
        after = page["pageInfo"]["endCursor"]
        assert after == page["edges"][-1]["cursor"]


def test_customers_page_through_to_the_end_without_gaps(upstream: Upstream) -> None:
    rows = upstream.query_rows("select id from customers order by id")

    pages = all_pages(upstream, CUSTOMERS_PAGE, first=90)

    assert [len(page) for page in pages] == [90] * 11 + [10]
    assert [node_id for page in pages for node_id in page] == [row["id"] for row in rows]


def test_last_page_may_be_full(upstream: Upstream) -> None:
    assert [len(page) for page in all_pages(upstream, CUSTOMERS_PAGE, first=100)] == [100] * 10


def test_filtered_customers_page_through_to_the_end_without_gaps(upstream: Upstream) -> None:
    rows = upstream.query_rows(
        """select id from customers where state = ? and instr(lower(name), 'an') and created_at > ?
        order by id""",
        "CA",
        "2022-03-01T00:00:00+00:00",
    )

    pages = all_pages(
        upstream,
        CUSTOMERS_PAGE,
        first=7,
        filter={"state": "CA", "nameContains": "AN", "createdAfter": "2022-03-01T02:00:00+02:00"},
    )

    assert len(pages) > 2
    assert [node_id for page in pages for node_id in page] == [row["id"] for row in rows]


def test_filter_by_city_and_null_in_a_filter(upstream: Upstream) -> None:
    rows = upstream.query_rows("select id from customers where city = 'Boston' order by id")

    pages = all_pages(upstream, CUSTOMERS_PAGE, first=100, filter={"city": "Boston", "state": None})

    assert pages == [[row["id"] for row in rows]]


def test_filter_nothing_fits_gives_an_empty_page(upstream: Upstream) -> None:
    page = ask(upstream, CUSTOMERS_PAGE, first=5, filter={"city": "Atlantis"})["page"]

    assert page == {
        "totalCount": 0,
        "edges": [],
        "pageInfo": {"hasNextPage": False, "endCursor": None},
    }


def test_customer_created_at_the_very_moment_is_not_created_after_it(upstream: Upstream) -> None:
    (newest,) = upstream.query_rows("select max(created_at) as at from customers")

    page = ask(upstream, CUSTOMERS_PAGE, first=5, filter={"createdAfter": newest["at"]})["page"]

    assert page["totalCount"] == 0


def test_orders_of_a_customer_page_through_newest_first(upstream: Upstream) -> None:
    (busiest,) = upstream.query_rows(
        """select email, customers.id from customers join orders on customer_id = customers.id
        group by customers.id order by count(*) desc, customers.id limit 1"""
    )
    rows = upstream.query_rows("select id from orders where customer_id = ? order by placed_at desc", busiest["id"])

    pages = all_pages(
        upstream,
        """query ($email: String!, $first: Int!, $after: String) { customer(email: $email) {
          page: orders(first: $first, after: $after) {
            totalCount edges { cursor node { id } } pageInfo { hasNextPage endCursor } } } }""",
        email=busiest["email"],
        first=3,
    )

    assert [len(page) for page in pages] == [3, 3, 2]
    assert [node_id for page in pages for node_id in page] == [row["id"] for row in rows]


def test_orders_of_a_customer_by_status(upstream: Upstream) -> None:
    (row,) = upstream.query_rows(
        """select email, customer_id, count(*) as delivered from orders join customers
        on customers.id = customer_id where status = 'DELIVERED' group by customer_id
        order by delivered desc limit 1"""
    )

    orders = ask(
        upstream,
        """query ($email: String!) { customer(email: $email) {
          orders(status: DELIVERED) { totalCount edges { node { status } } } } }""",
        email=row["email"],
    )["customer"]["orders"]

    assert orders["totalCount"] == row["delivered"]
    assert orders["edges"] == [{"node": {"status": "DELIVERED"}}] * row["delivered"]


@pytest.mark.parametrize(
    ("order_by", "sql"),
    [
        ("NAME_ASC", "name"),
        ("NAME_DESC", "name desc"),
        ("SALARY_ASC", "salary"),
        ("SALARY_DESC", "salary desc"),
        ("HIRED_ASC", "hired_on"),
        ("HIRED_DESC", "hired_on desc"),
    ],
)
def test_employees_come_in_the_chosen_order(upstream: Upstream, order_by: str, sql: str) -> None:
    rows = upstream.query_rows(f"select id from employees order by {sql}, id")

    found = ask(
        upstream,
        "query ($orderBy: EmployeeOrder!) { employees(orderBy: $orderBy, first: 60) { id } }",
        orderBy=order_by,
    )["employees"]

    assert [each["id"] for each in found] == [row["id"] for row in rows]


def test_employees_are_twenty_by_name_unless_asked_otherwise(upstream: Upstream) -> None:
    rows = upstream.query_rows("select name from employees order by name limit 20")

    assert ask(upstream, "{ employees { name } }")["employees"] == [{"name": row["name"]} for row in rows]


def test_employees_fit_everything_in_the_filter(upstream: Upstream) -> None:
    rows = upstream.query_rows(
        "select id from employees where title = ? and salary > ? and salary < ? and instr(lower(name), 'a')",
        "Engineer",
        60_000,
        110_000,
    )

    found = ask(
        upstream,
        """{ employees(first: 100,
          where: {title: "Engineer", salaryGt: 60000, salaryLt: 110000.0, nameContains: "a"}) { id } }""",
    )["employees"]

    assert rows
    assert {each["id"] for each in found} == {row["id"] for row in rows}


# The mutation


PLACE_ORDER = """mutation ($input: PlaceOrderInput!) { placeOrder(input: $input) {
  id number status total placedAt customer { id } lines { product quantity unitPrice } } }"""


def test_placed_order_is_written_and_found_again(upstream: Upstream) -> None:
    lines = [
        {"product": "Tea Towel", "unitPrice": "9.50"},
        {"product": "Bowl", "quantity": 3, "unitPrice": "0.05"},
    ]

    placed = ask(upstream, PLACE_ORDER, input={"customerId": "cust_0005", "lines": lines})["placeOrder"]

    (row,) = upstream.query_rows("select * from orders where id = ?", placed["id"])
    written = upstream.query_rows("select * from order_lines where order_id = ? order by line", placed["id"])
    assert tuple(row) == (placed["id"], placed["number"], "cust_0005", "PENDING", 965, placed["placedAt"])
    assert [tuple(line)[1:] for line in written] == [(1, "Tea Towel", 1, 950), (2, "Bowl", 3, 5)]
    assert placed["total"] == "9.65"
    assert placed["lines"] == [
        {"product": "Tea Towel", "quantity": 1, "unitPrice": "9.50"},
        {"product": "Bowl", "quantity": 3, "unitPrice": "0.05"},
    ]
    again = PLACE_ORDER.replace("mutation ($input: PlaceOrderInput!)", "query ($id: ID!)")
    again = again.replace("placeOrder(input: $input)", "order(id: $id)")
    assert ask(upstream, again, id=placed["id"])["order"] == placed


def test_orders_placed_at_once_get_numbers_of_their_own(upstream: Upstream) -> None:
    order = {"customerId": "cust_0006", "lines": [{"product": "Tea Towel", "unitPrice": "9.50"}]}

    with ThreadPoolExecutor(8) as threads:
        placed = list(threads.map(lambda _: ask(upstream, PLACE_ORDER, input=order)["placeOrder"], range(24)))

    assert len({each["id"] for each in placed}) == len({each["number"] for each in placed}) == 24


@pytest.mark.parametrize(
    ("order", "code", "message"),
    [
        (
            {"customerId": "cust_9999", "lines": [{"product": "Bowl", "unitPrice": "1.00"}]},
            "NOT_FOUND",
            'input.customerId: there is no customer "cust_9999"',
        ),
        ({"customerId": "cust_0001", "lines": []}, "BAD_USER_INPUT", "input.lines: expected at least one"),
        (
            {"customerId": "cust_0001", "lines": [{"product": " ", "unitPrice": "1.00"}]},
            "BAD_USER_INPUT",
            "input.lines[0].product: expected a name",
        ),
        (
            {"customerId": "cust_0001", "lines": [{"product": "Bowl", "quantity": 0, "unitPrice": "1.00"}]},
            "BAD_USER_INPUT",
            "input.lines[0].quantity: expected 1 to 1000, got 0",
        ),
    ],
)
def test_order_that_makes_no_sense_is_not_placed(
    upstream: Upstream, order: dict[str, object], code: str, message: str
) -> None:
    before = upstream.query_rows("select count(*) from orders")

    error = only_error(upstream, PLACE_ORDER, input=order)

    assert error["message"] == message
    assert error["extensions"] == {"code": code}
    assert error["path"] == ["placeOrder"]
    assert upstream.query_rows("select count(*) from orders") == before


@pytest.mark.parametrize("amount", ["12", "12.5", "-1.00", "1,000.00", "", 12.5, "9999999999.00", "١.٠٠"])
def test_money_is_a_string_with_two_decimals(upstream: Upstream, amount: object) -> None:
    order = {"customerId": "cust_0001", "lines": [{"product": "Bowl", "unitPrice": amount}]}

    error = only_error(upstream, PLACE_ORDER, input=order)

    assert 'expected an amount with two decimals, such as "1234.50"' in error["message"]


# Bad input


@pytest.mark.parametrize("first", [0, -1, 101])
@pytest.mark.parametrize(
    "field",
    [
        "customers(first: $first) { totalCount }",
        "employees(first: $first) { id }",
        'search(text: "a", first: $first) { __typename }',
    ],
)
def test_first_is_from_1_to_100(upstream: Upstream, field: str, first: int) -> None:
    error = only_error(upstream, f"query ($first: Int!) {{ {field} }}", first=first)

    assert error["message"] == f"first: expected 1 to 100, got {first}"
    assert error["extensions"] == {"code": "BAD_USER_INPUT"}


@pytest.mark.parametrize("after", ["nonsense", "é", "Y3VzdG9tZXJz", "b3JkZXJzOm9yZHJfMDAwMDE=", "_w=="])
def test_cursor_of_no_such_list_is_refused(upstream: Upstream, after: str) -> None:
    error = only_error(upstream, CUSTOMERS_PAGE, first=5, after=after)

    assert error["message"] == f'after: "{after}" is not a cursor of this list'
    assert error["extensions"] == {"code": "BAD_USER_INPUT"}


def test_search_for_nothing_is_refused(upstream: Upstream) -> None:
    error = only_error(upstream, '{ search(text: "  ") { __typename } }')

    assert error["message"] == "text: expected something to search for"
    assert error["extensions"] == {"code": "BAD_USER_INPUT"}


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("{ customer", "Syntax Error: Expected Name, found <EOF>."),
        ("{ nothing }", "Cannot query field 'nothing' on type 'Query'."),
        ('{ customers(filter: {createdAfter: "soon"}) { totalCount } }', 'represent a DateTime: "soon"'),
        ("{ employees(orderBy: SHOE_SIZE) { id } }", "Value 'SHOE_SIZE' does not exist in 'EmployeeOrder'"),
    ],
)
def test_document_that_does_not_fit_gives_a_graphql_error(upstream: Upstream, document: str, message: str) -> None:
    assert message in only_error(upstream, document)["message"]


def test_mistakes_of_the_caller_leave_no_traceback(tmp_path: Path) -> None:
    with running_upstream(tmp_path) as upstream:
        only_error(upstream, "{ customers(first: 0) { totalCount } }")
        only_error(upstream, "{ nothing }")

    assert (tmp_path / "upstream.out").read_text() == ""


# What reached it


def test_log_has_the_whole_request_and_no_health_checks(upstream: Upstream) -> None:
    upstream.clear()
    urllib3.request("GET", upstream.url.replace("/graphql", "/health"))
    body = json.dumps({"query": '{ customer(email: "zoë\u2028@example.com") { id } }'}, ensure_ascii=False)

    urllib3.request(
        "POST",
        upstream.url,
        body=body.encode(),
        headers={"Content-Type": "application/json", "Authorization": "Bearer abc", "X-Trace": "1"},
    )

    (request,) = upstream.requests()
    assert request["method"] == "POST"
    assert request["path"] == "/graphql"
    assert request["headers"]["authorization"] == "Bearer abc"
    assert request["headers"]["x-trace"] == "1"
    assert request["body"] == body
    assert request["at"].endswith("+00:00")


def test_log_has_malformed_requests_too(upstream: Upstream) -> None:
    upstream.clear()
    sent = [
        ("POST", "/graphql", b"{nope", 400),
        ("POST", "/graphql", b"\xff", 400),
        ("POST", "/graphql", b"[]", 400),
        ("GET", "/graphql", b"", 400),
        ("DELETE", "/graphql", b"", 405),
        ("POST", "/elsewhere", b"{}", 404),
    ]

    for method, path, body, status in sent:
        url = upstream.url.replace("/graphql", path)
        headers = {"Content-Type": "application/json"}
        assert urllib3.request(method, url, body=body, headers=headers).status == status

    logged = [(each["method"], each["path"], each["body"]) for each in upstream.requests()]
    assert logged == [(method, path, body.decode("utf-8", "replace")) for method, path, body, _ in sent]


def test_clear_forgets_what_came_before(upstream: Upstream) -> None:
    ask(upstream, "{ __typename }")

    upstream.clear()

    assert upstream.requests() == []


def test_get_is_a_query_as_well(upstream: Upstream) -> None:
    upstream.clear()

    response = urllib3.request("GET", upstream.url, fields={"query": "{ __typename }"})

    assert response.json() == {"data": {"__typename": "Query"}}
    assert upstream.requests()[0]["query_string"] == "query=%7B+__typename+%7D"


def test_no_page_is_served_to_browsers(upstream: Upstream) -> None:
    response = urllib3.request("GET", upstream.url, headers={"Accept": "text/html"})

    assert response.status == 404
    assert "html" not in response.headers["Content-Type"]
