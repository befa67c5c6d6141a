"""The output side of a tool: the listed schema, and the conversion of return values to ``CallToolResult``."""

from __future__ import annotations

import collections.abc
import functools
import inspect
import types
import typing
from collections.abc import Mapping
from typing import Any

from handler.code_tools.boundary import LOG, AuthorFailed, authors_code
from handler.code_tools.options import Options, read_object_schema
from handler.code_tools.plain_hints import PlainValue
from handler.code_tools.return_values import Async, Content, ErrorObject, InputRequired, Text, ToolCall, ToolResult
from handler.code_tools.signature import NO_DEFAULT, alternatives
from handler.code_tools.source_location import SourceLocation
from handler.code_tools.type_schemas import ValueType, to_json
from handler.errors.calls import CallError, ToolError
from handler.json_schema.deferred_checker import DeferredChecker
from handler.strict_json import JSONObject, to_well_formed_json

RESULT = "result"
"""The member that lists and single values are wrapped in: structured content is an object for older clients."""

UNSTRUCTURED: tuple[Any, ...] = (
    *(NO_DEFAULT, Any, str, None, types.NoneType, ToolResult, dict, list, tuple, set, typing.Dict, typing.List),  # noqa: UP006
    *(collections.abc.Mapping, collections.abc.Sequence, collections.abc.Iterable),
)
"""The hints that say too little for an output schema, or mean text."""


class Output:
    """The output of a tool: its schema, and its results."""

    def __init__(
        self, returns: Any, options: Options, place: SourceLocation, *, of: type[ValueType] = ValueType
    ) -> None:
        self._returns = returns
        self._of = of
        self._options = options
        self._place = place
        schema = options.output_schema
        self._hint, self._written = schema, None
        if isinstance(schema, str | Mapping):
            self._written = read_object_schema(schema, "output_schema", place)
        elif schema is None:
            self._hint = _without_control(returns)
        self.may_go_on = any(each is Async for each in alternatives(returns))
        """True if the return annotation has ``Async``."""

    @functools.cached_property
    def _type(self) -> ValueType | None:
        structured = self._options.structured_output
        if self._written is not None or structured is False:
            return None
        is_content = _is_content(self._hint)
        if structured and (self._hint is NO_DEFAULT or is_content):
            self._place.refuse("structured_output: expected a return annotation that says what the data looks like")
        bare = self._hint.__origin__ if typing.get_origin(self._hint) is typing.Annotated else self._hint
        if structured or not (is_content or any(bare is each for each in UNSTRUCTURED)):
            return self._of(self._hint, "return", self._place)
        return None

    def plain(self) -> Output:
        """Return the output with a plain type, which pydantic writes only in doubt; this one if its type is another."""
        plain = Output(self._returns, self._options, self._place, of=PlainValue)
        try:
            with authors_code():  # hints may be of any class
                return self if plain._type is None else plain
        except AuthorFailed:  # a Doubt, mostly
            return self

    @functools.cached_property
    def _wraps(self) -> bool:
        """True if values are wrapped in ``result``, because their type is not an object."""
        return self._type is not None and self._type.schema("serialization").get("type") != "object"

    @functools.cached_property
    def schema(self) -> JSONObject | None:
        """The output schema of the list entry."""
        schema = self._written if self._type is None else self._type.schema("serialization")
        if schema is None:
            return None
        if self._wraps:
            inner = {name: value for name, value in schema.items() if name != "$defs"}
            definitions = {"$defs": schema["$defs"]} if "$defs" in schema else {}
            return {"type": "object", "properties": {RESULT: inner}, "required": [RESULT], **definitions}
        if self._options.version:
            versions = {name: {"type": "string"} for name in self._options.version}
            return {**schema, "properties": {**schema.get("properties", {}), **versions}}
        return schema

    @functools.cached_property
    def _checker(self) -> DeferredChecker | None:
        if self.schema is None or self._options.output_validation == "off":
            return None
        return DeferredChecker(self.schema)

    def result_of(self, value: Any, tool: str, *, source: str) -> JSONObject:
        """Convert a return value to a ``CallToolResult``. The log names the function by ``source``.

        Raises:
            ToolError: the value does not match the output schema.
            TypeError, ValueError, RecursionError: the value cannot become a result.
        """
        if isinstance(value, ToolResult):
            result = _verbatim(value)
        elif value is None and not self._wraps:
            result = {"content": []}
        elif isinstance(value, str):
            text = str.__str__(value)  # an enum's member is its value
            result = {"content": [Text(text).to_json()]}
            if self.schema is not None and RESULT in self.schema.get("properties", {}):
                result["structuredContent"] = {RESULT: text}
        elif isinstance(value, Content):
            result = {"content": [_block(value)]}
        elif isinstance(value, list | tuple) and any(isinstance(each, Content) for each in value):
            blocks = [_block(each) if isinstance(each, Content | str) else _json_text(to_json(each)) for each in value]
            result = {"content": blocks}
        else:
            result = self._of_data(value)
        return self._enforced(result, value, tool, source)

    def _of_data(self, value: Any) -> JSONObject:
        if isinstance(value, bytes | bytearray) or inspect.isgenerator(value) or inspect.isasyncgen(value):
            raise TypeError(f"expected a value that is JSON, or a content block, got {type(value).__name__}")
        plain = to_json(value) if self._type is None else self._type.to_json(value)
        is_object = isinstance(plain, dict) and not self._wraps
        if is_object:
            plain = {**plain, **self._options.version}
        result: JSONObject = {"content": [_json_text(plain)]}
        if self._options.structured_output is not False:
            result["structuredContent"] = plain if is_object else {RESULT: plain}
        if isinstance(value, ErrorObject) and value.is_error:
            result["isError"] = True
        return result

    def _enforced(self, result: JSONObject, value: Any, tool: str, source: str) -> JSONObject:
        """Check a result against the output schema; an error object that does not match it becomes an error result."""
        if self._checker is None or result.get("isError"):
            return result
        if "structuredContent" not in result:
            wrong, sentence = ["no structured content"], f"Tool {tool} has an output schema, and no structuredContent"
        else:
            wrong = self._checker.places(result["structuredContent"])
            sentence = f"Tool {tool} returned a result that does not match its output schema"
        if not wrong:
            return result
        if isinstance(value, ErrorObject):  # the output schema does not bind errors
            return {**result, "isError": True}
        LOG.warning("%s: the result does not match the output schema: %s", source, "; ".join(wrong[:10]))
        if self._options.output_validation == "warn":
            return result
        raise ToolError(sentence)


