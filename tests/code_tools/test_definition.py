from __future__ import annotations

import functools
import json
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import pytest

from handler.errors.authoring import ToolDefinitionError
from stile import Context, Tool, Toolkit, describe, tool
from stile.testing import TestClient
from tests.code_tools.cases import case
from tests.code_tools.echo import ECHO_SCHEMA, Mode, client_of, echo


@case("D-001")
def test_entry_of_echo_has_its_schema_and_nothing_that_was_not_said() -> None:
    read_only = tool(annotations={"read_only_hint": True})(functools.partial(echo))

    assert describe(read_only) == {
        "name": "echo",
        "inputSchema": ECHO_SCHEMA,
        "annotations": {"readOnlyHint": True},
    }


@case("D-002")
def test_five_hints_in_snake_case_are_five_in_camel_case() -> None:
    @tool(
        annotations={
            "title": "Both",
            "read_only_hint": False,
            "destructive_hint": True,
            "idempotent_hint": True,
            "openWorldHint": False,
        }
    )
    def hinted() -> None: ...

    assert describe(hinted)["annotations"] == {
        "title": "Both",
        "readOnlyHint": False,
        "destructiveHint": True,
        "idempotentHint": True,
        "openWorldHint": False,
    }


@case("D-003")
def test_hint_that_does_not_exist_is_refused_with_its_name_and_place() -> None:
    with pytest.raises(ToolDefinitionError) as caught:

        @tool(annotations={"read_only": True})
        def hinted() -> None: ...

    assert caught.value.label == "tool hinted"
    assert caught.value.file == __file__
    assert caught.value.line > 0
    assert str(caught.value).startswith(f"{__file__}:{caught.value.line}: tool hinted: ")
    assert "unknown key 'read_only'; expected one of title, read_only_hint" in caught.value.sentence


@case("D-004")
def test_title_is_listed_beside_the_name() -> None:
    @tool(title="Greet User")
    def greet() -> None: ...

    assert {key: describe(greet)[key] for key in ("name", "title")} == {"name": "greet", "title": "Greet User"}


@case("D-005")
def test_class_gives_its_name_in_snake_case() -> None:
    class GetWeather(Tool):
        """Says how the weather is."""

        def call(self, city: str) -> str:
            return city

    class HTTPStatus2(GetWeather):
        pass

    assert describe(GetWeather())["name"] == describe(GetWeather)["name"] == "get_weather"
    assert describe(GetWeather())["description"] == "Says how the weather is."
    assert describe(HTTPStatus2)["name"] == "http_status2"


@case("D-006")
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"name": " "}, "name ' ': expected 1 to 128 of"),
        ({"name": "a b"}, "name 'a b': expected 1 to 128 of"),
        ({"name": "a" * 129}, "expected 1 to 128 of"),
        ({"title": ""}, "title: expected a text, got a blank one"),
        ({"description": "\n"}, "description: expected a text, got a blank one"),
        ({"meta": ["k"]}, "meta: expected a mapping, got ['k']"),
        ({"meta": {"k": object()}}, "meta: expected JSON: Object of type object is not JSON serializable"),
        ({"icons": ["a.png"]}, "icons: expected a mapping for each, got 'a.png'"),
        ({"scopes": [7]}, "scopes: expected a text for each, got 7"),
        ({"aliases": [7]}, "aliases: expected a text for each, got 7"),
        ({"aliases": "old"}, "aliases: expected a list, got 'old'"),
        ({"requires_auth": [None]}, "requires_auth: expected a text for each, got None"),
        ({"requires_auth": []}, "requires_auth: expected True, False or scopes, got an empty list"),
        ({"hidden": "yes"}, "hidden: expected True or False, got 'yes'"),
        ({"timeout": True}, "timeout: expected a number, got True"),
        ({"timeout": 0}, "timeout: expected seconds above 0, got 0"),
        ({"extra": "allow"}, "extra: expected one of ignore, forbid, got 'allow'"),
        ({"aliases": ["a b"]}, "name 'a b': expected"),
        ({"resume": "f"}, "resume: expected a function"),
        ({"annotations": {"read_only_hint": 1}}, "annotations: read_only_hint: expected True or False, got 1"),
        ({"annotations": "x"}, "annotations: expected a mapping"),
        ({"titel": "x"}, "unknown option titel; did you mean title?"),
        ({"enabled": True, "titel": "x"}, "unknown option enabled, unknown option titel; did you mean title?"),
    ],
)
def test_option_that_does_not_fit_is_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ToolDefinitionError) as caught:
        tool(**{"name": "t", **options})(lambda: None)

    assert sentence in caught.value.sentence


