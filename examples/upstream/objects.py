"""What the API is about: customers with their orders, and employees."""

# strawberry.field is typed as Any, so mypy takes it for an untyped decorator.
# mypy: disable-error-code="untyped-decorator"

import re
import sqlite3
from dataclasses import dataclass
from datetime import date, datetime
from enum import Enum
from typing import Annotated, NewType, TypeAlias

import strawberry

from examples.upstream.pages import After, Connection, First, Listing, read_connection


@dataclass(frozen=True, slots=True)
class Context:
    """What a request brings along for the resolvers."""

    database: sqlite3.Connection
    now: datetime


Info: TypeAlias = strawberry.Info[Context, None]

Money = NewType("Money", int)  # cents


def print_money(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02}"


def parse_money(text: object) -> Money:
    if not isinstance(text, str) or not re.fullmatch(r"[0-9]{1,9}\.[0-9]{2}", text):
        raise ValueError('expected an amount with two decimals, such as "1234.50"')
    return Money(int(text.replace(".", "")))


MONEY = strawberry.scalar(
    name="Money",
    description='An amount in US dollars with two decimals, such as "1234.50".',
    serialize=print_money,
    parse_value=parse_money,
)


@strawberry.enum(description="How far an order has come.")
class OrderStatus(Enum):
    PENDING = strawberry.enum_value("PENDING", description="Placed, and not paid yet.")
    PAID = strawberry.enum_value("PAID", description="Paid, and waiting to be sent.")
    SHIPPED = strawberry.enum_value("SHIPPED", description="On its way to the customer.")
    DELIVERED = strawberry.enum_value("DELIVERED", description="Received by the customer.")
    CANCELLED = strawberry.enum_value("CANCELLED", description="Called off; nothing will be sent.")


@strawberry.type(description="A postal address in the United States.")
class Address:
    street: str = strawberry.field(description="House number and street.")
    city: str = strawberry.field(description="City or town.")
    state: str = strawberry.field(description="Two-letter code of the state, such as CA.")
    zip: str = strawberry.field(description="Five-digit ZIP code.")

    @classmethod
    def of(cls, row: sqlite3.Row) -> "Address":
        return cls(street=row["street"], city=row["city"], state=row["state"], zip=row["zip"])


@strawberry.interface(description="Anything with an id of its own.")
class Node:
    id: strawberry.ID = strawberry.field(description="Identifies this among everything the API knows.")


@strawberry.interface(description="Somebody with a name and an email address.")
class Person:
    id: strawberry.ID = strawberry.field(description="Identifies this person among everything the API knows.")
    name: str = strawberry.field(description="First and last name.")
    email: str = strawberry.field(description="Email address; no two people share one.")
    address: Address | None = strawberry.field(description="Where this person lives, if known.")


@strawberry.type(description="Somebody who buys from the shop.")
class Customer(Node, Person):
    phone: str | None = strawberry.field(description="Phone number with country code, if known.")
    created_at: datetime = strawberry.field(description="When the customer's account was opened.")

    @strawberry.field(description="The customer's orders, newest first.")
    def orders(
        self,
        info: Info,
        first: First = 10,
        after: After = strawberry.UNSET,
        status: Annotated[
            OrderStatus | None, strawberry.argument(description="Only orders that have come this far.")
        ] = strawberry.UNSET,
    ) -> "Connection[Order]":
        conditions = {"customer_id = ?": self.id, "status = ?": status.name if status else None}
        return read_connection(info.context.database, ORDERS, conditions, first=first, after=after)

    @classmethod
    def of(cls, row: sqlite3.Row) -> "Customer":
        return cls(
            id=row["id"],
            name=row["name"],
            email=row["email"],
            phone=row["phone"],
            address=Address.of(row),
            created_at=datetime.fromisoformat(row["created_at"]),
        )


