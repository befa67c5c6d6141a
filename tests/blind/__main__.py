"""``python -m tests.blind``: a blind search for the hidden fields of five APIs, with their views and without.

Ends with 1 if the view tells anything, or if the attack finds less than it should where nothing is hidden.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tests.blind.attacker import Outcome, Probe, attack, attack_at_random, probes_of, serving
from tests.blind.model import Api
from tests.blind.styles import STYLES

HIDDEN = 20
HEADINGS = (
    *("style", "recovered without hiding", "inputs tried", "requests accepted", "that tell something hidden"),
    "recovered",
)
PROBES = 1_000
DOCUMENTS = 200


@dataclass(frozen=True, kw_only=True)
class Result:
    """An attack on one API where nothing is hidden, and on the view of one caller."""

    style: str
    without: Outcome
    view: Outcome
    random: list[str]

    @property
    def told(self) -> list[str]:
        """The requests that the view answers by a hidden field."""
        return [*self.view.told, *self.random, *sorted(self.view.recovered)]

    def row(self) -> str:
        cells = (
            self.style,
            f"{len(self.without.recovered)} of {HIDDEN}",
            f"{self.view.probes:,}",
            f"{self.view.accepted:,}",
            str(len(self.told)),
            f"{len(self.view.recovered)} of {HIDDEN}",
        )
        return f"| {' | '.join(cells)} |\n"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.blind")
    parser.add_argument("--probes", type=int, default=PROBES, help="inputs to try in each view")
    parser.add_argument("--documents", type=int, default=DOCUMENTS, help="random requests to each view")
    parser.add_argument("--styles", nargs="+", default=list(STYLES), choices=list(STYLES))
    options = parser.parse_args()
    sys.stdout.write(f"| {' | '.join(HEADINGS)} |\n| {' | '.join(['---'] * len(HEADINGS))} |\n")
    failed = False
    for style in options.styles:
        result = run(style, probes=options.probes, documents=options.documents)
        sys.stdout.write(result.row())
        sys.stdout.flush()
        for text in result.told:
            sys.stderr.write(f"{style}: {text}\n")
        failed |= bool(result.told) or len(result.without.recovered) < HIDDEN
    return int(failed)


def run(style: str, *, probes: int, documents: int, fields: int = HIDDEN) -> Result:
    """Attack the API of one style: without hiding ``fields`` by as few inputs as need be, and then its view."""
    api, random = STYLES[style](), Random(f"blind {style}")
    known = list(probes_of(api))
    with tempfile.TemporaryDirectory() as work:
        with serving(api, Path(work) / "open", hide=False) as served:
            promising = _promising(api, known)
            without = attack(served, [*random.sample(promising, fields), *_defaults(known)])
        with serving(api, Path(work) / "view", hide=True) as served:
            view = attack(served, _some(known, random, count=probes))
            told = attack_at_random(served, random, documents=documents)
    return Result(style=style, without=without, view=view, random=told)


def _promising(api: Api, probes: Sequence[Probe]) -> list[Probe]:
    """For each hidden field an input that compares it, or sorts by it."""
    chosen: list[Probe] = []
    for name, entity in api.entities.items():
        for each in entity.hidden:
            about = [probe for probe in probes if probe.about(f"{name}.{each}") and probe.own]
            about = [probe for probe in about if api.roots[probe.root].entity == name and "group" not in probe.root]
            text = api.kinds[each] == "String"
            words = ("start", "prefix") if text else ("gt", "greater", "min")
            finds = [probe for probe in about if any(word in "".join(probe.path).lower() for word in words)]
            sorts = [probe for probe in about if probe.kind == "order" and "distinct" not in probe.path[0]]
            chosen += (finds or sorts)[:1]
    return chosen


def _defaults(probes: Sequence[Probe]) -> list[Probe]:
    """The requests that give nothing."""
    return [probe for probe in probes if probe.kind == "default" and len(probe.path) < 2]


def _some(probes: Sequence[Probe], random: Random, *, count: int) -> list[Probe]:
    """All orders and defaults of the rows themselves, and some of the other inputs."""
    first = [probe for probe in probes if probe.kind != "compare" and len(probe.path) <= 2]
    others = [probe for probe in probes if probe not in first]
    random.shuffle(first)
    chosen = first[: count // 2]
    return [*chosen, *random.sample(others, min(len(others), count - len(chosen)))]


if __name__ == "__main__":
    sys.exit(main())
