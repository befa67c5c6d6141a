"""Every template passes all rules of cfn-lint, and `make validate` asks both tools about each of them."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.infra.cloudformation import ROOT
from tests.support.require import requires

TEMPLATES = ["template.yaml", *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "infra").glob("*.yaml"))]


def linted(*templates: str, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    program = ROOT / ".venv-sam" / "bin" / "cfn-lint"
    requires("sam", program.exists(), "`make sam-setup` installs cfn-lint with it")
    every_rule = ["--include-checks", "I", "--include-experimental", "--regions", "us-east-1"]
    return subprocess.run(
        [str(program), *every_rule, "--", *templates], cwd=folder, capture_output=True, text=True, check=False
    )


def test_every_template_passes_all_rules() -> None:
    done = linted(*TEMPLATES)

    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


def test_a_mistake_in_a_template_is_seen(tmp_path: Path) -> None:
    text = (ROOT / "infra" / "observability.yaml").read_text("utf-8")
    (tmp_path / "wrong.yaml").write_text(text.replace("MetricName: Throttles", "Metric: Throttles", 1), "utf-8")

    assert linted("wrong.yaml", folder=tmp_path).returncode != 0


def test_validating_asks_both_tools_about_every_template() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    recipe = makefile[makefile.index("validate: $(SAM_VENV)") :].partition("\n\n")[0]

    assert "cfn-lint --include-checks I --include-experimental" in recipe
    assert recipe.count("template.yaml infra/*.yaml") == 2
    assert "validate --lint --template" in recipe
