"""The shop's customers, orders and employees: invented, and the same on every machine."""

import unicodedata
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import product
from random import Random
from typing import TypeAlias, TypeVar

T = TypeVar("T")
Row: TypeAlias = tuple[str | int | float | None, ...]

CUSTOMER_COUNT = 1000
EMPLOYEE_COUNT = 60
FIRST_DAY = datetime(2021, 1, 1, tzinfo=UTC)
LAST_DAY = datetime(2026, 6, 30, tzinfo=UTC)


def demo_rows() -> dict[str, list[Row]]:
    """The rows of every table, by table name, in the order of the table's columns."""
    rng = Random(20260630)
    names = [f"{first} {last}" for first, last in product(FIRST_NAMES, LAST_NAMES)]
    names.sort(key=lambda _: rng.random())
    joined = sorted(some_time(rng, after=FIRST_DAY) for _ in range(CUSTOMER_COUNT))
    customers = [customer_row(rng, n, names.pop(), created_at) for n, created_at in enumerate(joined, start=1)]
    employees = [employee_row(rng, n, names.pop()) for n in range(1, EMPLOYEE_COUNT + 1)]
    # Like the customers, in the order of time: the higher id is always the newer order.
    placed = sorted(order for customer in customers for order in place_orders(rng, customer))
    orders: list[Row] = []
    lines: list[Row] = []
    for number, (placed_at, customer_id) in enumerate(placed, start=1):
        bought = list(order_lines(rng, f"ordr_{number:05}"))
        total = sum(quantity * unit_price for *_, quantity, unit_price in bought)
        orders.append(order_row(number, customer_id, pick(rng, STATUSES), total, placed_at))
        lines += bought
    return {"customers": customers, "employees": employees, "orders": orders, "order_lines": lines}


def customer_row(rng: Random, number: int, name: str, created_at: datetime) -> Row:
    city, state, zip_prefix = pick(rng, CITIES)
    phone = f"+1 {pick(rng, (206, 303, 415, 512, 617))} 555 01{between(rng, 0, 99):02}"
    return (
        f"cust_{number:04}",
        name,
        f"{email_name(name)}@example.com",
        phone if rng.random() < 0.9 else None,
        f"{between(rng, 1, 9999)} {pick(rng, CUSTOMER_STREETS)}",
        city,
        state,
        f"{zip_prefix}{between(rng, 1, 99):02}",
        created_at.isoformat(),
    )


def employee_row(rng: Random, number: int, name: str) -> Row:
    city, state, zip_prefix = pick(rng, CITIES)
    title, manager_id, salaries = position(rng, number)
    cents = [cents for cents in range(1, 100) if cents % 10][number]  # distinct, and two digits in a float
    return (
        f"empl_{number:02}",
        name,
        f"{email_name(name)}@staff.example.com",
        title,
        # No social security number begins with 9; of the taxpayer numbers that do, none has 10 to 49 next.
        f"{900 + number}-{between(rng, 10, 49)}-{between(rng, 1000, 9999)}",
        (between(rng, *salaries) * 100 + cents) / 100,
        f"{100 + 13 * number} {pick(rng, EMPLOYEE_STREETS)}",
        city,
        state,
        f"{zip_prefix}{between(rng, 1, 99):02}",
        some_time(rng, after=FIRST_DAY).date().isoformat(),
        manager_id,
    )


def position(rng: Random, number: int) -> tuple[str, str | None, tuple[int, int]]:
    """A title, a manager's id, and the least and the most it pays: for the head of all, the heads of
    departments, and their staff.
    """
    if number == 1:
        return "Chief Executive Officer", None, (230_000, 260_000)
    if number <= 1 + len(DEPARTMENTS):
        return f"Head of {DEPARTMENTS[number - 2]}", "empl_01", (135_000, 190_000)
    return pick(rng, STAFF_TITLES), f"empl_{2 + number % len(DEPARTMENTS):02}", (52_000, 120_000)


def place_orders(rng: Random, customer: Row) -> Iterator[tuple[str, str]]:
    """When one customer ordered, nought to eight times, each with the customer's id."""
    customer_id, *_, created_at = customer
    for _ in range(between(rng, 0, 8)):
        placed_at = some_time(rng, after=datetime.fromisoformat(str(created_at)))
        yield placed_at.isoformat(), str(customer_id)


def order_lines(rng: Random, order_id: str) -> Iterator[tuple[str, int, str, int, int]]:
    for line in range(1, between(rng, 1, 5) + 1):
        name, price_cents = pick(rng, PRODUCTS)
        yield order_id, line, name, between(rng, 1, 4), price_cents


def order_row(number: int, customer_id: str, status: str, total_cents: int, placed_at: str) -> Row:
    return f"ordr_{number:05}", f"SO-{100_000 + number}", customer_id, status, total_cents, placed_at


