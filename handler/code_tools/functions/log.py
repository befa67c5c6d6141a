"""The log of tools in Python, whose exceptions may quote any input."""

from __future__ import annotations

import logging

from handler.strict_json import well_formed


class _WellFormed(logging.Filter):
    """Replace lone surrogates: the log handler of Lambda's runtime raises on them, and the call would fail."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = well_formed(record.getMessage()), None
        told = logging.Formatter().formatException(record.exc_info) if record.exc_info else ""
        if told != well_formed(told):
            record.msg, record.exc_info = f"{record.msg}\n{well_formed(told)}", None
        return True


LOG = logging.getLogger("stile.tools")
LOG.addFilter(_WellFormed())
