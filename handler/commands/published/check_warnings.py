"""The warnings about an endpoint that ``stile check`` prints, as config.yaml leaves them."""

from __future__ import annotations

from pathlib import Path

from handler.commands.published.publish_checks import warnings_about_questions, warnings_about_upstream
from handler.compiler.compile import Compiled
from handler.compiler.config.ignores import left_over, unused_ignores
from handler.errors.authoring import Problem


def check_warnings(compiled: Compiled, folder: Path) -> list[Problem]:
    """Return all warnings about an endpoint, in file order."""
    added = [*warnings_about_questions(compiled), *warnings_about_upstream(compiled, folder)]
    if compiled.bundle.skills:
        from handler.audience.skill_tools import warnings_about_skills  # it loads the server

        added += warnings_about_skills(compiled)
    found = [*compiled.warnings, *compiled.client_warnings, *added]
    return sorted([*left_over(found, compiled.ignores), *unused_ignores(found, compiled.ignores)])
