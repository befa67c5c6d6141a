"""What the conformance suite expects of a server: tools, prompts and resources of these names, which do these things.

Source: the scenarios of @modelcontextprotocol/conformance; each says what a server has to implement for it.
"""

from __future__ import annotations

import asyncio
import base64
from typing import Literal

from stile import Audio, Context, EmbeddedResource, Image, Text, ToolError, Toolkit
from tests.conformance.asking import asking

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
)
WAV = bytes.fromhex("524946462400000057415645666d74201000000001000100401f0000401f0000010008006461746100000000")


SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
ROUTED = {
    "type": "object",
    "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
    "required": ["region"],
}

texts = Toolkit()
others = Toolkit()
others.add(asking)


@texts.tool
def test_simple_text() -> str:
    """Answer with a text."""
    return "This is a simple text response for testing."


@others.tool
def test_image_content() -> Image:
    """Answer with an image."""
    return Image(PNG, "image/png")


@others.tool
def test_audio_content() -> Audio:
    """Answer with a sound."""
    return Audio(WAV, "audio/wav")


@others.tool
def test_embedded_resource() -> EmbeddedResource:
    """Answer with a resource."""
    text = "This is an embedded resource content."
    return EmbeddedResource("test://embedded-resource", text=text, mime_type="text/plain")


@others.tool
def test_multiple_content_types() -> list[Text | Image | EmbeddedResource]:
    """Answer with blocks of several kinds."""
    resource = EmbeddedResource(
        "test://mixed-content-resource", text='{"test":"data","value":123}', mime_type="application/json"
    )
    return [Text("Multiple content types test:"), Image(PNG, "image/png"), resource]


@texts.tool
def test_error_handling() -> str:
    """Fail."""
    raise ToolError("This tool intentionally returns an error for testing")


@others.tool
async def test_tool_with_progress(ctx: Context) -> str:
    """Report progress three times."""
    for progress in (0, 50, 100):
        await ctx.report_progress(progress, 100)
        await asyncio.sleep(0.01)
    return "done"


async def _log(ctx: Context) -> str:
    for message in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await ctx.info(message)
    return "logged"


@others.tool
async def test_tool_with_logging(ctx: Context) -> str:
    """Log three times."""
    return await _log(ctx)


@others.tool
async def test_logging_tool(ctx: Context) -> str:
    """Log three times, which only those hear who asked for it."""
    return await _log(ctx)


@others.tool(input_schema=SCHEMA)
def json_schema_2020_12_tool(arguments: dict[str, object]) -> str:
    """Take what a schema with many keywords takes."""
    return f"Received {len(arguments)}"


@others.tool(input_schema=ROUTED)
def test_routed(arguments: dict[str, object]) -> str:
    """Take an argument that is repeated in a header."""
    return f"Region {arguments['region']}"


@others.prompt
def test_simple_prompt() -> str:
    """Write one message."""
    return "This is a simple prompt for testing."


@others.prompt
def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    """Write a message with two arguments in it."""
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


@others.prompt
def completed(city: Literal["Paris", "Parma", "Berlin"]) -> str:
    """Write a message about one of some cities: without such a prompt there is nothing to complete."""
    return f"About {city}"


@others.prompt
def test_prompt_with_embedded_resource(resourceUri: str) -> list[Text | EmbeddedResource]:  # noqa: N803 - the suite's
    """Write a message that holds a resource."""
    resource = EmbeddedResource(resourceUri, text="Embedded resource content for testing.", mime_type="text/plain")
    return [resource, Text("Please process the embedded resource above.")]


@others.prompt
def test_prompt_with_image() -> list[Text | Image]:
    """Write a message that holds an image."""
    return [Image(PNG, "image/png"), Text("Please analyze the image above.")]


@others.resource("test://static-text", mime_type="text/plain")
def static_text() -> str:
    """A text."""
    return "This is the content of the static text resource."


@others.resource("test://static-binary", mime_type="image/png")
def static_binary() -> bytes:
    """An image."""
    return PNG


@others.resource("test://watched-resource", mime_type="text/plain")
def watched() -> str:
    """A text that never changes."""
    return "Watched resource content."


@others.resource("test://template/{id}/data", mime_type="application/json")
def template(id: str) -> dict[str, object]:  # noqa: A002 - the suite's
    """Data by its id."""
    return {"id": id, "templateTest": True, "data": f"Data for ID: {id}"}


kit = Toolkit()
kit.add(texts)
kit.add(others)
