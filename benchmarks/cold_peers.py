"""The table that stands the function beside packages from PyPI."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.container import Container, ContainerFailed, Function
from benchmarks.functions.cases import (
    CODE_CALL,
    CODE_LIST,
    FLOOR,
    GITHUB_CALL,
    GITHUB_LIST,
    OUR_CALL,
    OUR_LIST,
    Builds,
)
from benchmarks.functions.peer_cases import Peer
from benchmarks.report import MB
from benchmarks.starts import Measured, zip_bytes

REPORTED = re.compile(r'"errorMessage": "((?:[^"\\]|\\.)*)')

NOTE = """\
Each package with the least server of a tool that its documentation shows, its request handled by itself or by Mangum,
for a client of revision 2025-06-18 and without sessions; the same Python, rounds and floor. Their zips are the folder
that pip makes, bytecode included, without boto3 and botocore, which Lambda has. Memory and the warm call are those of
the tool. The tool of the first three answers with a constant and asks no API; the others ask one that has no data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """What a row is of: the names of two functions that were measured, or why they were not."""

    name: str
    listing: str
    calling: str
    size: int
    trouble: str = ""


def ours(builds: Builds) -> list[Compared]:
    """The function's own rows."""
    plain, coded = zip_bytes(builds.artifact), zip_bytes(builds.coded)
    return [
        Compared(name="Stile, the demo's API, a prescribed tool", listing=OUR_LIST, calling=OUR_CALL, size=plain),
        Compared(name="Stile, GitHub's API, a GraphQL tool", listing=GITHUB_LIST, calling=GITHUB_CALL, size=plain),
        Compared(name="Stile, a tool in Python", listing=CODE_LIST, calling=CODE_CALL, size=coded),
    ]


def try_peers(peers: Iterable[Peer]) -> list[Compared]:
    """A row for each, after one start of both its functions: one that fails is told and not measured."""
    return [
        Compared(
            name=peer.name,
            listing=peer.listing.name,
            calling=peer.calling.name,
            size=zip_bytes(peer.folder),
            trouble=_trouble(peer.folder, (peer.listing, peer.calling)),
        )
        for peer in peers
    ]


def _trouble(folder: Path, functions: Iterable[Function]) -> str:
    if not folder.is_dir():
        return "not installed"
    try:
        for function in functions:
            with Container(function) as container:
                container.start()
                container.call()
    except ContainerFailed as exc:
        return f"does not answer: {_reason(str(exc))}".replace("|", r"\|")
    return ""


def _reason(failure: str) -> str:
    """What AWS's runtime client reports, or what was said first."""
    reported = REPORTED.search(failure)
    return (reported[1] if reported else failure.splitlines()[0])[:200]


def table_of(rows: Sequence[Compared], measured: Mapping[str, Measured]) -> str:
    """The table, its floor first."""
    floor = measured[FLOOR]
    head = (
        "| package | tools/list, cold, ms | x floor | tools/call, cold, ms | x floor | peak MB | x floor "
        "| warm, µs over floor | zip, MB |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
    )
    return head + "".join(f"| {' | '.join(_cells(row, measured, floor))} |\n" for row in rows)


def _cells(row: Compared, measured: Mapping[str, Measured], floor: Measured) -> list[str]:
    if row.trouble:
        return [row.name, row.trouble, *[""] * 7]
    listing, calling = measured[row.listing], measured[row.calling]
    starts = (each.start_ms(processor=False) for each in (listing, calling))
    least = floor.start_ms(processor=False)
    return [
        row.name,
        *(cell for start in starts for cell in (f"{start:.0f}", f"{start / least:.1f}")),
        f"{calling.peak_bytes / MB:.1f}",
        f"{calling.peak_bytes / floor.peak_bytes:.1f}",
        f"{calling.call_us - floor.call_us:.0f}",
        f"{row.size / MB:.2f}",
    ]