@strawberry.type(description="One product of an order.")
class OrderLine:
    product: str = strawberry.field(description="Name of the product.")
    quantity: int = strawberry.field(description="How many pieces were ordered.")
    unit_price: Money = strawberry.field(description="Price of one piece when the order was placed.")

    @classmethod
    def of(cls, row: sqlite3.Row) -> "OrderLine":
        return cls(product=row["product"], quantity=row["quantity"], unit_price=Money(row["unit_price_cents"]))


@strawberry.type(description="A purchase by a customer.")
class Order(Node):
    number: str = strawberry.field(description="Order number as printed on the invoice, such as SO-100001.")
    status: OrderStatus = strawberry.field(description="How far the order has come.")
    total: Money = strawberry.field(description="Sum of all lines.")
    placed_at: datetime = strawberry.field(description="When the customer placed the order.")
    customer_id: strawberry.Private[str]

    @strawberry.field(description="Who placed the order.")
    def customer(self, info: Info) -> Customer:
        row = info.context.database.execute("select * from customers where id = ?", [self.customer_id])
        return Customer.of(row.fetchone())

    @strawberry.field(description="What was ordered, product by product.")
    def lines(self, info: Info) -> list[OrderLine]:
        rows = info.context.database.execute("select * from order_lines where order_id = ? order by line", [self.id])
        return [OrderLine.of(row) for row in rows]

    @classmethod
    def of(cls, row: sqlite3.Row) -> "Order":
        return cls(
            id=row["id"],
            number=row["number"],
            status=OrderStatus[row["status"]],
            total=Money(row["total_cents"]),
            placed_at=datetime.fromisoformat(row["placed_at"]),
            customer_id=row["customer_id"],
        )


@strawberry.type(description="Somebody who works for the shop.")
class Employee(Node, Person):
    title: str = strawberry.field(description="Job title.")
    ssn: str = strawberry.field(description="Social security number. Confidential.")
    salary: float = strawberry.field(description="Yearly salary in US dollars. Confidential.")
    hired_on: date = strawberry.field(description="First day of work.")
    manager_id: strawberry.Private[str | None]

    @strawberry.field(description="Whom the employee reports to; nobody, at the top.")
    def manager(self, info: Info) -> "Employee | None":
        return find_employee(info.context.database, self.manager_id)

    @strawberry.field(description="Who reports to the employee, by name.")
    def reports(self, info: Info) -> "list[Employee]":
        rows = info.context.database.execute("select * from employees where manager_id = ? order by name", [self.id])
        return [Employee.of(row) for row in rows]

    @classmethod
    def of(cls, row: sqlite3.Row) -> "Employee":
        return cls(
            id=row["id"],
            name=row["name"],
            email=row["email"],
            title=row["title"],
            ssn=row["ssn"],
            salary=row["salary"],
            address=Address.of(row),
            hired_on=date.fromisoformat(row["hired_on"]),
            manager_id=row["manager_id"],
        )


CUSTOMERS = Listing(table="customers", node_of=Customer.of)
ORDERS = Listing(table="orders", node_of=Order.of, newest_first=True)


def find_customer(database: sqlite3.Connection, customer_id: str) -> Customer | None:
    row = database.execute("select * from customers where id = ?", [customer_id]).fetchone()
    return Customer.of(row) if row else None


def find_employee(database: sqlite3.Connection, employee_id: str | None) -> Employee | None:
    row = database.execute("select * from employees where id = ?", [employee_id]).fetchone()
    return Employee.of(row) if row else None


def find_order(database: sqlite3.Connection, order_id: str) -> Order | None:
    row = database.execute("select * from orders where id = ?", [order_id]).fetchone()
    return Order.of(row) if row else None


def find_node(database: sqlite3.Connection, node_id: str) -> Customer | Employee | Order | None:
    """Whatever has this id: its first four letters tell the kind."""
    match node_id[:5]:
        case "cust_":
            return find_customer(database, node_id)
        case "empl_":
            return find_employee(database, node_id)
        case "ordr_":
            return find_order(database, node_id)
    return None
