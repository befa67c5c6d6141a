"""A slice of ``make life``: publishes that are killed, that meet another one, or that S3 fails."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.life.between import running_between
from tests.life.faults import Faulty
from tests.life.interleaved import WHO, interleave
from tests.life.interrupted import MAX_WRITES, killed_at_s3, killed_in_a_folder
from tests.life.share import FULL, tried
from tests.life.zygote import Zygote
from tests.support.moto import Moto, running_moto


@pytest.fixture(scope="module")
def bucket() -> Iterator[Moto]:
    """A moto server with a versioned bucket."""
    with running_moto() as moto:
        moto.add_bucket("life")
        kept = {"Status": "Enabled"}
        moto.client("s3").put_bucket_versioning(Bucket="life", VersioningConfiguration=kept)
        yield moto


@pytest.fixture(scope="module")
def zygotes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Zygote]]:
    """Two processes that publish."""
    found = {who: Zygote(tmp_path_factory.mktemp(who)) for who in WHO}
    yield found
    for zygote in found.values():
        zygote.stop()


def test_publish_that_is_killed_leaves_each_endpoint_of_a_folder_old_or_new(
    tmp_path: Path, zygotes: dict[str, Zygote]
) -> None:
    """A publish that no kill reaches is the one before the first kill inside a write."""
    numbers = [9, 12] if FULL else [12]

    kills = killed_in_a_folder(tmp_path, zygotes["ada"], [*numbers, MAX_WRITES], endpoints=3)

    assert list(kills) == [f"{kind} {number}" for kind in ("before", "inside") for number in numbers]


def test_publish_that_is_killed_leaves_each_endpoint_in_s3_old_or_new(
    tmp_path: Path, zygotes: dict[str, Zygote], bucket: Moto
) -> None:
    with running_between(bucket.url) as between:
        kills = killed_at_s3(
            tmp_path,
            zygotes["ada"],
            between,
            location="s3://life/killed",
            direct=bucket.environ(),
            numbers=[4, MAX_WRITES],
            endpoints=3,
        )
        assert list(kills) == ["before 4", "after 4"]


def test_of_two_publishers_none_overwrites_what_it_has_not_seen(
    tmp_path: Path, zygotes: dict[str, Zygote], bucket: Moto
) -> None:
    with running_between(bucket.url) as first, running_between(bucket.url) as second:
        proxies = dict(zip(WHO, (first, second), strict=True))
        for number in range(tried(20, share=20)):
            interleave(tmp_path, zygotes, proxies, environ=bucket.environ(), seed=f"pair{number}")


def test_fault_of_s3_is_a_sentence_and_leaves_nothing_half_done(
    tmp_path: Path, zygotes: dict[str, Zygote], bucket: Moto
) -> None:
    with running_between(bucket.url) as between:
        faulty = Faulty(tmp_path, "s3://life/faults", zygotes["ada"], between, bucket.environ())

        # 5 and 6 read schemas, 9 tags, 10 and 11 store schemas, 12 and 13 bundles. Others of one kind may come first.
        for fault, number, lasts, refused in (
            ("broken", 5, False, True),
            ("403", 9, False, False),
            ("403", 10, False, True),
            ("412", 10, True, True),
            ("lost", 12, False, False),
        ):
            assert faulty.meet(fault, number, lasts=lasts) is refused, (fault, number)
