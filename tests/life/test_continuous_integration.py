"""The steps of CI: infra/publish.sh as the action runs it, against moto and a running server, and its rights."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import yaml

from handler.bundle.stored import bundle_key, index_key, shared_index_key
from handler.commands import gc
from handler.errors.infrastructure import StorageDenied
from handler.http.client import HttpClient
from handler.storage.location import open_publish_storage
from tests.commands.running import Stile, change
from tests.conftest import ROOT
from tests.infra import stack
from tests.life.publishing import CONFIG, SDL, add_empty_bucket, add_versioned_bucket
from tests.life.serving import serving_bucket
from tests.support import aws_calls
from tests.support.endpoints import write_endpoint
from tests.support.examples import in_full
from tests.support.moto import Moto
from tests.support.secrecy import SESSION, Output

ACTION = ROOT / ".github" / "actions" / "publish"
POLICY = ROOT / "infra" / "publisher_policy.json"
KEY = SESSION.keep("a key of the maintainer", "stile_Xq3v9Zc7Lr1Tb6Wn8Kd3Hf5Jp0GsUmW2")
KEY_SHA256 = sha256(KEY.encode()).hexdigest()
GUARDED = f"""\
upstream: {{url: "https://things.example/graphql"}}
identity: {{api_keys: [{{name: ci, sha256: {KEY_SHA256}, claims: {{role: maintainer}}}}]}}
access:
  anonymous: challenge
  policies: [{{type: Query, policyDefault: {{condition: true}}}}]
"""
ALL = 'extend schema @tool(name: "all", title: "All", graphql: [{expose: true, types: "Query", fields: ".*"}])'
FILES = {
    "index.graphql": SDL.replace(" b: Int", ' "Says b." b: Int') + ALL,
    "operations/a.graphql": 'query A @mcpTool(name: "one", title: "A") { a }\n',
    "config.yaml": GUARDED,
}
GH = """\
#!/bin/sh
printf '%s\\n' "$*" >>"$GH_CALLS"
case $* in
    *--paginate*) cat "$GH_COMMENTS" ;;
esac
"""
"""A program in place of GitHub's, which keeps its arguments."""


def action() -> Any:
    return yaml.safe_load((ACTION / "action.yml").read_text(encoding="utf-8"))