def error_result(exc: CallError) -> JSONObject:
    """Return the ``CallToolResult`` of an error, for the model to read."""
    content = exc.content if isinstance(exc, ToolError) else (str(exc),)
    result: JSONObject = {"content": [_block(each) for each in content], "isError": True}
    if isinstance(exc, ToolError) and exc.data is not None:
        result["structuredContent"] = to_json(exc.data)
    return result


def _verbatim(value: ToolResult) -> JSONObject:
    result: JSONObject = {"content": [_block(each) for each in value.content]}
    if value.data is not None:
        result["structuredContent"] = to_json(value.data)
        if value.mirror:
            result["content"].append(_json_text(result["structuredContent"]))
    if value.is_error:
        result["isError"] = True
    if value.meta is not None:
        result["_meta"] = to_json(value.meta)
    return result


def _block(part: Any) -> JSONObject:
    if isinstance(part, str):
        return Text(part).to_json()
    if not isinstance(part, Content):
        raise TypeError(f"expected a content block or a text, got {type(part).__name__}")
    block: JSONObject = to_json(part.to_json())  # an author's annotations may hold any type
    return block


def _json_text(value: Any) -> JSONObject:
    return Text(to_well_formed_json(value).decode()).to_json()


def _without_control(hint: Any) -> Any:
    """Remove types that never become results: ``Hits | InputRequired`` returns hits, ``ToolCall`` any form."""
    parts = alternatives(hint)
    data = tuple(each for each in parts if each not in (Async, InputRequired))
    if not data or ToolCall in data:
        return NO_DEFAULT
    return hint if len(data) == len(parts) else typing.Union[data]  # noqa: UP007 - of a tuple


def _is_content(hint: Any) -> bool:
    """Return whether a hint allows content blocks or full results."""
    lists = (list, tuple, collections.abc.Sequence, collections.abc.Iterable)
    parts: list[Any] = []
    for part in alternatives(hint):
        for inner in typing.get_args(part) if typing.get_origin(part) in lists else (part,):
            parts += alternatives(inner)
    blocks = (isinstance(each, type) and issubclass(each, Content | ToolResult) for each in parts)
    return any(each is Any or each is object for each in parts) or any(blocks)
