"""Return values of a tool that is not done: work to wait for, or questions for the client's user."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, Literal

from handler.cold.records import record
from handler.strict_json import JSONObject

if TYPE_CHECKING:
    from concurrent.futures import Future


@record(frozen=True, slots=True)
class Async:
    """Work under a tag. The tool's ``resume`` gets the tag and the outcome, in the same invocation."""

    tag: Any
    work: Awaitable[Any] | Future[Any]


@record(frozen=True, slots=True)
class Ok:
    """The work's value."""

    value: Any


@record(frozen=True, slots=True)
class Err:
    """The exception of the work; ``TimeoutError`` if the deadline ended the work."""

    error: BaseException


@record(frozen=True, slots=True)
class Elicit:
    """A question to the client's user: a form, whose ``schema`` has flat properties, or a ``url`` to open.

    Source: MCP 2026-07-28, elicitation.
    """

    message: str
    schema: Mapping[str, Any] | None = None
    url: str | None = field(default=None, kw_only=True)

    def to_json(self) -> JSONObject:
        """Return the input request in MCP's form."""
        mode: Literal["form", "url"] = "form" if self.url is None else "url"
        params: JSONObject = {"mode": mode, "message": self.message}
        if self.url is None:
            params["requestedSchema"] = dict(self.schema or {"type": "object", "properties": {}})
        else:
            params["url"] = self.url
        return {"method": "elicitation/create", "params": params}


@record(frozen=True, slots=True)
class InputRequired:
    """A result that asks first. The client calls again: the context then has the answers and ``state``, as JSON.

    On its way through the client, the state is signed but not secret.
    """

    requests: Mapping[str, Elicit | Mapping[str, Any]] = field(default_factory=dict)
    state: Any = field(default=None, kw_only=True)

    def input_requests(self) -> JSONObject:
        """Return the requests in MCP's form, by their keys."""
        return {
            key: request.to_json() if isinstance(request, Elicit) else dict(request)
            for key, request in self.requests.items()
        }