@case("D-007")
def test_tool_without_parameters_has_a_schema_of_an_empty_object() -> None:
    @tool
    def ping() -> str:
        return "pong"

    assert describe(ping)["inputSchema"] == {"type": "object", "properties": {}}


@dataclass
class Author:
    name: str
    mode: Mode = Mode.PLAIN


@dataclass
class Filters:
    lead: Author
    authors: list[Author] = field(default_factory=list)


@case("D-008")
def test_dataclasses_are_definitions_and_enums_stand_in_place() -> None:
    def search(filters: Filters) -> None: ...

    assert describe(search)["inputSchema"] == {
        "type": "object",
        "properties": {"filters": {"$ref": "#/$defs/Filters"}},
        "required": ["filters"],
        "$defs": {
            "Author": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "mode": {"type": "string", "enum": ["plain", "loud"], "default": "plain"},
                },
                "required": ["name"],
            },
            "Filters": {
                "type": "object",
                "properties": {
                    "lead": {"$ref": "#/$defs/Author"},
                    "authors": {"type": "array", "items": {"$ref": "#/$defs/Author"}},
                },
                "required": ["lead"],
            },
        },
    }


@case("D-009")
def test_category_joins_the_authors_meta() -> None:
    @tool(meta={"k": "v"}, category="Utility")
    def grouped() -> None: ...

    assert describe(grouped)["_meta"] == {"k": "v", "category": "Utility"}


SCHEMA_2020_12: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": {"$anchor": "addressDef", "type": "object", "properties": {"street": {"type": "string"}}}},
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#addressDef"},
        "contact": {"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]},
    },
    "allOf": [{"anyOf": [{"required": ["name"]}, {"required": ["address"]}]}],
    "if": {"properties": {"name": {"const": "x"}}, "required": ["name"]},
    "then": {"required": ["address"]},
    "else": {"required": ["name"]},
    "additionalProperties": False,
}


@case("D-010")
@pytest.mark.parametrize("given", [SCHEMA_2020_12, json.dumps(SCHEMA_2020_12)], ids=["mapping", "text"])
def test_schema_of_the_author_is_listed_as_it_is(given: Any) -> None:
    @tool(input_schema=given, output_schema=given)
    def raw(arguments: dict[str, Any]) -> dict[str, Any]:
        return arguments

    entry = describe(raw)

    assert json.dumps(entry["inputSchema"]) == json.dumps(entry["outputSchema"]) == json.dumps(SCHEMA_2020_12)


@case("D-011")
def test_two_tools_of_one_name_are_refused() -> None:
    kit = Toolkit()
    kit.add(echo)

    with pytest.raises(ToolDefinitionError, match=r"echo\.py:\d+: tool echo: the toolkit has a tool echo already"):
        kit.add(echo)
    with pytest.raises(ToolDefinitionError, match="the toolkit has a tool echo already"):
        kit.add(echo, name="other", aliases=["echo"])


@case("D-012")
def test_icons_and_meta_pass_through() -> None:
    icons = [{"src": "https://example.com/icon.png", "mimeType": "image/png", "sizes": ["48x48"]}]

    @tool(icons=icons, meta={"securitySchemes": [{"type": "noauth"}]}, tags={"b", "a"})
    def shown() -> None: ...

    entry = describe(shown)
    assert entry["icons"] == icons
    assert entry["_meta"] == {"securitySchemes": [{"type": "noauth"}], "tags": ["a", "b"]}


