"""What a query or the mutation is given, checked and put into the database's words."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from enum import Enum

import strawberry

from examples.upstream.errors import BadInputError
from examples.upstream.objects import Money

MAX_QUANTITY = 1000


@strawberry.enum(description="What employees are sorted by.")
class EmployeeOrder(Enum):
    NAME_ASC = strawberry.enum_value("name asc", description="By name, from A to Z.")
    NAME_DESC = strawberry.enum_value("name desc", description="By name, from Z to A.")
    SALARY_ASC = strawberry.enum_value("salary asc", description="By salary, lowest first.")
    SALARY_DESC = strawberry.enum_value("salary desc", description="By salary, highest first.")
    HIRED_ASC = strawberry.enum_value("hired_on asc", description="By first day of work, earliest first.")
    HIRED_DESC = strawberry.enum_value("hired_on desc", description="By first day of work, latest first.")


@strawberry.input(description="Which customers to list: those that fit everything given.")
class CustomerFilter:
    name_contains: str | None = strawberry.field(
        default=strawberry.UNSET, description="Part of the name, in upper or lower case."
    )
    city: str | None = strawberry.field(default=strawberry.UNSET, description="City of the address.")
    state: str | None = strawberry.field(
        default=strawberry.UNSET, description="Two-letter state of the address, such as CA."
    )
    created_after: datetime | None = strawberry.field(
        default=strawberry.UNSET, description="The account was opened later than this; UTC, unless it says."
    )


@strawberry.input(description="Which employees to list: those that fit everything given.")
class EmployeeFilter:
    name_contains: str | None = strawberry.field(
        default=strawberry.UNSET, description="Part of the name, in upper or lower case."
    )
    title: str | None = strawberry.field(default=strawberry.UNSET, description="The exact job title.")
    salary_gt: float | None = strawberry.field(
        default=strawberry.UNSET, description="Yearly salary above this many US dollars."
    )
    salary_lt: float | None = strawberry.field(
        default=strawberry.UNSET, description="Yearly salary below this many US dollars."
    )


@strawberry.input(description="One product to order.")
class OrderLineInput:
    product: str = strawberry.field(description="Name of the product.")
    quantity: int = strawberry.field(default=1, description=f"How many pieces, from 1 to {MAX_QUANTITY}.")
    unit_price: Money = strawberry.field(description="Price of one piece.")


@strawberry.input(description="An order to place.")
class PlaceOrderInput:
    customer_id: strawberry.ID = strawberry.field(description="Who orders.")
    lines: list[OrderLineInput] = strawberry.field(description="What is ordered; at least one product.")


def customer_conditions(where: CustomerFilter) -> dict[str, object]:
    return {
        "instr(casefold(name), casefold(?)) > 0": where.name_contains,
        "city = ?": where.city,
        "state = ?": where.state,
        "created_at > ?": utc_text(where.created_after) if where.created_after else None,
    }


def utc_text(moment: datetime) -> str:
    """The moment as the database writes it."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return aware.astimezone(UTC).isoformat(timespec="seconds")


def employee_conditions(where: EmployeeFilter) -> dict[str, object]:
    return {
        "instr(casefold(name), casefold(?)) > 0": where.name_contains,
        "title = ?": where.title,
        "salary > ?": where.salary_gt,
        "salary < ?": where.salary_lt,
    }


def require_order_lines(lines: Sequence[OrderLineInput]) -> None:
    if not lines:
        raise BadInputError("input.lines: expected at least one")
    for place, line in enumerate(lines):
        if not line.product.strip():
            raise BadInputError(f"input.lines[{place}].product: expected a name")
        if not 1 <= line.quantity <= MAX_QUANTITY:
            raise BadInputError(f"input.lines[{place}].quantity: expected 1 to {MAX_QUANTITY}, got {line.quantity}")


def total_of(lines: Iterable[OrderLineInput]) -> Money:
    return Money(sum(line.quantity * line.unit_price for line in lines))
