"""``python -m tests.life``: the life of published endpoints, at full counts.

Each leg prints a line for its cases, and ends at the first that fails.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.life.between import running_between
from tests.life.faults import Faulty, faults_at_each_request
from tests.life.interleaved import WHO, interleave
from tests.life.interrupted import killed_at_s3, killed_in_a_folder
from tests.life.zygote import Zygote
from tests.support.moto import Moto, running_moto

INTERLEAVINGS = 200
MIN_KILLS = 60


def killed(work: Path) -> str:
    """Kill a publish of 20 endpoints at each write, to a folder and to S3."""
    with _zygote(work, "folder") as zygote:
        in_folder = len(list(killed_in_a_folder(work / "folder", zygote, None)))
    with _zygote(work, "s3") as zygote, _bucket() as moto, running_between(moto.url) as between:
        direct = moto.environ()
        kills = killed_at_s3(work / "s3", zygote, between, location="s3://life/killed", direct=direct, numbers=None)
        at_s3 = len(list(kills))
    assert min(in_folder, at_s3) >= MIN_KILLS, (in_folder, at_s3)
    return f"{in_folder} kills in a folder and {at_s3} at S3: each endpoint old or new, and whole"


def two_publishers(work: Path) -> str:
    """Let two publishers meet in random orders."""
    with (
        _zygote(work, WHO[0]) as first,
        _zygote(work, WHO[1]) as second,
        _bucket() as moto,
        running_between(moto.url) as one,
        running_between(moto.url) as other,
    ):
        zygotes, proxies = dict(zip(WHO, (first, second), strict=True)), dict(zip(WHO, (one, other), strict=True))
        lost = sum(
            interleave(work, zygotes, proxies, environ=moto.environ(), seed=f"pair{number}")
            for number in range(INTERLEAVINGS)
        )
    assert lost
    return f"{INTERLEAVINGS} interleavings: {lost} endpoints refused, each by one sentence, and no update lost"


def faults(work: Path) -> str:
    """Let S3 fail at each request."""
    with _zygote(work, "faults") as zygote, _bucket() as moto, running_between(moto.url) as between:
        faulty = Faulty(work / "faults", "s3://life/faults", zygote, between, moto.environ())
        refused = [was_refused for _, was_refused in faults_at_each_request(faulty)]
    return f"{len(refused)} faults of S3: {sum(refused)} publishes refused with a sentence, none half done"


LEGS: Mapping[str, Callable[[Path], str]] = {"killed": killed, "two-publishers": two_publishers, "faults": faults}


@contextmanager
def _zygote(work: Path, name: str) -> Iterator[Zygote]:
    (work / name).mkdir(parents=True, exist_ok=True)
    zygote = Zygote(work / name)
    try:
        yield zygote
    finally:
        zygote.stop()


@contextmanager
def _bucket() -> Iterator[Moto]:
    with running_moto() as moto:
        moto.add_bucket("life")
        kept = {"Status": "Enabled"}
        moto.client("s3").put_bucket_versioning(Bucket="life", VersioningConfiguration=kept)
        yield moto


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.life")
    parser.add_argument("legs", nargs="*", metavar="LEG", help=f"of {', '.join(LEGS)}; all by default")
    legs = parser.parse_args().legs or list(LEGS)
    for leg in legs:
        started = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="stile-life-") as work:
            sys.stdout.write(f"{leg}: {LEGS[leg](Path(work))}. In {time.monotonic() - started:.0f} s\n")
            sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
