"""The least that a function can be."""

from typing import Any


def handler(_event: Any, _context: Any) -> dict[str, Any]:
    return {"statusCode": 200, "headers": {"content-type": "application/json"}, "body": '{"result":{}}'}
