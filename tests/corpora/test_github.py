"""GitHub's schema, the largest of the corpora: 64,000 lines, and not quite valid."""

from __future__ import annotations

from pathlib import Path

import pytest

from handler.compiler.compile import compile_endpoint
from handler.policy.evaluation import HIDDEN
from tests.commands.running import ran, ran_on_terminal
from tests.corpora.attempts import Tried, copy_without
from tests.corpora.fetch import folder_of

CORPUS = "github-named"


@pytest.fixture
def valid_folder(tried: Tried, tmp_path: Path) -> Path:
    """GitHub's endpoint without the operations that are refused."""
    return copy_without(tried(CORPUS).refused, folder_of(CORPUS), tmp_path)


def test_fields_that_stand_twice_are_two_warnings(tried: Tried) -> None:
    twice = [warning for warning in tried(CORPUS).compiled.warnings if "is already defined at" in warning.sentence]

    assert [(warning.line, warning.sentence) for warning in twice] == [
        (
            line,
            f'"EnterpriseOwnerInfo.{field}" is already defined at index.graphql:{first}:3, and that definition counts',
        )
        for line, first, field in (
            (15150, 15000, "repositoryDeployKeySetting"),
            (15155, 15005, "repositoryDeployKeySettingOrganizations"),
        )
    ]


def test_rules_that_the_schema_breaks_are_warnings_and_no_mistakes(tried: Tried) -> None:
    deprecated = [each for each in tried(CORPUS).compiled.warnings if "deprecated" in each.sentence]

    assert len(deprecated) == 12
    assert len(tried(CORPUS).tools) == 13


def test_check_shows_that_it_works_before_it_says_anything(valid_folder: Path) -> None:
    code, shown = ran_on_terminal("check", str(valid_folder))

    assert code == 0
    working = shown[: shown.index("warning:")]
    assert "Compiling" in working
    assert "0:00:01" in working  # it goes on telling while the one endpoint compiles


def test_hiding_one_id_guards_a_handful_of_coordinates(valid_folder: Path) -> None:
    config = valid_folder / "config.yaml"
    config.write_text(config.read_text(encoding="utf-8") + "  hide: [Gist.id]\n", encoding="utf-8")

    guards = compile_endpoint(valid_folder).bundle.guards

    guarded = sorted(coordinate for coordinate, mask in guards.items() if mask >= HIDDEN)
    assert {"Gist.id", "Node.id", "Starrable.id"} <= set(guarded)
    assert len(guarded) < 20, guarded


@pytest.mark.parametrize("question", [["--field", "User.email"], ["--as", "anonymous"]])
def test_explain_answers_one_question_in_forty_lines(valid_folder: Path, question: list[str]) -> None:
    config = valid_folder / "config.yaml"
    rule = "    - {type: User, policyDefault: {condition: true}, rules: [{condition: '?$jwt.a', fields: [email]}]}\n"
    config.write_text(config.read_text(encoding="utf-8") + rule, encoding="utf-8")

    done = ran("explain", str(valid_folder), *question)

    assert (done.code, done.err) == (0, "")
    assert "User.email" in done.out
    assert len(done.out.splitlines()) <= 40