def ran_action(folder: Path, inputs: Mapping[str, str], environ: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run the steps of the action as GitHub does: inputs fill the variables, and the script stays as it is."""
    made = action()
    assert set(inputs) <= set(made["inputs"])
    values = {name: str(each.get("default", "")) for name, each in made["inputs"].items()} | dict(inputs)
    (step,) = made["runs"]["steps"]
    known = {f"inputs.{name}": value for name, value in values.items()}
    known |= {"github.event.pull_request.number": environ.get("PULL_REQUEST", ""), "github.token": "t"}
    filled = {name: re.sub(r"\$\{\{ (\S+) \}\}", lambda of: known[of[1]], text) for name, text in step["env"].items()}
    done = subprocess.run(
        ["bash", "-c", step["run"]],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "GITHUB_ACTION_PATH": str(ACTION), **environ, **filled},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
        timeout=180,
    )
    SESSION.note(Output.PROCESS, done.stdout + done.stderr)
    return done


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with one endpoint, and the command where `make setup` puts it."""
    write_endpoint(tmp_path / "endpoints", FILES)
    program = tmp_path / ".venv" / "bin" / "stile"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m handler "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    gh = tmp_path / "bin" / "gh"
    gh.parent.mkdir()
    gh.write_text(GH, encoding="utf-8")
    gh.chmod(0o755)
    (tmp_path / "comments").touch()
    return tmp_path


def github(repository: Path, **more: str) -> dict[str, str]:
    return {
        "PATH": f"{repository / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "GITHUB_REPOSITORY": "acme/tools",
        "GITHUB_STEP_SUMMARY": str(repository / "summary"),
        "GH_CALLS": str(repository / "calls"),
        "GH_COMMENTS": str(repository / "comments"),
        "PULL_REQUEST": "7",
        **more,
    }


def test_action_checks_shows_publishes_and_waits(repository: Path, open_moto: Moto) -> None:
    location = add_empty_bucket(open_moto, "integration")
    environ = github(repository, **open_moto.environ())
    inputs = {"bundles": location}
    published = ran_action(repository, {**inputs, "steps": "check publish wait"}, environ)
    assert published.returncode == 0, published.stderr
    operation = repository / "endpoints" / "api" / "things" / "operations" / "a.graphql"
    change(operation, '"one"', '"two"')

    with serving_bucket(location, open_moto.environ()) as url:
        shown = ran_action(repository, {**inputs, "steps": "check diff comment"}, environ)
        assert shown.returncode == 0, shown.stderr
        asked = {"url": url, "header": "X-API-Key: $STILE_KEY", "key": KEY, "wait-seconds": "30"}
        waited = ran_action(
            repository,
            {**inputs, **asked, "steps": "publish wait", "allow-breaking": "true", "allow-open": "true"},
            environ,
        )
        refused = ran_action(repository, {**inputs, "url": url, "wait-seconds": "1", "steps": "wait"}, environ)

    assert "two" in (repository / "stile-diff.md").read_text(encoding="utf-8")
    assert "two" in (repository / "summary").read_text(encoding="utf-8")
    calls = (repository / "calls").read_text(encoding="utf-8").splitlines()
    assert calls[-1] == "api --method POST repos/acme/tools/issues/7/comments --field body=@stile-diff.md.cut --silent"
    assert waited.returncode == 0, waited.stderr
    assert KEY not in waited.stdout + waited.stderr
    assert (refused.returncode, "401" in refused.stderr) == (1, True)


def test_comment_replaces_the_last_one_and_is_cut(repository: Path) -> None:
    (repository / "comments").write_text("4711\n", encoding="utf-8")
    (repository / "stile-diff.md").write_text("é" * 40_000, encoding="utf-8")

    done = ran_action(repository, {"bundles": "", "steps": "comment"}, github(repository))

    assert done.returncode == 0, done.stderr
    assert "--method PATCH repos/acme/tools/issues/comments/4711" in (repository / "calls").read_text("utf-8")


@pytest.mark.parametrize("number", ["", "7; touch hacked", "../7", "$(touch hacked)"])
def test_comment_goes_to_a_number_alone(repository: Path, number: str) -> None:
    (repository / "stile-diff.md").touch()

    done = ran_action(repository, {"bundles": "", "steps": "comment"}, github(repository, PULL_REQUEST=number))

    assert done.returncode == 2
    assert not (repository / "calls").exists()


@pytest.mark.parametrize("steps", ["", "deploy", "check;id"])
def test_unknown_steps_are_refused(repository: Path, steps: str) -> None:
    assert ran_action(repository, {"bundles": "s3://b/p", "steps": steps}, github(repository)).returncode == 2


@pytest.mark.parametrize("text", ["$(touch hacked)`touch hacked`", '"; touch hacked; "', "--help"])
def test_inputs_are_words_and_no_script(repository: Path, text: str) -> None:
    names = ("endpoints", "stage", "bundles", "url", "header")
    for name in names:
        steps = "check" if name in ("endpoints", "stage") else "wait"
        inputs = {"bundles": "s3://b/p", "url": "https://127.0.0.1:9", name: text, "steps": steps}

        assert ran_action(repository, inputs, github(repository)).returncode != 0, name

    assert not (repository / "hacked").exists()


def test_expressions_stand_in_variables_alone() -> None:
    for step in action()["runs"]["steps"]:
        assert "${{" not in step["run"]
        assert step["shell"] == "bash"
    script = (ROOT / "infra" / "publish.sh").read_text(encoding="utf-8")
    assert "${{" not in script
    assert "eval" not in script


# The rights of a publisher


def statements(*, without: str = "") -> list[dict[str, Any]]:
    """The statements of the file for one bucket, without one action."""
    text = POLICY.read_text(encoding="utf-8").replace("BUCKET", "rights")
    found = json.loads(text)["Statement"]
    left = [{**each, "Action": [action for action in each["Action"] if action != without]} for each in found]
    return [each for each in left if each["Action"]]


ACTIONS = [action for each in statements() for action in each["Action"]]


@pytest.fixture(scope="module")
def rights(moto: Moto, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """A bucket with the tags of a build, and a folder with an endpoint that needs a part of it."""
    location = add_versioned_bucket(moto, "rights")
    with moto.unchecked():
        tags = [{"Key": "stile:extras", "Value": "jwt"}, {"Key": "stile:code-modules", "Value": ""}]
        moto.client("s3").put_bucket_tagging(Bucket="rights", Tagging={"TagSet": tags})
    folder = tmp_path_factory.mktemp("rights")
    issuer = "identity: {issuer: 'https://idp.example', audience: a, jwksendpoint: 'https://idp.example/jwks'}\n"
    write_endpoint(folder, {**FILES, "config.yaml": CONFIG + issuer})
    return location, folder


@contextmanager
def acting(moto: Moto, name: str, *, without: str = "", url: str = "") -> Iterator[None]:
    """Act as a user with the rights of the file. ``url``: AWS's, if it is not moto's own."""
    with pytest.MonkeyPatch.context() as patch:
        for variable, value in moto.add_user(name, *statements(without=without)).items():
            patch.setenv(variable, value)
        patch.setenv("AWS_ENDPOINT_URL", url or moto.url)
        patch.setattr(gc, "MIN_AGE", timedelta(seconds=-5))
        yield


def lives(moto: Moto, stile: Stile, location: str, folder: Path) -> str:
    """Publish, show, roll back, remove and clean up, until a command fails or cannot see; give what it said."""
    with moto.unchecked():
        http = HttpClient()
        storage = open_publish_storage(location, http=http, environ=moto.environ())
        for unused in (index_key("api/things", "0" * 64), shared_index_key("0" * 64)):
            storage.add(unused, b"unused")
        http.close()
    operation = folder / "api" / "things" / "operations" / "a.graphql"
    now = "two" if "one" in operation.read_text(encoding="utf-8") else "one"
    operation.write_text(f'query A @mcpTool(name: "{now}", title: "A") {{ a }}\n', encoding="utf-8")
    place = f"{location}/api/things"
    options = stile("publish", "--help").out
    allowing = [each for each in ("--allow-breaking", "--allow-open") if each in options]
    for words in (
        ("diff", location, str(folder)),
        ("publish", str(folder), location, *allowing),
        ("published", location, "--versions"),
        ("rollback", place, "--yes"),
        ("remove", place, "--yes"),
        ("rollback", place, "--yes"),
        ("gc", location, "--delete"),
    ):
        done = stile(*words)
        if (
            done.code not in ((0, 1, 2, 4, 6) if words[0] == "diff" else (0,))
            or "could not be compared" in done.out + done.err
        ):
            return f"{words}: {done.out} {done.err}"
    return ""


@in_full
def test_all_rights_of_the_file_suffice_and_githubs_role_has_those_that_calls_take(
    moto: Moto, stile: Stile, rights: tuple[str, Path]
) -> None:
    location, folder = rights
    parameters = {"Subject": "repo:acme/tools:ref:refs/heads/main", "BucketName": "rights"}
    granted = aws_calls.rights(stack.statements(stack.Stack("infra/publisher.yaml", parameters), "PublisherRole"))

    with aws_calls.recording(moto) as calls:
        for number in range(2):  # something to go back to
            with acting(moto, f"whole-{number}", url=calls.url):
                failed = lives(moto, stile, location, folder)

    made = {each for each in calls.made if each.action != "sts:GetCallerIdentity"}  # which takes no right
    assert failed == ""
    assert [each for each in made if not any(aws_calls.allows(right, each) for right in granted)] == []
    assert [right for right in granted if not any(aws_calls.allows(right, each) for each in made)] == []


@in_full
@pytest.mark.parametrize("action", ACTIONS)
def test_each_right_of_the_file_is_needed(moto: Moto, stile: Stile, rights: tuple[str, Path], action: str) -> None:
    location, folder = rights
    with acting(moto, f"without-{action.replace(':', '-')}", without=action):
        assert lives(moto, stile, location, folder)


@in_full
def test_publisher_of_some_endpoints_publishes_and_looks_at_those(
    moto: Moto, stile: Stile, rights: tuple[str, Path]
) -> None:
    location, folder = rights
    with acting(moto, "of-all"):
        assert stile("publish", str(folder), location, "--allow-breaking", "--allow-open").code == 0
    shop = folder.parent / f"{folder.name}-shop" / "shop" / "orders"
    for name, text in {**FILES, "config.yaml": CONFIG}.items():
        (shop / name).parent.mkdir(parents=True, exist_ok=True)
        (shop / name).write_text(text, encoding="utf-8")
    few = json.loads(json.dumps(statements()).replace("/endpoints/", "/endpoints/shop/"))
    place = f"{location}/shop/orders"
    with pytest.MonkeyPatch.context() as patch:
        for variable, value in moto.add_user("of-some", *few).items():
            patch.setenv(variable, value)
        for words in (
            ("diff", location, str(shop.parents[1])),
            ("publish", str(shop.parents[1]), location),
            ("published", location, "shop/orders", "--versions"),
            ("remove", place, "--yes"),
            ("rollback", place, "--yes"),
        ):
            done = stile(*words)
            assert done.code == (4 if words[0] == "diff" else 0), (words, done.err)
        assert stile("published", location).code == 1
        assert stile("remove", f"{location}/api/things", "--yes").code == 1
        http = HttpClient()
        storage = open_publish_storage(location, http=http, environ=dict(os.environ))
        for key in (bundle_key("api/things"), index_key("api/things", "0" * 64), shared_index_key("0" * 64)):
            with pytest.raises(StorageDenied):
                storage.write(key, b"damaged")
            with pytest.raises(StorageDenied):
                storage.add(key, b"first")
        http.close()
        stile("remove", place, "--yes")


@pytest.mark.parametrize(
    ("words", "action"),
    [(["published", "--versions"], "s3:ListBucketVersions"), (["gc"], "s3:GetBucketVersioning")],
)
def test_right_of_the_bucket_that_is_missing_is_named_with_the_bucket(
    moto: Moto, stile: Stile, rights: tuple[str, Path], words: list[str], action: str
) -> None:
    location, folder = rights
    with acting(moto, f"lacking-{action.replace(':', '-')}", without=action):
        if words[0] == "published":
            stile("publish", str(folder), location, "--allow-breaking", "--allow-open")
        done = stile(words[0], location, *words[1:])

    assert done.code == 1
    assert done.err.strip().endswith(f"check that the role has {action} on arn:aws:s3:::rights")


def test_page_has_each_statement_with_its_rights() -> None:
    page = (ROOT / "docs" / "publishing.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| ((?:`s3:\w+`(?:, )?)+) \|", page, re.MULTILINE))

    assert {name: re.findall(r"s3:\w+", rights) for name, rights in rows.items()} == {
        each["Sid"]: each["Action"] for each in statements()
    }


def test_workflow_of_the_page_fits_the_action() -> None:
    page = (ROOT / "docs" / "publishing.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```yaml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    jobs = yaml.safe_load(block)["jobs"]
    given = [step["with"] for job in jobs.values() for step in job["steps"]]
    steps = {word for each in given for word in each["steps"].split()}

    assert all(set(each) <= set(action()["inputs"]) for each in given)
    assert steps == {"check", "diff", "comment", "publish", "wait"}
    assert all(f"        {step})" in (ROOT / "infra" / "publish.sh").read_text(encoding="utf-8") for step in steps)
    assert "pull_request_target" not in block
