"""What a program of these prints: the tools, their parameters as the framework shows them to its model, the answers."""

import asyncio
import json
import sys


def tell(main):
    """Run ``main(url, mode, calls)`` on what the command line and standard input say, and print what it returns."""
    url, mode = sys.argv[1:]
    print(json.dumps(asyncio.run(main(url, mode, json.load(sys.stdin)))))


def told(blocks, *, failed=False, structured=None):
    """An answer, by its content blocks of any maker: their keys, or their attributes."""
    found = [block if isinstance(block, dict) else vars(block) for block in blocks]
    return {
        "text": "\n".join(block["text"] for block in found if isinstance(block.get("text"), str)) or None,
        "images": [
            block.get("data") or block.get("base64") or block.get("image_url") for block in found if _is_image(block)
        ],
        "structured": structured,
        "failed": failed,
    }


def _is_image(block):
    return str(block.get("type")).startswith("image")


def as_a_strict_model(schema, value, root=None):
    """What a model gives that has to fill every property: null where nobody said anything."""
    root = root or schema
    if "$ref" in schema:
        return as_a_strict_model(_at(root, schema["$ref"]), value, root)
    for branch in schema.get("anyOf", []):
        value = as_a_strict_model(branch, value, root)
    if isinstance(value, list) and "items" in schema:
        return [as_a_strict_model(schema["items"], item, root) for item in value]
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        filled = {key: as_a_strict_model(properties.get(key, {}), item, root) for key, item in value.items()}
        return dict.fromkeys(properties) | filled
    return value


def _at(root, reference):
    found = root
    for key in reference.removeprefix("#/").split("/"):
        found = found[key]
    return found