def test_decorator_returns_the_function_in_all_its_forms() -> None:
    def double(number: int) -> int:
        return number * 2

    assert tool(double) is double
    assert tool()(double) is double
    assert tool("twice")(double) is double
    assert tool(double, title="Twice") is double
    assert double(4) == 8


@pytest.mark.parametrize(
    ("decorate", "name"),
    [
        (tool, "original"),
        (tool(), "original"),
        (tool("named"), "named"),
        (tool(name="named"), "named"),
        (lambda function: tool(function, name="named"), "named"),
    ],
)
def test_name_is_the_functions_or_the_one_that_is_given(decorate: Any, name: str) -> None:
    def original() -> None: ...

    assert describe(decorate(original))["name"] == name


def test_lambda_needs_a_name() -> None:
    with pytest.raises(ToolDefinitionError, match="name '': expected"):
        tool(lambda: None)

    assert describe(tool("named")(lambda: None))["name"] == "named"


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (lambda a, /: a, "parameter a: it is positional-only, and arguments come by name"),
        (lambda *many: many, "parameter *many: a model gives arguments by name: write one parameter for each"),
        (lambda **more: more, "parameter **more: arguments have to be known"),
    ],
)
def test_parameter_that_no_argument_fills_is_refused(function: Any, sentence: str) -> None:
    with pytest.raises(ToolDefinitionError) as caught:
        tool("t")(function)

    assert sentence in caught.value.sentence


def test_what_is_no_function_is_refused() -> None:
    with pytest.raises(ToolDefinitionError, match="a class is a tool if it derives from Tool"):
        tool(Author)
    with pytest.raises(ToolDefinitionError, match="expected a function or a Tool, got 7"):
        describe(7)
    with pytest.raises(ToolDefinitionError, match="tool Empty: expected a method call"):
        describe(type("Empty", (Tool,), {}))


def test_hint_that_names_nothing_is_refused_with_its_parameter() -> None:
    with pytest.raises(ToolDefinitionError) as caught:

        @tool
        def search(query: Nowhere) -> None: ...  # type: ignore[name-defined] # noqa: F821

    assert caught.value.sentence == "query: expected a type, got 'Nowhere': name 'Nowhere' is not defined"


def test_type_without_a_schema_is_refused_with_its_parameter() -> None:
    class Opaque: ...

    def search(query: str, opaque: Opaque) -> str: ...  # type: ignore[empty-body]

    def call(query: str, back: Any, opaque: type[Any]) -> str: ...  # type: ignore[empty-body]

    with pytest.raises(ToolDefinitionError, match="tool search: opaque: expected a type that JSON Schema can describe"):
        describe(search)
    with pytest.raises(ToolDefinitionError, match="tool call: opaque: expected a type that JSON Schema can describe"):
        describe(call)


def test_type_that_is_defined_in_a_function_is_found() -> None:
    @dataclass
    class Local:
        size: int

    @tool
    def measure(thing: Local) -> int:
        return thing.size

    assert client_of(measure).call("measure", thing={"size": 3}).data == {"result": 3}


class Desk:
    def __init__(self, owner: str) -> None:
        self.owner = owner

    @tool(title="Who owns the desk")
    def owner_of(self, drawer: int) -> str:
        """Tell the owner."""
        return f"{self.owner}:{drawer}"

    @classmethod
    @tool
    def kind(cls) -> str:
        return cls.__name__

    @staticmethod
    @tool
    def legs() -> int:
        return 4

    @tool
    @staticmethod
    def drawers() -> int:
        return 2

    def __call__(self, ctx: Context) -> str:
        """Knock."""
        return self.owner


@pytest.mark.parametrize(
    ("target", "arguments", "text"),
    [
        (Desk("Ann").owner_of, {"drawer": 2}, "Ann:2"),
        (Desk.kind, {}, "Desk"),
        (Desk.legs, {}, "4"),
        (Desk.drawers, {}, "2"),
        (functools.partial(echo, repeat=2), {"message": "a"}, "aa"),
    ],
)
def test_methods_and_partials_are_tools(target: Any, arguments: dict[str, Any], text: str) -> None:
    client = client_of(target)
    (entry,) = client.list_tools()

    assert client.call(entry["name"], **arguments).text == text
    assert "self" not in entry["inputSchema"]["properties"]


