"""Read ``log`` of ``config.yaml``: facts of calls that the log has in addition."""

from __future__ import annotations

from dataclasses import dataclass

from handler.compiler.problems import Place
from handler.compiler.source.yaml_section import Section


@dataclass(frozen=True, slots=True, kw_only=True)
class LogConfig:
    """The values of ``log``."""

    coordinates: bool
    arguments: tuple[tuple[str, Place], ...]  # each tool.argument


def read_log_config(section: Section) -> LogConfig:
    """Read ``log``. Without it, the log has neither coordinates nor arguments."""
    section.expect()
    return LogConfig(coordinates=section.boolean("coordinates"), arguments=tuple(section.texts("arguments")))
