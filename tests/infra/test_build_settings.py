"""What `sam build` builds, as samconfig.toml says, and what of that file and the environment it refuses."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.infra.cloudformation import ROOT, read_template

VARIABLES = ("ARCH", "STILE_EXTRAS", "STILE_CODE", "STILE_CONFIG_ENV")
CHOSEN = """
[default.global.parameters.parameter_overrides]
Architecture = "x86_64"
Extras = ["jwt", "code"]
CodeModules = ["acme.tools", "shop_tools"]

[default.build_artifact.parameters]
code = ["lib/acme", "shop_tools.py"]
"""
TEXT = "[default.deploy.parameters]\nparameter_overrides = 'MemorySize=512 {}=x'\n"
PROD = '[prod.deploy.parameters]\nstack_name = "stile-prod"\n'


def settings(folder: Path, config: str, **environ: str) -> tuple[int, list[str]]:
    """The exit code, and the lines printed: of settings, or of what is wrong."""
    (folder / "infra").mkdir(exist_ok=True)
    program = shutil.copy(ROOT / "infra" / "build_settings.py", folder / "infra")
    (folder / "samconfig.toml").write_text(config, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, program],
        env={name: value for name, value in os.environ.items() if name not in VARIABLES} | environ,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, (done.stdout or done.stderr).splitlines()


def refused(folder: Path, config: str, **environ: str) -> str:
    code, lines = settings(folder, config, **environ)
    assert code == 1
    (sentence,) = lines
    return sentence


def test_this_repository_builds_what_its_template_has_as_defaults(tmp_path: Path) -> None:
    parameters = read_template("template.yaml")["Parameters"]

    assert settings(tmp_path, (ROOT / "samconfig.toml").read_text("utf-8")) == (
        0,
        [parameters["Architecture"]["Default"], parameters["Extras"]["Default"]],
    )


def test_keys_of_the_page_are_those_that_a_build_reads(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "deploy.md").read_text("utf-8")
    table = page[page.index("| `Architecture` |") :]
    keys = dict(re.findall(r"^\| `(\w+)` \| `([^`]+)` \|", table.partition("\n\n")[0], re.MULTILINE))
    said = "\n".join(f"{key} = {value}" for key, value in keys.items())

    assert list(keys) == ["Architecture", "Extras", "CodeModules"]
    assert settings(tmp_path, f"[default.global.parameters.parameter_overrides]\n{said}") == settings(tmp_path, "")


@pytest.mark.parametrize("config", ["", "[default.deploy.parameters]\nresolve_s3 = true\n", PROD])
def test_what_is_not_said_is_as_in_the_template(tmp_path: Path, config: str) -> None:
    parameters = read_template("template.yaml")["Parameters"]

    assert settings(tmp_path, config) == (0, [parameters[name]["Default"] for name in ("Architecture", "Extras")])
    assert parameters["CodeModules"]["Default"] == ""


@pytest.mark.parametrize(
    ("said", "meant"), [("extras", "Extras"), ("ARCHITECTURE", "Architecture"), ("code_modules", "CodeModules")]
)
@pytest.mark.parametrize("form", ["[default.global.parameters.parameter_overrides]\n{} = 'x'", TEXT])
def test_key_that_is_almost_one_is_refused(tmp_path: Path, said: str, meant: str, form: str) -> None:
    place = re.findall(r"\[(default\.\w+\.parameters)", form)[0]

    assert refused(tmp_path, form.format(said)) == (
        f"samconfig.toml: [{place}] parameter_overrides: {said}: expected {meant}"
    )


def test_extras_that_the_build_knows_are_those_of_the_template() -> None:
    pattern = read_template("template.yaml")["Parameters"]["Extras"]["AllowedPattern"]

    assert all(re.fullmatch(pattern, each) for each in ("", "code", "jwt", "page", "code,jwt", "page,jwt,code"))
    assert not any(re.fullmatch(pattern, each) for each in ("cli", "code, jwt", "jwt,", "code;jwt"))


def test_what_is_said_is_built(tmp_path: Path) -> None:
    assert settings(tmp_path, CHOSEN) == (0, ["x86_64", "code,jwt", "lib/acme", "shop_tools.py"])


@pytest.mark.parametrize(
    "overrides",
    [
        '"Architecture=x86_64 Extras=jwt"',
        '"Architecture=\\"x86_64\\" Extras=\\"jwt\\" CodeModules=\\"\\""',
        "['Architecture=x86_64', 'Extras=\"jwt\"', 'CodeModules=\"\"', 'PublicUrl=\"https://a.example\"']",
        '["ParameterKey=Architecture,ParameterValue=x86_64 ParameterKey=Extras,ParameterValue=jwt"]',
        '{Architecture = "x86_64", Extras = "jwt", MemorySize = 512}',
        '[{Architecture = "x86_64"}, ["Extras=jwt"]]',
    ],
)
@pytest.mark.parametrize("command", ["global", "deploy"])
def test_parameters_are_read_in_every_form_that_sam_takes(tmp_path: Path, overrides: str, command: str) -> None:
    config = f"[default.{command}.parameters]\nparameter_overrides = {overrides}\n"

    assert settings(tmp_path, config) == (0, ["x86_64", "jwt"])


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        (
            "[default.global.parameters.parameter_overrides]\nArchitecture = 'arm'",
            'default: Architecture is "arm": exp',
        ),
        (
            "[default.global.parameters.parameter_overrides]\nExtras = ['cli']",
            'default: Extras is "cli": expected code',
        ),
        (
            CHOSEN.replace('["jwt", "code"]', '["jwt"]'),
            'default: CodeModules is "acme.tools,shop_tools", and tools in Python need the Extras code',
        ),
        (
            CHOSEN.replace('"lib/acme", ', ""),
            "default: CodeModules names acme.tools, which is in no folder or file of [default.build_artifact.param",
        ),
        ("[default.build_artifact.parameters]\ncode = 'acme'", "code: expected a list of folders and files"),
        ("[default.build_artifact.parameters]\ncode = ['a b']", "code: expected a list of folders and files"),
        ("[default.global.parameters]\nparameter_overrides = 'file://more.yaml'", "expected Name=value, and no file"),
        ("[default.global.parameters]\nparameter_overrides = 'Extras'", "expected Name=value"),
        ("[default.global.parameters]\nparameter_overrides = 7", "expected a table, a list or a text"),
        ("[default.global.parameters.parameter_overrides]\nExtras = {a = 1}", "Extras: expected a text, a number or"),
        ("[default]\nglobal = 1", "global: expected a table"),
        ("[default", "Expected ']'"),
    ],
)
def test_what_cannot_be_built_is_a_sentence(tmp_path: Path, config: str, sentence: str) -> None:
    told = refused(tmp_path, config)

    assert told.startswith("samconfig.toml: ")
    assert sentence in told


def test_what_guided_wrote_and_what_was_changed_since_have_to_be_the_same(tmp_path: Path) -> None:
    guided = '[default.deploy.parameters]\nparameter_overrides = "Architecture=\\"x86_64\\" Extras=\\"code\\" {}"\n'
    both = guided.format('CodeModules=\\"shop_tools,acme.tools\\"')

    assert refused(tmp_path, CHOSEN + both) == (
        'samconfig.toml: default: Extras is "jwt,code" in [default.global.parameters], "code" in '
        "[default.deploy.parameters]: say the same"
    )
    assert settings(tmp_path, CHOSEN + both.replace('"code\\"', '"code,jwt\\"'))[0] == 0


def test_stages_that_differ_are_built_one_at_a_time(tmp_path: Path) -> None:
    assert refused(tmp_path, CHOSEN + PROD) == (
        'samconfig.toml: the stages default and prod differ in architecture, "x86_64" and "arm64", and a build serves '
        "one of them: name it, as in STILE_CONFIG_ENV=prod sam build --config-env prod"
    )
    assert settings(tmp_path, CHOSEN + PROD, STILE_CONFIG_ENV="prod")[1][:2] == ["arm64", ""]
    assert settings(tmp_path, CHOSEN + PROD, STILE_CONFIG_ENV="default")[1][:2] == ["x86_64", "code,jwt"]
    assert refused(tmp_path, CHOSEN + PROD, STILE_CONFIG_ENV="test") == (
        "samconfig.toml: STILE_CONFIG_ENV=test: expected one of the stages default, prod"
    )


def test_stages_that_say_the_same_are_built_once(tmp_path: Path) -> None:
    prod = CHOSEN[: CHOSEN.index("[default.build")].replace("default", "prod").replace("global", "deploy")

    assert settings(tmp_path, CHOSEN + prod) == (0, ["x86_64", "code,jwt", "lib/acme", "shop_tools.py"])


@pytest.mark.parametrize(
    ("variable", "value", "where"),
    [
        ("ARCH", "arm64", "Architecture"),
        ("STILE_EXTRAS", "jwt", "Extras"),
        ("STILE_EXTRAS", "code;jwt", "Extras"),
        ("STILE_CODE", "lib/other", "code"),
    ],
)
def test_the_environment_may_not_say_otherwise(tmp_path: Path, variable: str, value: str, where: str) -> None:
    assert refused(tmp_path, CHOSEN, **{variable: value}) == (
        f'samconfig.toml: {variable} is "{value}", which neither the stack nor the next build would know of: unset it, '
        f"and change {where} in this file"
    )


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("ARCH", "x86_64"),
        ("ARCH", ""),
        ("STILE_EXTRAS", "jwt,code"),
        ("STILE_EXTRAS", ""),
        ("STILE_CODE", "shop_tools.py lib/acme"),
    ],
)
def test_the_environment_may_say_the_same(tmp_path: Path, variable: str, value: str) -> None:
    assert settings(tmp_path, CHOSEN, **{variable: value})[0] == 0