def email_name(name: str) -> str:
    """The name as the part of an email address before the @: ``Zoë O'Brien`` is ``zoe.obrien``."""
    ascii_name = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return ascii_name.lower().replace(" ", ".").replace("'", "")


# Of Random's methods, only random() promises the same numbers in every version of Python.


def pick(rng: Random, choices: Sequence[T]) -> T:
    return choices[int(rng.random() * len(choices))]


def between(rng: Random, low: int, high: int) -> int:
    """A whole number from ``low`` to ``high``, both included."""
    return low + int(rng.random() * (high - low + 1))


def some_time(rng: Random, *, after: datetime) -> datetime:
    return after + timedelta(seconds=between(rng, 1, int((LAST_DAY - after).total_seconds())))


STATUSES = ("PENDING", "PAID", "PAID", "SHIPPED", "SHIPPED", *["DELIVERED"] * 6, "CANCELLED")

DEPARTMENTS = ("Finance", "Marketing", "Operations", "People", "Product", "Support")

STAFF_TITLES = (
    "Accountant",
    "Buyer",
    "Copywriter",
    "Designer",
    "Engineer",
    "Recruiter",
    "Support Agent",
    "Warehouse Lead",
)

FIRST_NAMES = """
    Ada Alan Amara Anders Bea Carlos Chen Clara Daan Dmitri Edith Elif Emeka Farah Felix Grace Hana
    Hugo Imani Ines Ivan Jun Kai Katya Lars Leila Linus Lucía Malik Mei Mira Nadia Noah Olga Omar
    Priya Quinn Rosa Ruth Samir Sofia Tariq Theo Uma Vera Wanda Xavier Yara Yusuf Zoë
""".split()  # noqa: SIM905  a list would be a name a line

LAST_NAMES = """
    Abbott Ahmed Almeida Baker Becker Brook Castillo Cooper Dupont Eriksen Farmer Fischer García
    Haddad Hopper Ibrahim Ito Jansen Kaplan Kim Kovács Larsen Lovelace Mason Mbeki Meyer Moreau
    Nguyen Novak Núñez O'Brien Okafor Patel Quist Rossi Sato Silva Singh Tanaka Turner Underwood
    Vasquez Weaver Yilmaz Zhang
""".split()  # noqa: SIM905  a list would be a name a line

CUSTOMER_STREETS = (
    "Alder Street",
    "Birch Avenue",
    "Canal Road",
    "Harbor Drive",
    "Juniper Lane",
    "Lakeview Terrace",
    "Maple Street",
    "Mill Road",
    "Orchard Lane",
    "Park Avenue",
    "Station Street",
    "Sunset Boulevard",
)

# None of these is a customer's street, so an employee's address is known wherever it turns up.
EMPLOYEE_STREETS = (
    "Falconer Row",
    "Gaslight Mews",
    "Ironmonger Way",
    "Lanternfish Court",
    "Quarrystone Close",
    "Thistledown Hill",
)

CITIES = (
    ("Albany", "NY", "122"),
    ("Austin", "TX", "787"),
    ("Boise", "ID", "837"),
    ("Boston", "MA", "021"),
    ("Chicago", "IL", "606"),
    ("Denver", "CO", "802"),
    ("Houston", "TX", "770"),
    ("Madison", "WI", "537"),
    ("Miami", "FL", "331"),
    ("New York", "NY", "100"),
    ("Oakland", "CA", "946"),
    ("Portland", "OR", "972"),
    ("Sacramento", "CA", "958"),
    ("Seattle", "WA", "981"),
    ("Spokane", "WA", "992"),
)

# Each with its price in cents.
PRODUCTS = (
    ("Beeswax Candle", 1295),
    ("Bread Knife", 4450),
    ("Cast Iron Skillet", 5900),
    ("Ceramic Teapot", 4800),
    ("Cherry Cutting Board", 7250),
    ("Coffee Grinder", 8999),
    ("Cooper's Oak Barrel", 24900),
    ("Copper Kettle", 11500),
    ("Enamel Mug", 1450),
    ("Espresso Cups, Set of 6", 5400),
    ("French Press", 3995),
    ("Glass Carafe", 2850),
    ("Linen Apron", 3600),
    ("Mason Jar Set", 2199),
    ("Milk Frother", 2975),
    ("Mixing Bowl", 3325),
    ("Pepper Mill", 4125),
    ("Pour-Over Stand", 6780),
    ("Rolling Pin", 1875),
    ("Sourdough Basket", 2240),
    ("Stoneware Plate", 1999),
    ("Tea Towel", 950),
    ("Walnut Spoon", 1625),
    ("Weaver's Wool Blanket", 15800),
)
