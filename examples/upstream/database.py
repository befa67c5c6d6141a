import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from examples.upstream.demo_data import demo_rows

TABLES = """
create table customers (
    id text primary key, name text not null, email text not null unique, phone text,
    street text not null, city text not null, state text not null, zip text not null, created_at text not null
);
create table employees (
    id text primary key, name text not null, email text not null unique, title text not null,
    ssn text not null unique, salary real not null unique,
    street text not null unique, city text not null, state text not null, zip text not null,
    hired_on text not null, manager_id text references employees (id)
);
create table orders (
    id text primary key, number text not null unique, customer_id text not null references customers (id),
    status text not null, total_cents integer not null, placed_at text not null
);
create index orders_of_customer on orders (customer_id);
create table order_lines (
    order_id text not null references orders (id), line integer not null, product text not null,
    quantity integer not null, unit_price_cents integer not null, primary key (order_id, line)
);
"""


def create_database(path: Path) -> None:
    """Write the demo database, unless there is one already.

    It appears at ``path`` whole or not at all: it is written beside it first.
    """
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".demo-", dir=path.parent) as folder:
        draft = Path(folder) / path.name
        with closing(connect(draft)) as connection, connection:
            connection.executescript(TABLES)
            for table, rows in demo_rows().items():
                marks = ", ".join("?" * len(rows[0]))
                connection.executemany(f"insert into {table} values ({marks})", rows)
        draft.replace(path)


def connect(path: Path) -> sqlite3.Connection:
    """Open the database. Rows answer to column names, and SQL knows ``casefold`` for any alphabet."""
    connection = sqlite3.connect(path)
    connection.row_factory = sqlite3.Row
    connection.create_function("casefold", 1, str.casefold, deterministic=True)
    connection.execute("pragma foreign_keys = on")
    return connection
