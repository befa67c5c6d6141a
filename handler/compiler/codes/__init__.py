"""The stable codes of diagnostics, each with a meaning and a remedy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from handler.compiler.codes.content_errors import CONTENT_ERRORS
from handler.compiler.codes.graphql_codes import GRAPHQL_ERRORS
from handler.compiler.codes.project_errors import PROJECT_ERRORS
from handler.compiler.codes.warning_codes import WARNINGS


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """One kind of diagnostic."""

    meaning: str
    remedy: str
    is_warning: bool  # ``checks.ignore`` can silence it


CODES: Mapping[str, Code] = {
    code: Code(meaning=meaning, remedy=remedy, is_warning=table is WARNINGS)
    for table in (GRAPHQL_ERRORS, PROJECT_ERRORS, CONTENT_ERRORS, WARNINGS)
    for code, (meaning, remedy) in table.items()
}
"""All codes, errors first."""
