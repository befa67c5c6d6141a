"""JSON-RPC errors."""

from __future__ import annotations

from typing import Any

from handler.errors import StileError


class McpError(StileError):
    """A JSON-RPC error instead of a result.

    ``code`` is a standard code (``PARSE_ERROR`` … ``INTERNAL_ERROR``) or the author's own, outside -32768 to -32000.
    ``stile_code`` is empty if only ``code``, or the cause of the error, says the reason.

    Raises:
        ValueError: a code that JSON-RPC and MCP reserve.

    Source: JSON-RPC 2.0, section 5.1.
    """

    PARSE_ERROR = -32700
    INVALID_REQUEST = -32600
    METHOD_NOT_FOUND = -32601
    INVALID_PARAMS = -32602
    INTERNAL_ERROR = -32603

    stile_code = ""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        standard = (self.PARSE_ERROR, *range(self.INTERNAL_ERROR, self.INVALID_REQUEST + 1))
        if -32768 <= code <= -32000 and code not in standard:
            raise ValueError(f"code {code} is reserved: expected one of {standard}, or one outside -32768 to -32000")
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class InvalidParams(McpError):
    """Invalid input, as a JSON-RPC error, which a model may not see; ``ToolError`` reports it to the model."""

    def __init__(self, message: str, data: Any = None) -> None:
        super().__init__(self.INVALID_PARAMS, message, data)


class StateRefused(InvalidParams):
    """A ``requestState`` that is changed, too old, or of another call or caller. The error never says which."""

    stile_code = "state-refused"

    def __init__(self) -> None:
        super().__init__("The requestState is not one for this call: call again without it")


class AuthenticationRequired(McpError):
    """A tool with ``requires_auth``, and an unknown caller or one without a credential for the API behind it."""

    stile_code = "authentication-required"

    def __init__(self) -> None:
        super().__init__(self.INVALID_REQUEST, "Authentication required")
