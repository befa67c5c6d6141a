"""`stile publish` beside a function that lacks what endpoints need: tags of the stack's bucket say so."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from handler.commands.publish import EXTRAS_TAG, MODULES_TAG
from handler.commands.publishing.destination import FORMAT_TAG
from tests.commands.running import CONFIG, FILES, Ran, Stile
from tests.conftest import ROOT
from tests.support.endpoints import write_endpoint
from tests.support.moto import Moto

BUCKET = "deployed"
LOCATION = f"s3://{BUCKET}/endpoints"
KIT = """from stile import Toolkit
kit = Toolkit()
@kit.tool
def total(year: int) -> int:
    "Sum up a year."
    return year
"""
CODE = 'code: [{use: "acme.tools:kit", condition: true}]\naccess: {anonymous: allow}\n'
TOKENS = "identity: {issuer: login, audience: a, keys: [{algorithm: HS256, key: 'env:LOGIN', keyid: one}]}\n"
THEN = "in samconfig.toml, then `sam build` and `sam deploy`"
CODE_LACKS = (
    "api/code: a function that runs tools in Python needs the extra code, which the deployed function lacks: "
    f"add it to Extras {THEN}"
)
JWT_LACKS = (
    f"api/tokens: a function that reads tokens needs the extra jwt, which the deployed function lacks: "
    f"add it to Extras {THEN}"
)
MODULE_LACKS = (
    "api/code: a function that runs these tools in Python needs the module acme.tools, which the deployed function "
    f"lacks: add it to CodeModules {THEN}"
)
UNKNOWN = "The parts of the deployed function could not be compared. "


@pytest.fixture
def needy(workplace: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Three endpoints: of tools in Python, of callers with tokens, of nothing that a build may lack."""
    write_endpoint(workplace, {"config.yaml": CODE}, name="api/code")
    write_endpoint(workplace, {**FILES, "config.yaml": CONFIG + TOKENS}, name="api/tokens")
    write_endpoint(workplace, FILES, name="api/plain")
    (workplace / "acme").mkdir()
    (workplace / "acme" / "__init__.py").touch()
    (workplace / "acme" / "tools.py").write_text(KIT, encoding="utf-8")
    monkeypatch.setenv("STILE_CODE_MODULES", "acme")
    yield workplace
    for module in ("acme", "acme.tools"):
        sys.modules.pop(module, None)


@pytest.fixture
def publisher(moto: Moto, request: pytest.FixtureRequest) -> dict[str, str]:
    """The least that docs/deploy.md says a publisher needs, who may read tags besides."""
    return may_publish(moto, f"tags-{abs(hash(request.node.name))}", "s3:GetBucketTagging")


def may_publish(moto: Moto, name: str, *more: str) -> dict[str, str]:
    return moto.add_user(
        name,
        {"Action": ["s3:GetObject", "s3:PutObject"], "Resource": f"arn:aws:s3:::{BUCKET}/endpoints/*"},
        {"Action": ["s3:ListBucket", *more], "Resource": f"arn:aws:s3:::{BUCKET}"},
    )


def tag(moto: Moto, tags: Mapping[str, str]) -> None:
    moto.add_bucket(BUCKET)
    with moto.unchecked():
        s3 = moto.client("s3")
        s3.delete_bucket_tagging(Bucket=BUCKET)
        if tags:
            tag_set = [{"Key": key, "Value": value} for key, value in tags.items()]
            s3.put_bucket_tagging(Bucket=BUCKET, Tagging={"TagSet": tag_set})


def become(monkeypatch: pytest.MonkeyPatch, environ: Mapping[str, str]) -> None:
    for name, value in environ.items():
        monkeypatch.setenv(name, value)


def published(stile: Stile, monkeypatch: pytest.MonkeyPatch, environ: Mapping[str, str]) -> tuple[Ran, list[str]]:
    """How publishing ended, and what it said of the build."""
    become(monkeypatch, environ)
    done = stile("publish", ".", LOCATION, "--force")
    said = [line for line in done.out.splitlines() if "samconfig" in line or line.startswith(UNKNOWN)]
    return done, said


@pytest.mark.parametrize(
    ("extras", "modules", "expected"),
    [
        ("code jwt", "acme", []),
        ("jwt code", "shop_tools acme.tools", []),
        ("", "", [CODE_LACKS, JWT_LACKS, MODULE_LACKS]),
        ("jwt", "acme", [CODE_LACKS]),
        ("code", "acme", [JWT_LACKS]),
        ("code jwt", "", [MODULE_LACKS]),
        ("code jwt", "acm acme.tool acme.tools.more", [MODULE_LACKS]),
    ],
)
def test_what_the_deployed_function_lacks_is_named_and_no_more(
    needy: Path,
    stile: Stile,
    moto: Moto,
    publisher: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    extras: str,
    modules: str,
    expected: list[str],
) -> None:
    tag(moto, {EXTRAS_TAG: extras, MODULES_TAG: modules, "owner": "somebody"})

    done, said = published(stile, monkeypatch, publisher)

    assert (done.code, done.err) == (0, "")
    assert said == expected
    assert f"3 endpoints in {LOCATION}" in done.out


