import pytest

from tests.support.require import requires


def test_what_is_there_is_required_in_silence() -> None:
    requires("sam", True, "unused")


def test_what_is_missing_skips_the_test_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STILE_REQUIRE", raising=False)

    with pytest.raises(pytest.skip.Exception, match=r"^sam is missing: `make sam-setup` installs it$"):
        requires("sam", None, "`make sam-setup` installs it")


def test_what_is_missing_fails_the_test_where_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STILE_REQUIRE", "moto,sam")

    with pytest.raises(pytest.fail.Exception, match=r"^sam is missing: `make sam-setup` installs it"):
        requires("sam", None, "`make sam-setup` installs it")


def test_a_name_that_only_begins_alike_is_not_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STILE_REQUIRE", "sam-cli")

    with pytest.raises(pytest.skip.Exception):
        requires("sam", None, "`make sam-setup` installs it")
