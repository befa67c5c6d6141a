"""The traceback of an author's code: one, of the author's own frames."""

from __future__ import annotations

import logging
import sysconfig
import traceback
from pathlib import Path
from types import TracebackType

import handler
from handler.code_tools.boundary import AuthorFailed
from handler.commands.terminal.console import EscapingFormatter

OURS = (Path(handler.__file__).parent, Path(sysconfig.get_paths()["stdlib"]))
"""Folders of frames that no author wrote: ours, and the standard library's."""

INSTALLED = ("site-packages", "dist-packages")
"""Folders inside of the standard library's that may have authors' packages."""

OWN = "stile.tools"
"""The logger of failed tools."""


def author_traceback(failure: BaseException, *, whole: bool) -> str:
    """Format an exception. Unless ``whole``, only its own frames of authors' code are in it, and no cause that is ours.

    Without a frame of an author, a tool's failure is its sentence alone, and any other is formatted whole.
    """
    if whole:
        return "".join(traceback.format_exception(failure))
    error = failure.error if isinstance(failure, AuthorFailed) else failure
    kept = traceback.TracebackException.from_exception(error)
    if _prune(kept):
        return "".join(kept.format())
    return "".join(kept.format_exception_only() if error is not failure else traceback.format_exception(failure))


def _prune(report: traceback.TracebackException) -> bool:
    """Keep the frames of authors in an exception and its causes. Tell if there are any."""
    found = False
    each: traceback.TracebackException | None = report
    while each is not None:
        own = [frame for frame in each.stack if not _is_ours(frame.filename)]
        found = found or bool(own)
        each.stack = traceback.StackSummary.from_list(own)
        each = each.__cause__ or (None if each.__suppress_context__ else each.__context__)
    return found


def _is_ours(file: str) -> bool:
    if file.startswith("<frozen"):
        return True
    path = Path(file)
    ours, standard = OURS
    return path.is_relative_to(ours) or (path.is_relative_to(standard) and not {*path.parts} & {*INSTALLED})


class AuthorFormatter(EscapingFormatter):
    """A formatter of log records whose tracebacks of authors' tools show authors' frames, or with ``whole`` all."""

    def __init__(self, *, whole: bool) -> None:
        super().__init__()
        self._whole = whole
        self._of_tool = False

    def format(self, record: logging.LogRecord) -> str:
        self._of_tool = record.name == OWN
        return super().format(record)

    def formatException(  # noqa: N802 - the name in the standard library
        self, ei: tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]
    ) -> str:
        if ei[1] is None or not self._of_tool:
            return super().formatException(ei)
        return author_traceback(ei[1], whole=self._whole).rstrip("\n")


def show_authors_frames(*, whole: bool) -> None:
    """Print tracebacks of this process's log records as above."""
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(AuthorFormatter(whole=whole))
