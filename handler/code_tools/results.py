"""The output side of a tool: the listed schema, and the conversion of return values to ``CallToolResult``."""

from __future__ import annotations

import collections.abc
import functools
import inspect
import types
import typing
from collections.abc import Iterable, Mapping
from typing import Any

from handler.code_tools.boundary import LOG, AuthorFailed, authors_code
from handler.code_tools.options import Options, read_object_schema
from handler.code_tools.plain_hints import PlainValue
from handler.code_tools.return_values import Async, Content, ErrorObject, InputRequired, Text, ToolResult
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
        self, returns: Any, options: Options, place: SourceLocation, *, of: type[ValueType | PlainValue] = ValueType
    ) -> None:
        self._returns = returns
        self._of = of
        self._options = options
        self._place = place
        given = options.output_schema
        self._written = read_object_schema(given, "output_schema", place) if isinstance(given, str | Mapping) else None
        self._hint = _without_control(returns) if given is None else given
        self.may_go_on = any(each is Async for each in alternatives(returns))
        """True if the return annotation has ``Async``."""

    @functools.cached_property
    def _type(self) -> ValueType | PlainValue | None:
        if self._written is not None or self._options.structured_output is False:
            return None
        if self._options.structured_output and (self._hint is NO_DEFAULT or _is_content(self._hint)):
            self._place.refuse("structured_output: expected a return annotation that says what the data looks like")
        if self._options.structured_output or not (_says_nothing(self._hint) or _is_content(self._hint)):
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
        schema = self._written
        if self._type is not None:
            schema = self._type.schema("serialization")
        if schema is None:
            return None
        if self._wraps:
            schema = _wrapped(schema)
        elif self._options.version:
            versions = {name: {"type": "string"} for name in self._options.version}
            schema = {**schema, "properties": {**schema.get("properties", {}), **versions}}
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
        match value:
            case ToolResult():
                result = _verbatim(value)
            case None if not self._wraps:
                result = {"content": []}
            case str():
                result = self._of_text(str.__str__(value))  # an enum's member is its value
            case _ if (blocks := _blocks(value)) is not None:
                result = {"content": blocks}
            case _:
                result = self._of_data(value)
        return self._enforced(result, value, tool, source)

    def _of_text(self, text: str) -> JSONObject:
        result: JSONObject = {"content": [Text(text).to_json()]}
        if self.schema is not None and RESULT in self.schema.get("properties", {}):
            result["structuredContent"] = {RESULT: text}
        return result

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


def _verbatim(given: ToolResult) -> JSONObject:
    result: JSONObject = {"content": [_block(each) for each in given.content]}
    if given.data is not None:
        result["structuredContent"] = to_json(given.data)
        if given.mirror:
            result["content"].append(_json_text(result["structuredContent"]))
    if given.is_error:
        result["isError"] = True
    if given.meta is not None:
        result["_meta"] = to_json(given.meta)
    return result


def _blocks(value: Any) -> list[JSONObject] | None:
    """Return a value's content blocks, texts and data among them converted; ``None`` if the value is data."""
    if isinstance(value, Content):
        return [_block(value)]
    if isinstance(value, list | tuple) and any(isinstance(each, Content) for each in value):
        return [_block(each) if isinstance(each, Content | str) else _json_text(to_json(each)) for each in value]
    return None


def _block(given: Any) -> JSONObject:
    match given:
        case Content():
            block: JSONObject = to_json(given.to_json())  # an author's annotations may hold any type
            return block
        case str():
            return Text(given).to_json()
    raise TypeError(f"expected a content block or a text, got {type(given).__name__}")


def _json_text(value: Any) -> JSONObject:
    return Text(to_well_formed_json(value).decode()).to_json()


def _wrapped(schema: JSONObject) -> JSONObject:
    inner = {name: value for name, value in schema.items() if name != "$defs"}
    definitions = {"$defs": schema["$defs"]} if "$defs" in schema else {}
    return {"type": "object", "properties": {RESULT: inner}, "required": [RESULT], **definitions}


def _without_control(hint: Any) -> Any:
    """Remove ``Async`` and ``InputRequired``, which never become results: ``Hits | InputRequired`` returns hits."""
    kept = tuple(each for each in alternatives(hint) if each not in (Async, InputRequired))
    if not kept:
        return NO_DEFAULT
    return hint if len(kept) == len(alternatives(hint)) else typing.Union[kept]  # noqa: UP007 - of a tuple


def _says_nothing(hint: Any) -> bool:
    plain = hint.__origin__ if typing.get_origin(hint) is typing.Annotated else hint
    return any(plain is each for each in UNSTRUCTURED)


def _is_content(hint: Any) -> bool:
    """Return whether a hint allows content blocks or full results."""
    inner: Iterable[Any] = [
        each for part in alternatives(hint) for each in (typing.get_args(part) if _is_list(part) else (part,))
    ]
    parts = [each for part in inner for each in alternatives(part)]
    blocks = (isinstance(each, type) and issubclass(each, Content | ToolResult) for each in parts)
    return any(each is Any or each is object for each in parts) or any(blocks)


def _is_list(hint: Any) -> bool:
    return typing.get_origin(hint) in (list, tuple, collections.abc.Sequence, collections.abc.Iterable)