def test_callable_instance_is_a_tool_of_its_class_name() -> None:
    kit = Toolkit()
    kit.add(Desk("Ann"), name="knock")

    assert kit.tools[0].entry["description"] == "Knock."
    assert kit.tools[0].entry["inputSchema"]["properties"] == {}


@pytest.mark.parametrize("given", [{}, "{}", " {\n} "])
def test_empty_input_schema_is_a_tool_without_arguments(given: Any) -> None:
    """Source: gen_mcp 0.10.0, "Asynchronous Tool Example": ``input_schema: %{}``, and no argument is read."""

    @tool(input_schema=given)
    def ping() -> str:
        return "pong"

    @tool(input_schema=given)
    def received(arguments: dict[str, Any], ctx: Context) -> dict[str, Any]:
        return {"got": arguments, "is_context": isinstance(ctx, Context)}

    assert describe(ping)["inputSchema"] == {"type": "object", "properties": {}}
    assert client_of(ping).call("ping").text == "pong"
    assert client_of(received).call("received", a=1).data == {"got": {}, "is_context": True}


def test_empty_input_schema_of_a_kit_that_forbids_more_is_closed() -> None:
    kit = Toolkit(extra="forbid")

    @kit.tool(input_schema={})
    def ping() -> str:
        return "pong"

    client = TestClient(kit)
    assert client.list_tools()[0]["inputSchema"] == {"type": "object", "properties": {}, "additionalProperties": False}
    assert client.call("ping").text == "pong"
    assert client.call("ping", a=1).text == "Invalid arguments for tool ping: /a: unknown name; known here: none"


@pytest.mark.parametrize("given", [{"type": "object"}, {"type": "object", "properties": {}}])
def test_schema_without_a_property_is_listed_as_it_is_and_takes_what_is_sent(given: dict[str, Any]) -> None:
    @tool(input_schema=given)
    def received(arguments: dict[str, Any]) -> dict[str, Any]:
        return {"got": arguments}

    assert describe(received)["inputSchema"] == given
    assert client_of(received).call("received").data == {"got": {}}
    assert client_of(received).call("received", a=1).data == {"got": {"a": 1}}


def test_validator_in_place_of_an_empty_schema_gives_its_own_arguments() -> None:
    @tool(input_schema={}, validate=lambda arguments: {"checked": True})
    def received(arguments: dict[str, Any]) -> dict[str, Any]:
        return {"got": arguments}

    assert client_of(received).call("received").data == {"got": {"checked": True}}


def test_input_schema_that_is_none_is_refused() -> None:
    for given, sentence in [
        ([], "input_schema: expected a type that JSON Schema can describe, got []"),
        ("[]", "input_schema: expected an object of JSON Schema, got []"),
        ("", "input_schema: expected a text, got a blank one"),
        ({"properties": {}}, 'expected "type": "object" at its root, got None'),
        (
            {"type": "object", "properties": {"a": {"$ref": "#/$defs/b"}}},
            "$ref: '#/$defs/b' names nothing in the schema",
        ),
        ({"type": "object", "$dynamicRef": "#node"}, "$dynamicRef: '#node' names nothing in the schema"),
        ({"type": "array"}, 'expected "type": "object" at its root'),
        ({"type": "object", "properties": 3}, "/properties: 3 is not of type 'object'"),
        ({"type": "object", "properties": {"a": {"pattern": "(?=a)"}}}, "pattern (?=a): look-around"),
        (
            {"type": "object", "properties": {"a": {"$ref": "https://example.com/s.json"}}},
            "https://example.com/s.json is another document, and none is ever fetched",
        ),
    ]:
        with pytest.raises(ToolDefinitionError) as caught:
            describe(tool(name="t", input_schema=given)(lambda arguments: None))
        assert sentence in caught.value.sentence


