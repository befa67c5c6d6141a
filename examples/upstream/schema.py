"""What the API can be asked, and the one thing it can be told to do."""

# strawberry.field is typed as Any, so mypy takes it for an untyped decorator.
# mypy: disable-error-code="untyped-decorator"

import sqlite3
from datetime import datetime
from typing import Annotated, Any, TypeAlias

import strawberry
from strawberry.schema.config import StrawberryConfig
from strawberry.types import ExecutionContext

from examples.upstream.errors import BadInputError, NotFoundError
from examples.upstream.inputs import (
    CustomerFilter,
    EmployeeFilter,
    EmployeeOrder,
    PlaceOrderInput,
    customer_conditions,
    employee_conditions,
    require_order_lines,
    total_of,
    utc_text,
)
from examples.upstream.objects import (
    CUSTOMERS,
    MONEY,
    Customer,
    Employee,
    Info,
    Money,
    Node,
    Order,
    OrderStatus,
    find_customer,
    find_employee,
    find_node,
    find_order,
)
from examples.upstream.pages import (
    After,
    Connection,
    First,
    read_connection,
    require_page_size,
    where_clause,
)

SearchResult: TypeAlias = Annotated[
    Customer | Employee | Order,
    strawberry.union("SearchResult", description="Whatever a search can find."),
]


@strawberry.type(description="What the API can be asked.")
class Query:
    @strawberry.field(description="The customer with this email address.")
    def customer(
        self,
        info: Info,
        email: Annotated[str, strawberry.argument(description="The whole email address, in any case.")],
    ) -> Customer | None:
        found = info.context.database.execute("select * from customers where email = ?", [email.lower()])
        row = found.fetchone()
        return Customer.of(row) if row else None

    @strawberry.field(description="All customers, or those that fit a filter, the longest known first.")
    def customers(
        self,
        info: Info,
        where: Annotated[
            CustomerFilter | None,
            strawberry.argument(name="filter", description="Which customers to list; all, if left out."),
        ] = strawberry.UNSET,
        first: First = 20,
        after: After = strawberry.UNSET,
    ) -> Connection[Customer]:
        conditions = customer_conditions(where) if where else {}
        return read_connection(info.context.database, CUSTOMERS, conditions, first=first, after=after)

    @strawberry.field(description="The employee with this id.")
    def employee(
        self,
        info: Info,
        employee_id: Annotated[
            strawberry.ID, strawberry.argument(name="id", description="Id of an employee, such as empl_01.")
        ],
    ) -> Employee | None:
        return find_employee(info.context.database, employee_id)

    @strawberry.field(description="Employees that fit a filter, in a chosen order.")
    def employees(
        self,
        info: Info,
        where: Annotated[
            EmployeeFilter | None,
            strawberry.argument(description="Which employees to list; all, if left out."),
        ] = strawberry.UNSET,
        order_by: Annotated[
            EmployeeOrder, strawberry.argument(description="What to sort by.")
        ] = EmployeeOrder.NAME_ASC,
        first: First = 20,
    ) -> list[Employee]:
        clause, values = where_clause(employee_conditions(where) if where else {})
        rows = info.context.database.execute(
            f"select * from employees{clause} order by {order_by.value}, id limit ?",
            [*values, require_page_size(first)],
        )
        return [Employee.of(row) for row in rows]

    @strawberry.field(description="The order with this id.")
    def order(
        self,
        info: Info,
        order_id: Annotated[
            strawberry.ID, strawberry.argument(name="id", description="Id of an order, such as ordr_00001.")
        ],
    ) -> Order | None:
        return find_order(info.context.database, order_id)

    @strawberry.field(
        description="Customers and employees by name, email or title, and orders by number or product. "
        "The best finds of each kind take turns."
    )
    def search(
        self,
        info: Info,
        text: Annotated[str, strawberry.argument(description="What to look for, in upper or lower case.")],
        first: First = 10,
    ) -> list[SearchResult]:
        if not text.strip():
            raise BadInputError("text: expected something to search for")
        found = info.context.database.execute(SEARCH, {"text": text.strip(), "first": require_page_size(first)})
        nodes = [find_node(info.context.database, row["id"]) for row in found.fetchall()]
        return [node for node in nodes if node]

    @strawberry.field(description="Whatever has this id: a customer, an employee or an order.")
    def node(
        self,
        info: Info,
        node_id: Annotated[strawberry.ID, strawberry.argument(name="id", description="The id to look up.")],
    ) -> Node | None:
        return find_node(info.context.database, node_id)


@strawberry.type(description="What the API can be told to do.")
class Mutation:
    @strawberry.mutation(description="Place an order for a customer. It starts as PENDING.")
    def place_order(
        self,
        info: Info,
        order: Annotated[PlaceOrderInput, strawberry.argument(name="input", description="Who orders what.")],
    ) -> Order:
        database = info.context.database
        require_order_lines(order.lines)
        if not find_customer(database, order.customer_id):
            raise NotFoundError(f'input.customerId: there is no customer "{order.customer_id}"')
        return insert_order(database, order, placed_at=info.context.now)


SEARCH = """
with texts (id, kind, text) as (
    select id, 1, name || ' ' || email from customers
    union all
    select id, 2, name || ' ' || email || ' ' || title from employees
    union all
    select id, 3, number || ' ' || group_concat(product, ' ')
    from orders join order_lines on order_id = id group by id
),
finds (id, kind, place) as (select id, kind, instr(casefold(text), casefold(:text)) from texts)
select id from finds where place > 0
order by row_number() over (partition by kind order by place, id), kind limit :first
"""


def insert_order(database: sqlite3.Connection, order: PlaceOrderInput, *, placed_at: datetime) -> Order:
    with database:
        database.execute("begin immediate")  # nobody else takes the number meanwhile
        (count,) = database.execute("select count(*) + 1 from orders").fetchone()
        placed = Order(
            id=strawberry.ID(f"ordr_{count:05}"),
            number=f"SO-{100_000 + count}",
            status=OrderStatus.PENDING,
            total=total_of(order.lines),
            placed_at=placed_at,
            customer_id=order.customer_id,
        )
        database.execute(
            "insert into orders values (?, ?, ?, ?, ?, ?)",
            [
                placed.id,
                placed.number,
                placed.customer_id,
                placed.status.name,
                placed.total,
                utc_text(placed_at),
            ],
        )
        database.executemany(
            "insert into order_lines values (?, ?, ?, ?, ?)",
            [
                (placed.id, place, line.product, line.quantity, line.unit_price)
                for place, line in enumerate(order.lines, start=1)
            ],
        )
    return placed


class QuietSchema(strawberry.Schema):
    def process_errors(self, errors: list[Any], execution_context: ExecutionContext | None = None) -> None:
        """Log what went wrong in here; a mistake of the caller's is for the caller alone to know."""
        failures = [error for error in errors if error.path and not error.extensions]
        super().process_errors(failures, execution_context)


schema = QuietSchema(query=Query, mutation=Mutation, config=StrawberryConfig(scalar_map={Money: MONEY}))
