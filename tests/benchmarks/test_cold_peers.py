from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.cold_peers import Compared, table_of, try_peers
from benchmarks.container import ColdStart, Function
from benchmarks.functions.cases import FLOOR
from benchmarks.functions.peer_cases import Peer, locked_version
from benchmarks.starts import Measured


def peer(folder: Path, name: str, code: str, *, installed: Path) -> Peer:
    (folder / f"{name}.py").write_text(code, encoding="utf-8")

    def function(method: str) -> Function:
        return Function(
            name=f"{method}, {name}",
            python=Path(sys.executable),
            folder=folder,
            handler=f"{name}.handler",
            event=b"{}",
            expects="result",
        )

    return Peer(name=name, folder=installed, listing=function("tools/list"), calling=function("tools/call"))


def some(total_ms: float, *, warm_us: float = 10, peak_bytes: int = 1_000_000) -> Measured:
    start = ColdStart(init_ms=1, total_ms=total_ms, cpu_ms=1, peak_bytes=peak_bytes)
    return Measured(starts=[start], warm_us=[warm_us])


def compared(trouble: str = "") -> Compared:
    return Compared(name="a package", listing="listed", calling="called", size=2_500_000, trouble=trouble)


MEASURED = {FLOOR: some(10), "listed": some(40), "called": some(55, warm_us=310, peak_bytes=3_000_000)}


def test_peer_that_answers_is_measured(tmp_path: Path) -> None:
    good = peer(tmp_path, "good", "def handler(event, _):\n    return 'result'\n", installed=tmp_path)

    (row,) = try_peers([good])

    assert (row.name, row.listing, row.calling) == ("good", "tools/list, good", "tools/call, good")
    assert row.trouble == ""
    assert row.size > 0


def test_peer_that_does_not_start_is_told_with_its_reason_and_the_others_go_on(tmp_path: Path) -> None:
    bad = peer(tmp_path, "bad", "import a_package_that_is_not_there\n", installed=tmp_path)
    good = peer(tmp_path, "good", "def handler(event, _):\n    return 'result'\n", installed=tmp_path)

    first, second = try_peers([bad, good])

    assert first.trouble.startswith("does not answer: ")
    assert "a_package_that_is_not_there" in first.trouble
    assert second.trouble == ""


def test_peer_that_is_not_installed_is_told_and_not_started(tmp_path: Path) -> None:
    (row,) = try_peers([peer(tmp_path, "absent", "", installed=tmp_path / "nothing")])

    assert (row.trouble, row.size) == ("not installed", 22)  # an empty zip


def test_table_has_ratios_to_the_floor_and_the_zip() -> None:
    assert table_of([compared()], MEASURED).splitlines()[2:] == [
        "| a package | 40 | 4.0 | 55 | 5.5 | 3.0 | 3.0 | 300 | 2.50 |"
    ]


def test_table_says_why_a_peer_was_not_measured() -> None:
    head, _, row = table_of([compared("not installed")], {FLOOR: some(10)}).splitlines()

    assert row == "| a package | not installed |  |  |  |  |  |  |  |"
    assert row.count("|") == head.count("|")


def test_peers_are_named_with_the_versions_of_their_locks() -> None:
    for short, package in (
        ("labs", "awslabs-mcp-lambda-handler"),
        ("sdk", "mcp"),
        ("fastmcp", "fastmcp"),
        ("graphql-mcp", "graphql-mcp"),
    ):
        assert locked_version(short, package)[0].isdigit()