class Proxy:
    """Has any attribute, as clients of remote services do."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__wrapped__":
            raise AttributeError(name)
        return Proxy()

    def __call__(self) -> str:
        return "why"


def test_object_that_wraps_others_without_end_is_refused() -> None:
    with pytest.raises(ToolDefinitionError, match="tool ask: expected a function written in Python: wrapper loop"):
        Toolkit().add(Proxy(), name="ask")


def test_function_that_wraps_itself_has_an_end() -> None:
    def ping() -> None: ...

    ping.__wrapped__ = ping  # type: ignore[attr-defined]

    with pytest.raises(ToolDefinitionError, match="wrapper loop"):
        describe(ping)


def test_what_stands_nowhere_is_not_told_to_stand_in_a_library() -> None:
    with pytest.raises(ToolDefinitionError) as caught:
        Toolkit().add(functools.partial(print, "a"))

    assert (caught.value.file, caught.value.line) == ("", 0)


def test_generator_is_refused_unless_a_decorator_makes_one_result_of_it() -> None:
    def numbers() -> Any:
        yield 1

    async def later() -> Any:
        yield 1

    @functools.wraps(numbers)
    def listed() -> list[int]:
        return list(numbers())

    for generator in (numbers, later, functools.partial(numbers)):
        with pytest.raises(ToolDefinitionError, match="it yields, and one result is needed: return a list"):
            Toolkit().add(generator, name="numbers")
    assert client_of(listed).call("numbers").data == {"result": [1]}


def test_second_context_is_refused() -> None:
    with pytest.raises(ToolDefinitionError, match="parameter b: the context is in a already"):

        @tool
        def ping(a: Context, b: Context) -> None: ...


def test_format_that_is_no_function_is_refused() -> None:
    with pytest.raises(ToolDefinitionError, match="formats: expected a function for each, got 3"):
        Toolkit(formats={"even": 3})  # type: ignore[dict-item]


def test_method_without_its_instance_is_refused() -> None:
    with pytest.raises(ToolDefinitionError, match="tool owner_of: a method waits for its instance: decorate it"):
        Toolkit().add(Desk.owner_of)
    with pytest.raises(ToolDefinitionError, match="tool late: a method waits for its instance"):

        class Office:
            @Toolkit().tool
            def late(self) -> None: ...


@pytest.mark.parametrize("is_wrapper_async", [True, False])
@pytest.mark.parametrize("is_wrapped_async", [True, False])
def test_function_below_another_decorator_is_a_tool(*, is_wrapper_async: bool, is_wrapped_async: bool) -> None:
    def plain(number: int) -> int:
        return number

    async def later(number: int) -> int:
        return number

    wrapped: Any = later if is_wrapped_async else plain

    @functools.wraps(wrapped)
    def wrapper(**arguments: int) -> Any:
        return wrapped(**arguments)

    @functools.wraps(wrapped)
    async def async_wrapper(**arguments: int) -> Any:
        return await wrapped(**arguments) if is_wrapped_async else wrapped(**arguments)

    client = client_of(tool("same")(async_wrapper if is_wrapper_async else wrapper))

    assert client.call("same", number=3).data == {"result": 3}


class Nothing(Enum):
    """An enum without values."""


@dataclass
class Filter:
    kinds: list[Nothing]


@pytest.mark.parametrize("hint", [Nothing, list[Nothing], Nothing | None, Filter])
def test_enum_without_values_is_refused_with_its_cause(hint: Any) -> None:
    def search(kind: Any) -> str:
        return str(kind)

    search.__annotations__["kind"] = hint
    message = "tool search: kind: expected a type that JSON Schema can describe: the enum Nothing has no values"

    with pytest.raises(ToolDefinitionError, match=message):
        describe(tool(search))


@pytest.mark.parametrize("shape", [{"foo": str}, {"foo": {"type": "string"}}, {}])
def test_bare_shape_of_an_output_is_refused(shape: Any) -> None:
    def get() -> dict[str, str]:
        return {"foo": "a"}

    with pytest.raises(ToolDefinitionError, match='output_schema: expected "type": "object" at its root'):
        describe(tool(get, output_schema=shape))
