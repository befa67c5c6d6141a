"""The price of calls, worked out from measured durations and from prices that have a date and a source.

python -m benchmarks.money --calls 1000000
python -m benchmarks.money --fixed

Durations are those of ``benchmarks/results/cold.md``, measured on a whole processor. Lambda gives a share of one in
proportion to memory, and bills the start of an instance too.

Source: AWS Lambda, "Configure Lambda function memory": 1,769 MB have one vCPU.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.report import RESULTS
from benchmarks.runner import ROOT
from handler.server.log import METRICS

MB_OF_A_PROCESSOR = 1_769
PRICES = ROOT / "benchmarks" / "prices.toml"
COLD, WARM = "cold, ms", "warm, µs over floor"
"""Columns of the results."""

SECRETS = 2
"""Keys that the template makes: of the log, and of states."""

MONTH_S = 730 * 3_600
CHEAPER_METRICS = 10_000
"""CloudWatch's metrics at the first price."""

FIXED = (1, 200, 5_000)
"""Numbers of endpoints in the table of what is due with the first call of a month."""

MODES = ("off", "function", "endpoint")
"""Values of the template's parameter ``Metrics``."""

MEMBERS = frozenset({"usd", "per", "date", "source"})


@dataclass(frozen=True)
class Price:
    """A price of so many units, with the date and page that it was taken from."""

    usd: float
    per: float
    date: str
    source: str

    def of(self, amount: float) -> float:
        """Return the dollars for an amount."""
        return amount * self.usd / self.per


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what calls cost, part by part."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.money", description=__doc__)
    parser.add_argument("--calls", type=int, default=1_000_000)
    parser.add_argument("--memory", type=int, default=1_024, metavar="MB")
    parser.add_argument("--architecture", choices=["arm64", "x86_64"], default="arm64")
    parser.add_argument("--call", default="prescribed call, S3", help="the row of benchmarks/results/cold.md")
    parser.add_argument("--upstream-ms", type=float, default=100, help="how long the API takes")
    parser.add_argument("--cold", type=float, default=0.01, help="the share of calls that start an instance")
    parser.add_argument("--log-bytes", type=int, default=2_000, help="bytes of all logs for a call")
    parser.add_argument("--endpoints", type=int, default=1, help="endpoints that are called in the month")
    parser.add_argument("--metrics", choices=MODES, default="function", help="the template's parameter Metrics")
    parser.add_argument("--snapstart", type=int, default=0, metavar="VERSIONS", help="versions that have a snapshot")
    parser.add_argument("--fixed", action="store_true", help="print what is due with the first call of a month")
    parser.add_argument("--prices", type=Path, default=PRICES)
    options = parser.parse_args(arguments)
    prices = read_prices(options.prices)
    if options.fixed:
        sys.stdout.write(fixed(prices))
        return 0
    cold_ms, warm_ms = measured((RESULTS / "cold.md").read_text("utf-8"), options.call)
    share = min(1.0, options.memory / MB_OF_A_PROCESSOR)
    billed_ms = math.ceil(options.upstream_ms + warm_ms / share) + options.cold * cold_ms / share
    gb_s = options.calls * billed_ms / 1_000 * options.memory / 1_024
    parts = {
        f"Lambda, {gb_s:,.0f} GB-seconds ({billed_ms:.1f} ms a call)": prices[f"lambda_gb_s_{options.architecture}"].of(
            gb_s
        ),
        "Lambda, requests": prices["lambda_requests"].of(options.calls),
        "HTTP API, requests": prices["http_api_requests"].of(options.calls),
        f"logs, {options.log_bytes:,} bytes a call": prices["log_gb"].of(options.calls * options.log_bytes / 1e9),
        **monthly(prices, endpoints=options.endpoints, mode=options.metrics),
    }
    if options.snapstart:
        memory_gb, restores = options.memory / 1_024, options.calls * options.cold
        cached = options.snapstart * memory_gb * MONTH_S
        parts[f"SnapStart, snapshots of versions: {options.snapstart}, for a month"] = prices[
            "snapstart_cache_gb_s"
        ].of(cached)
        parts[f"SnapStart, {restores:,.0f} restores"] = prices["snapstart_restore_gb"].of(restores * memory_gb)
    sys.stdout.write(told(parts, options.calls))
    return 0


def monthly(prices: Mapping[str, Price], *, endpoints: int, mode: str) -> dict[str, float]:
    """Return the dollars that are due with the first call of a month, part by part.

    A metric is due for a month in which it has a value. This counts all metrics, as of a month with failures.
    """
    by_endpoint = sum(metric.by_endpoint for metric in METRICS)
    count = {"off": 0, "function": len(METRICS), "endpoint": len(METRICS) + endpoints * by_endpoint}[mode]
    metrics = prices["metric_months"].of(min(count, CHEAPER_METRICS))
    metrics += prices["metric_months_above_10000"].of(max(0, count - CHEAPER_METRICS))
    return {
        f"metrics, {count:,} for a month": metrics,
        f"secrets, {SECRETS} for a month": prices["secret_months"].of(SECRETS),
    }


def fixed(prices: Mapping[str, Price]) -> str:
    """Return lines with the dollars that are due with the first call, by the number of endpoints and ``Metrics``."""
    lines = [f"{'endpoints':>14}" + "".join(f"{f'Metrics={mode}':>20}" for mode in MODES)]
    for endpoints in FIXED:
        sums = (sum(monthly(prices, endpoints=endpoints, mode=mode).values()) for mode in MODES)
        lines.append(f"{endpoints:>14,}" + "".join(f"{each:>20,.2f}" for each in sums))
    return "\n".join(lines) + "\n"


def told(parts: Mapping[str, float], calls: int) -> str:
    """Return the parts and their sum as lines."""
    lines = [f"{usd:8.2f}  {name}" for name, usd in parts.items()]
    return "\n".join([*lines, f"{sum(parts.values()):8.2f}  US dollars for {calls:,} calls"]) + "\n"


def read_prices(file: Path) -> dict[str, Price]:
    """Return prices by name.

    Raises:
        SystemExit: a price without a date or a source, or with something else.
    """
    found = tomllib.loads(file.read_text("utf-8"))
    for name, price in found.items():
        if price.keys() != MEMBERS or not price["date"] or not price["source"]:
            raise SystemExit(f"{file.name}: {name}: expected {', '.join(sorted(MEMBERS))}")
    return {name: Price(**price) for name, price in found.items()}


def measured(page: str, call: str) -> tuple[float, float]:
    """Return the milliseconds of a cold start, and of a warm call over those of an empty function, of a row."""
    head, row = (re.search(rf"^\| {re.escape(name)} \|(.*)\|$", page, re.MULTILINE) for name in ("function", call))
    if not head or not row:
        raise SystemExit(f"benchmarks/results/cold.md: there is no row {call!r}")
    headings, cells = ([cell.strip() for cell in found[1].split("|")] for found in (head, row))
    return float(cells[headings.index(COLD)]), float(cells[headings.index(WARM)]) / 1_000


if __name__ == "__main__":
    sys.exit(main())
