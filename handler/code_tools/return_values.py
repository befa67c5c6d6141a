"""Return values of authors' functions for which plain values do not suffice.

Content blocks and full results; work to wait for, and questions for the client's user.
"""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any

from handler.cold.records import record
from handler.strict_json import JSONObject

if TYPE_CHECKING:
    from concurrent.futures import Future


SUBTYPES = {"jpg": "jpeg", "svg": "svg+xml", "tif": "tiff", "mp3": "mpeg", "m4a": "mp4"}
"""Format -> the subtype of its MIME type, where they differ."""

ANNOTATIONS = {"audience": "audience", "priority": "priority", "last_modified": "lastModified"}


@record(frozen=True, slots=True)
class Content:
    """A content block. ``annotations`` has ``audience``, ``priority`` and ``last_modified``."""

    annotations: Mapping[str, Any] | None = field(default=None, kw_only=True)
    meta: Mapping[str, Any] | None = field(default=None, kw_only=True)

    def to_json(self) -> JSONObject:
        """Return the block in MCP's form, without members that are ``None``."""
        names = {**ANNOTATIONS, **{wire: wire for wire in ANNOTATIONS.values()}}
        unknown = [name for name in self.annotations or () if name not in names]
        if unknown:
            raise ValueError(f"unknown annotation {unknown[0]}: expected one of {', '.join(ANNOTATIONS)}")
        annotations = None if self.annotations is None else {names[key]: each for key, each in self.annotations.items()}
        return _without_none({**self._members(), "annotations": annotations, "_meta": self.meta})

    def _members(self) -> JSONObject:
        raise NotImplementedError


@record(frozen=True, slots=True)
class Text(Content):
    """A text."""

    text: str

    def _members(self) -> JSONObject:
        return {"type": "text", "text": self.text}


@record(frozen=True, slots=True)
class Image(Content):
    """An image, as bytes or as base64 text. ``format``, such as ``jpeg``, may stand for the MIME type."""

    data: bytes | str
    mime_type: str = "image/png"
    format: str = field(default="", kw_only=True)

    def _members(self) -> JSONObject:
        return {"type": "image", "data": _base64(self.data), "mimeType": _mime_type("image", self)}


@record(frozen=True, slots=True)
class Audio(Content):
    """A sound, as bytes or as base64 text. ``format``, such as ``mp3``, may stand for the MIME type."""

    data: bytes | str
    mime_type: str = "audio/wav"
    format: str = field(default="", kw_only=True)

    def _members(self) -> JSONObject:
        return {"type": "audio", "data": _base64(self.data), "mimeType": _mime_type("audio", self)}


@record(frozen=True, slots=True)
class ResourceLink(Content):
    """A resource that the client may read. MCP requires a name; the URI is the default. ``size`` is in bytes."""

    uri: str
    name: str = ""
    title: str | None = field(default=None, kw_only=True)
    description: str | None = field(default=None, kw_only=True)
    mime_type: str | None = field(default=None, kw_only=True)
    size: int | None = field(default=None, kw_only=True)

    def _members(self) -> JSONObject:
        return {
            "type": "resource_link",
            "uri": self.uri,
            "name": self.name or self.uri,
            "title": self.title,
            "description": self.description,
            "mimeType": self.mime_type,
            "size": self.size,
        }


@record(frozen=True, slots=True)
class EmbeddedResource(Content):
    """The content of a resource: a ``text``, or a ``blob`` of bytes (or of base64 text)."""

    uri: str
    text: str | None = field(default=None, kw_only=True)
    blob: bytes | str | None = field(default=None, kw_only=True)
    mime_type: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if (self.text is None) == (self.blob is None):
            raise ValueError(f"resource {self.uri}: expected text or blob, and not both")

    def _members(self) -> JSONObject:
        blob = None if self.blob is None else _base64(self.blob)
        resource = {"uri": self.uri, "mimeType": self.mime_type, "text": self.text, "blob": blob}
        return {"type": "resource", "resource": _without_none(resource)}


def _without_none(members: JSONObject) -> JSONObject:
    return {name: value for name, value in members.items() if value is not None}


def _mime_type(kind: str, block: Image | Audio) -> str:
    format_ = block.format.lower()
    return f"{kind}/{SUBTYPES.get(format_, format_)}" if format_ else block.mime_type


def _base64(content: bytes | str) -> str:
    return content if isinstance(content, str) else base64.b64encode(content).decode("ascii")


@record(frozen=True, slots=True)
class ToolResult:
    """A full result, without the tool's version.

    ``content`` holds blocks and texts, and may hold the structured content as a mapping. ``data`` is the structured
    content; with ``mirror`` its JSON is also the last text. Without, both are sent as they are.

    Source: MCP, "Structured Content": servers should send it as a text, too, for clients that read texts alone.

    Raises:
        ValueError: structured content is given more than once.
    """

    content: Iterable[Content | str | Mapping[str, Any]] = ()
    data: Any = None
    mirror: bool = field(default=True, kw_only=True)
    is_error: bool = field(default=False, kw_only=True)
    meta: Mapping[str, Any] | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        parts = [self.content] if isinstance(self.content, str | Content | Mapping) else list(self.content)
        payloads = [each for each in parts if isinstance(each, Mapping)]
        if len(payloads) + (self.data is not None) > 1:
            raise ValueError("a result has one structured content: expected it in content or in data, and once")
        object.__setattr__(self, "content", tuple(each for each in parts if not isinstance(each, Mapping)))
        object.__setattr__(self, "data", payloads[0] if payloads else self.data)


class ErrorObject(dict[str, Any]):
    """An error object of ``tool_fail``. ``is_error`` is copied to the result's ``isError``."""

    is_error = False


def tool_fail(*, is_error: bool = False, **defaults: Any) -> Callable[[str], dict[str, Any]]:
    """Return a maker of error objects of one shape: ``tool_fail(ok=False)("no such order")``.

    Without ``is_error``, the call succeeds on the wire unless the object breaks the output schema. With ``is_error``,
    the result has ``isError`` and is not checked against the output schema.
    """

    def fail(message: str) -> dict[str, Any]:
        error = ErrorObject({**defaults, "error": message})
        error.is_error = is_error
        return error

    return fail


@record(frozen=True, slots=True)
class ToolCall:
    """The call of another tool of the endpoint, which runs an operation. Its result, or its task, is the result."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


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
        if self.url is None:
            schema = dict(self.schema or {"type": "object", "properties": {}})
            params = {"mode": "form", "message": self.message, "requestedSchema": schema}
        else:
            params = {"mode": "url", "message": self.message, "url": self.url}
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
