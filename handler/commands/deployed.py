"""What endpoints need that a build may lack, held against what the function was built with."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

from handler.bundle.model import Bundle
from handler.code_tools.modules import is_among
from handler.commands.console import say
from handler.compiler.compile import Compiled
from handler.errors import StileError, StorageError
from handler.http.client import HttpClient
from handler.storage.storage import S3Storage, open_storage

EXTRAS_TAG = "stile:extras"
MODULES_TAG = "stile:code-modules"
"""The stack's tags of its bucket, infra/storage.yaml: names separated by spaces, as values of tags take no commas."""


@dataclass(frozen=True, slots=True)
class _Built:
    """What the stack was told that its function was built with."""

    extras: Sequence[str]
    modules: Sequence[str]


@dataclass(frozen=True, slots=True)
class _Need:
    """A part of the build that endpoints need."""

    endpoints: Sequence[str]
    what: str  # that their function does
    part: str  # of the build
    parameter: str  # that names it in samconfig.toml
    is_met: bool  # by the function that was deployed, as far as is known


def tell_of_needs(compiled: Sequence[Compiled], destination: str) -> None:
    """Say what endpoints need that the function lacks; all they need, if nothing is known of the function.

    Nothing is refused for it. Who builds and deploys may be somebody else, and has to be told before or after. The
    function serves what was published as soon as it can.
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
            say(f"{names}: a function that {need.what} needs {need.part}{lacks}: {add_it}", "yellow")
    if unknown:
        say(f"What the deployed function has of it could not be compared. {unknown}", "yellow")


def _needs(bundles: Sequence[Bundle], built: _Built | None) -> Iterator[_Need]:
    extras = {
        "code": ("runs tools in Python", [each.endpoint for each in bundles if each.code]),
        "jwt": ("reads tokens", [each.endpoint for each in bundles if each.identity.issuers]),
    }
    for extra, (what, names) in extras.items():
        if names:
            met = built is not None and extra in built.extras
            yield _Need(names, what, f"the extra {extra}", "Extras", met)
    modules: dict[str, list[str]] = {}
    for each in bundles:
        for module in dict.fromkeys(kit.use.partition(":")[0] for kit in each.code):
            modules.setdefault(module, []).append(each.endpoint)
    for module, names in modules.items():
        met = built is not None and is_among(module, built.modules)
        yield _Need(names, "runs these tools in Python", f"the module {module}", "CodeModules", met)


def _read_built(destination: str) -> tuple[_Built | None, str]:
    """What the tags of the bucket say, or why nothing is known. A folder is nobody's deployment."""
    if not destination.startswith("s3://"):
        return None, ""
    try:
        with closing(HttpClient()) as http:
            storage = open_storage(destination, http=http, environ=os.environ)
            tags = storage.read_tags() if isinstance(storage, S3Storage) else {}
    except StorageError as exc:
        return None, str(exc)
    except StileError:
        return None, ""  # storing says it, too
    if not {EXTRAS_TAG, MODULES_TAG} <= set(tags):
        return None, f"{storage.location}: the bucket has no tags {EXTRAS_TAG} and {MODULES_TAG}"
    return _Built(tags[EXTRAS_TAG].split(), tags[MODULES_TAG].split()), ""