@pytest.mark.parametrize(("extras", "expected"), [("code,jwt", []), ("jwt,code", []), ("", [CODE_LACKS, JWT_LACKS])])
def test_tags_are_read_as_the_stack_makes_them(
    needy: Path, stile: Stile, moto: Moto, monkeypatch: pytest.MonkeyPatch, extras: str, expected: list[str]
) -> None:
    parameters = {"Extras": extras, "CodeModules": "shop_tools,acme"}
    with moto.unchecked():
        cloudformation = moto.client("cloudformation")
        stack = cloudformation.create_stack(
            StackName=f"storage-{extras.replace(',', '-')}",
            TemplateBody=(ROOT / "infra" / "storage.yaml").read_text("utf-8"),
            Parameters=[{"ParameterKey": key, "ParameterValue": value} for key, value in parameters.items()],
        )["StackId"]
        (made,) = cloudformation.describe_stacks(StackName=stack)["Stacks"]
        bucket = next(output["OutputValue"] for output in made["Outputs"] if output["OutputKey"] == "BucketName")
        become(monkeypatch, moto.environ())

        done = stile("publish", ".", f"s3://{bucket}/endpoints")

    assert (done.code, done.err) == (0, "")
    assert [line for line in done.out.splitlines() if "samconfig" in line or line.startswith(UNKNOWN)] == expected


def test_without_leave_to_read_the_tags_all_needs_are_named_and_that_nothing_was_compared(
    needy: Path, stile: Stile, moto: Moto, monkeypatch: pytest.MonkeyPatch
) -> None:
    tag(moto, {EXTRAS_TAG: "code jwt", MODULES_TAG: "acme"})

    done, said = published(stile, monkeypatch, may_publish(moto, "tags-denied"))

    assert (done.code, done.err) == (0, "")
    assert said == [
        *(line.replace(", which the deployed function lacks", "") for line in (CODE_LACKS, JWT_LACKS, MODULE_LACKS)),
        f"{UNKNOWN}{LOCATION}: access denied: s3:GetBucketTagging on arn:aws:s3:::{BUCKET}",
    ]


@pytest.mark.parametrize("tags", [{}, {"owner": "somebody"}, {EXTRAS_TAG: "code jwt"}])
def test_a_bucket_without_the_tags_is_told_from_one_whose_function_lacks_all(
    needy: Path,
    stile: Stile,
    moto: Moto,
    publisher: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    tags: dict[str, str],
) -> None:
    tag(moto, tags)

    done, said = published(stile, monkeypatch, publisher)

    assert done.code == 0
    assert said[-1] == f"{UNKNOWN}{LOCATION}: the bucket has no tags {EXTRAS_TAG} and {MODULES_TAG}"
    assert not [line for line in said if "lacks" in line]


def test_endpoints_that_need_nothing_ask_for_no_tags(
    workplace: Path, stile: Stile, moto: Moto, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_endpoint(workplace, FILES, name="api/plain")
    tag(moto, {})

    done, said = published(stile, monkeypatch, may_publish(moto, "tags-unneeded"))

    assert (done.code, done.err, said) == (0, "", [])


def test_a_folder_is_nobodys_deployment(needy: Path, stile: Stile) -> None:
    assert UNKNOWN not in stile("publish", ".", "--create", "out").out


@pytest.mark.parametrize("command", [("publish", ".", LOCATION, "--force"), ("published", LOCATION)])
@pytest.mark.parametrize(("reads", "warns"), [("2", False), ("", False), ("1", True), ("3", True)])
def test_format_that_the_function_reads_is_compared(
    workplace: Path,
    stile: Stile,
    moto: Moto,
    monkeypatch: pytest.MonkeyPatch,
    *,
    command: tuple[str, ...],
    reads: str,
    warns: bool,
) -> None:
    write_endpoint(workplace, FILES, name="api/plain")
    tags = {"owner": "somebody"} | ({FORMAT_TAG: reads} if reads else {})
    tag(moto, tags)
    become(monkeypatch, may_publish(moto, "tags-format", "s3:GetBucketTagging"))
    stile("publish", ".", LOCATION, "--endpoint", "api/plain")

    done = stile(*command)

    assert done.code == 0
    said = f"The deployed function reads bundles of format {reads}." in done.out + done.err
    assert said is warns
    with moto.unchecked():
        kept = moto.client("s3").get_bucket_tagging(Bucket=BUCKET)["TagSet"]
    assert {each["Key"]: each["Value"] for each in kept} == tags


def test_published_gives_the_format_as_json(
    workplace: Path, stile: Stile, moto: Moto, publisher: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tag(moto, {FORMAT_TAG: "7"})
    become(monkeypatch, publisher)

    assert json.loads(stile("published", LOCATION, "--json").out)["functionFormat"] == "7"
    assert json.loads(stile("published", str(workplace), "--json").out)["functionFormat"] == ""
