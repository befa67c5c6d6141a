"""Check at start that the function runs on the platform that it was built for.

The build writes ``build.json`` beside this module; in development the file does not exist. Without the check,
compiled libraries of another architecture and bytecode of another Python would fail at the import of some request.
This module therefore imports only the standard library.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

# pathlib's import would slow the start
BUILD = os.path.join(os.path.dirname(__file__), "build.json")  # noqa: PTH118, PTH120

CODE = "unusable-build"
"""The code of the answer to every request, and of its line in the log."""

_ARCHITECTURES = {"aarch64": "arm64"}  # kernel's name -> AWS's name, if they differ


def artefact_fault(file: str = BUILD) -> str:
    """Return the platform mismatch and its remedy; empty string if no mismatch is known."""
    try:
        with open(file, encoding="utf-8") as stream:  # noqa: PTH123
            built = json.load(stream)
        wanted = {"architecture": str(built["architecture"]), "Python": str(built["python"])}
    except FileNotFoundError:
        return ""
    except (OSError, ValueError, TypeError, KeyError) as exc:
        return f"build.json of the function cannot be read ({type(exc).__name__}): build and deploy the function again"
    machine = os.uname().machine
    runs = {
        "architecture": _ARCHITECTURES.get(machine, machine),
        "Python": f"{sys.version_info.major}.{sys.version_info.minor}",
    }
    for what, parameter in (("architecture", "Architecture in samconfig.toml"), ("Python", "Runtime in template.yaml")):
        if wanted[what] != runs[what]:
            return (
                f"the function was built for {what} {wanted[what]}, and runs on {runs[what]}: set {parameter} to what "
                "is meant, then `sam build` and `sam deploy`"
            )
    return ""


def refusing_handler(fault: str, service: str) -> Callable[[Any, Any], dict[str, Any]]:
    """Return a Lambda handler that logs the fault and answers every event with 503 in the event's own format."""

    def handler(event: Any, context: Any) -> dict[str, Any]:
        facts = {
            "level": "ERROR",
            "message": "request",
            "service": service,
            "status": 503,
            "code": CODE,
            "reason": fault,
        }
        request_id = getattr(context, "aws_request_id", "")
        sys.stdout.write(json.dumps({**facts, "reason": fault, "request_id": request_id}) + "\n")
        sys.stdout.flush()
        return _answer(event if isinstance(event, Mapping) else {})

    return handler


def _answer(event: Mapping[str, Any]) -> dict[str, Any]:
    headers = {"content-type": "application/json", "cache-control": "no-store"}
    answer: dict[str, Any] = {
        "statusCode": 503,
        "headers": headers,
        "body": json.dumps({"error": "the function cannot run as it was deployed; its log says why", "code": CODE}),
        "isBase64Encoded": False,
    }
    context = event.get("requestContext")
    if isinstance(context, Mapping) and "elb" in context:
        answer["statusDescription"] = "503 Service Unavailable"
        if "multiValueHeaders" in event:  # the only headers that such a load balancer reads
            answer["multiValueHeaders"] = {name: [value] for name, value in answer.pop("headers").items()}
    return answer
