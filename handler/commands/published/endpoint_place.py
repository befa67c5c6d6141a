"""The places of published endpoints on the command line: a destination, and ``DESTINATION/FOLDER/NAME``."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from handler.bundle.model import ENDPOINT_NAME
from handler.bundle.stored import bundle_key
from handler.commands.terminal.console import complain
from handler.commands.terminal.exit_codes import REFUSED
from handler.errors import StileError
from handler.errors.infrastructure import ObjectChanged, StorageError
from handler.http.client import HttpClient
from handler.storage.location import open_publish_storage
from handler.storage.publishing import PublishStorage


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointPlace:
    """One endpoint at a destination."""

    destination: str
    endpoint: str

    @property
    def key(self) -> str:
        """The key of the bundle that a function of this release reads."""
        return bundle_key(self.endpoint)


Change = Callable[[PublishStorage, EndpointPlace, argparse.Namespace], int]
"""A change of one published endpoint, which returns the exit code."""


def endpoint_place(text: str) -> EndpointPlace:
    """Read a place from the command line."""
    parts = text.rstrip("/").rsplit("/", 2)
    endpoint = "/".join(parts[1:])
    destination = parts[0] if len(parts) > 2 else "."
    if not ENDPOINT_NAME.fullmatch(endpoint) or destination in ("", "s3:", "s3:/"):
        raise argparse.ArgumentTypeError(
            f"{text!r}: expected DESTINATION/FOLDER/NAME, as s3://bucket/prefix/shop/orders"
        )
    return EndpointPlace(destination=destination, endpoint=endpoint)


def add_endpoint_place(parser: argparse.ArgumentParser) -> None:
    """Add the argument with the place of an endpoint, and the options of commands that change it."""
    parser.add_argument(
        "place",
        metavar="DESTINATION/FOLDER/NAME",
        type=endpoint_place,
        help="the endpoint, below s3://bucket/prefix or a folder",
    )
    parser.add_argument("--yes", action="store_true", help="do not ask; needed without a terminal")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead")


def change_published(options: argparse.Namespace, change: Change) -> int:
    """Change the endpoint that the command line names, and return the exit code. Complain of what forbids it."""
    try:
        with closing(HttpClient()) as http:
            return change(open_published(options.place.destination, http), options.place, options)
    except ObjectChanged:
        complain(f"{options.place.endpoint} was published or removed meanwhile, and nothing was done. Look again.")
    except StileError as exc:
        complain(str(exc))
    return REFUSED


def open_published(destination: str, http: HttpClient) -> PublishStorage:
    """Return the storage at a destination that exists.

    Raises:
        StorageError: the destination is not valid, is a file, or does not exist.
        SettingsError: an AWS variable is missing or malformed.
    """
    storage = open_publish_storage(destination, http=http, environ=os.environ)
    if not destination.startswith("s3://") and not Path(destination).is_dir():
        fault = "it is a file" if Path(destination).exists() else "there is no such folder"
        raise StorageError(destination, f"{fault}: expected s3://bucket/prefix, or a folder")
    return storage
