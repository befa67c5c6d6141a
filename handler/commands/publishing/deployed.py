"""The comparison of the extras and modules that endpoints need with those in the deployed function."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

from handler.bundle.model import Bundle
from handler.code_tools.modules import is_among
from handler.commands.terminal.console import warn
from handler.compiler.compile import Compiled
from handler.errors import StileError
from handler.errors.infrastructure import StorageError
from handler.http.client import HttpClient
from handler.storage.location import open_publish_storage
from handler.storage.s3_publishing import S3PublishStorage

EXTRAS_TAG = "stile:extras"
MODULES_TAG = "stile:code-modules"
"""The bucket's tags in infra/storage.yaml: names separated by spaces, because tag values take no commas."""


@dataclass(frozen=True, slots=True)
class _Built:
    """The extras and modules of the function's build, according to the stack's tags."""

    extras: Sequence[str]
    modules: Sequence[str]


@dataclass(frozen=True, slots=True)
class _Need:
    """A part of the build that endpoints need."""

    endpoints: Sequence[str]
    task: str  # the function's, as a verb phrase
    part: str  # the part of the build
    parameter: str  # the part's parameter in samconfig.toml
    is_met: bool  # False if nothing is known of the deployed function


def warn_of_needs(compiled: Sequence[Compiled], destination: str) -> None:
    """Print the endpoints' needs that the function lacks; all needs if nothing is known of the function.

    A need never stops a publish: another person may build and deploy, before or after. The function serves a published
    bundle as soon as it can.
    """
    bundles = [one.bundle for one in compiled]
    if not list(_needs(bundles, None)):
        return
    built, unknown = _read_built(destination)
    for need in _needs(bundles, built):
        if not need.is_met:
            lacks = ", which the deployed function lacks" if built else ""
            add_it = f"add it to {need.parameter} in samconfig.toml, then `sam build` and `sam deploy`"
            names = ", ".join(need.endpoints)
            warn(f"{names}: a function that {need.task} needs {need.part}{lacks}: {add_it}")
    if unknown:
        warn(f"The parts of the deployed function could not be compared. {unknown}")


def _needs(bundles: Sequence[Bundle], built: _Built | None) -> Iterator[_Need]:
    extras = {
        "code": ("runs tools in Python", [each.endpoint for each in bundles if each.code]),
        "jwt": ("reads tokens", [each.endpoint for each in bundles if each.identity.issuers]),
    }
    for extra, (task, names) in extras.items():
        if names:
            met = built is not None and extra in built.extras
            yield _Need(names, task, f"the extra {extra}", "Extras", met)
    modules: dict[str, list[str]] = {}
    for each in bundles:
        for module in dict.fromkeys(kit.use.partition(":")[0] for kit in each.code):
            modules.setdefault(module, []).append(each.endpoint)
    for module, names in modules.items():
        met = built is not None and is_among(module, built.modules)
        yield _Need(names, "runs these tools in Python", f"the module {module}", "CodeModules", met)


def _read_built(destination: str) -> tuple[_Built | None, str]:
    """Return the build in the bucket's tags, or ``None`` and a reason; empty for a folder, or if storing reports it."""
    if not destination.startswith("s3://"):
        return None, ""
    try:
        with closing(HttpClient()) as http:
            storage = open_publish_storage(destination, http=http, environ=os.environ)
            tags = storage.read_tags() if isinstance(storage, S3PublishStorage) else {}
    except StorageError as exc:
        return None, str(exc)
    except StileError:
        return None, ""  # storing reports it too
    if not {EXTRAS_TAG, MODULES_TAG} <= set(tags):
        return None, f"{storage.location}: the bucket has no tags {EXTRAS_TAG} and {MODULES_TAG}"
    return _Built(tags[EXTRAS_TAG].split(), tags[MODULES_TAG].split()), ""
