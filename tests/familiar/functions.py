"""Functions as authors write them for FastMCP and the official SDK: a hint or a return of each kind."""

# No postponed annotations: the types of the packages come as arguments.

import datetime as dt
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field
from typing_extensions import TypedDict


class Scope(Enum):
    ALL = "all"
    API = "api"


@dataclass
class Page:
    title: str
    scope: Scope = Scope.ALL


class Order(BaseModel):
    """An order."""

    number: int
    note: str = ""


class Weather(TypedDict):
    temperature: float


def scalars(text: str, number: int, amount: float, on: bool) -> str:
    """Take each scalar."""
    return text


def anything(value: Any, other) -> str:  # type: ignore[no-untyped-def]
    """Take any JSON."""
    return str(value)


def literals(mode: Literal["b", "a"], one: Literal["x"] = "x") -> str:
    """Take one of some texts."""
    return mode


def enums(scope: Scope, other: Scope = Scope.ALL) -> str:
    """Take a member."""
    return scope.value


def optional(limit: int | None = None, name: str | int = "") -> str:
    """Take one or the other."""
    return str(limit)


def lists(many: list[int], some: Sequence[str], few: set[int], pair: tuple[int, str]) -> str:
    """Take lists."""
    return str(many)


def mappings(counts: dict[str, int]) -> str:
    """Take a mapping."""
    return str(counts)


def dataclasses(page: Page) -> str:
    """Take a dataclass."""
    return page.title


def typed_dicts(weather: Weather) -> str:
    """Take a TypedDict."""
    return str(weather)


def models(order: Order) -> str:
    """Take a model."""
    return str(order)


def formats(at: dt.datetime, day: dt.date, key: uuid.UUID, price: Decimal) -> str:
    """Take texts of a format."""
    return str(at)


def constraints(
    query: Annotated[str, Field(min_length=2, description="Search terms")],
    limit: Annotated[int, Field(ge=1, le=50)] = 10,
) -> str:
    """Take what is bounded."""
    return query


def aliases(from_: Annotated[str, Field(alias="from")]) -> str:
    """Take it by another name."""
    return from_


def nothing() -> None:
    """Take and return nothing."""


def texts() -> str:
    """Return a text."""
    return ""


def objects() -> Page:
    """Return a dataclass."""
    return Page("")


def returned_models() -> Order:
    """Return a model."""
    return Order(number=1)


def returned_dicts() -> Weather:
    """Return a TypedDict."""
    return {"temperature": 1}


def bare() -> dict:  # type: ignore[type-arg]
    """Return any object."""
    return {}


def returned_lists() -> list[int]:
    """Return a list."""
    return []


def numbers() -> int:
    """Return a number."""
    return 1


def maybe() -> int | None:
    """Return a number or nothing."""
    return None


def functions(context: Any, block: Any) -> list[Callable[..., Any]]:
    """The functions of this module, and those that take a package's context or return its content block."""

    def contexts(query: str, ctx: context) -> str:
        """Take the context."""
        return query

    def blocks() -> block:
        """Return a block."""

    taking: list[Callable[..., Any]] = [scalars, anything, literals, enums, optional, lists, mappings]
    typed: list[Callable[..., Any]] = [dataclasses, typed_dicts, models, formats, constraints, aliases, contexts]
    plain: list[Callable[..., Any]] = [nothing, texts, blocks, bare, returned_lists, numbers, maybe]
    return [*taking, *typed, *plain, objects, returned_models, returned_dicts]
