"""Manifests of persisted queries as a source of operations: Apollo's, and Relay's map of ids and texts.

Source: Apollo, "Persisted Queries" (format version 1); Relay, "Persisted Queries"; GraphQL over HTTP, "Persisted
Documents" (an id with the prefix ``sha256:`` is the digest of its text).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from handler.compiler.compile_context import CompileContext
from handler.compiler.operations.author_operations import OperationText
from handler.compiler.operations.operation_files import MANIFEST_SUFFIXES, OPERATIONS_FOLDER, operation_files
from handler.compiler.schema.schema import AuthorSchema
from handler.compiler.source.json_places import InvalidJSON, PlacedJSON, read_placed_json

APOLLO = "apollo-persisted-query-manifest"
VERSION = 1
KINDS = ("query", "mutation", "subscription")

ID = re.compile(r"[\x21-\x7e]{1,256}")
SHA256 = "sha256:"


def texts_in_manifests(context: CompileContext, _: AuthorSchema) -> Iterator[OperationText]:
    """Yield the texts of the manifests in or below the folder of operations. All of them are persisted."""
    folder = context.project.path(OPERATIONS_FOLDER)
    for name in operation_files(context.files, folder, context.problems, suffixes=MANIFEST_SUFFIXES):
        text = context.files.read(name)
        if text is None:
            continue
        try:
            found = read_placed_json(text, name)
        except InvalidJSON as exc:
            context.problems.add(exc.at, str(exc), code="invalid-manifest")
            continue
        yield from _Manifest(context=context, file=name, json=found).texts()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Manifest:
    """One manifest. What is not valid in it is reported, and left out."""

    context: CompileContext
    file: str
    json: PlacedJSON

    def texts(self) -> Iterator[OperationText]:
        for path in self.json.repeated:
            self.context.problems.add(self.json.place(*path), f'"{path[-1]:.80}" appears twice', code="duplicate-key")
        match self.json.value:
            case {"format": _}:
                yield from self._of_apollo()
            case {"operations": list()}:
                self._refuse((), f'"format" is missing: expected {APOLLO}')
            case dict():
                yield from self._of_relay()
            case _:
                self._refuse((), "expected Apollo's manifest, or Relay's object of ids and texts")

    def _of_apollo(self) -> Iterator[OperationText]:
        top = self.json.value
        if top["format"] != APOLLO:
            self._refuse(("format",), f'"format": expected {APOLLO}')
        elif isinstance(top.get("version"), bool) or top.get("version") != VERSION:
            self._refuse(("version",), f'"version": expected {VERSION}')
        elif not isinstance(top.get("operations"), list):
            self._refuse(("operations",), '"operations": expected a list')
        else:
            yield from self._entries(top["operations"])

    def _entries(self, entries: list[Any]) -> Iterator[OperationText]:
        seen: dict[str, int] = {}
        for number, entry in enumerate(entries):
            at = ("operations", number)
            if not isinstance(entry, dict):
                self._refuse(at, "expected an object with id, body, name and type")
                continue
            wrong = [key for key in ("id", "body", "name", "type") if not isinstance(entry.get(key), str)]
            for key in wrong:
                self._refuse((*at, key), f'"{key}": expected a text')
            if wrong:
                continue
            if entry["type"] not in KINDS:
                self._refuse((*at, "type"), f'"type": expected {" or ".join(KINDS)}')
            elif seen.setdefault(entry["id"], number) != number:
                self.context.problems.add(
                    self.json.place(*at, "id"), f'a second text has the id "{entry["id"]:.80}"', code="duplicate-id"
                )
            else:
                yield from self._text((*at, "body"), entry, id_at=(*at, "id"))

    def _of_relay(self) -> Iterator[OperationText]:
        for key, body in self.json.value.items():
            if isinstance(body, str):
                yield from self._text((key,), {"id": key, "body": body}, id_at=(key,))
            else:
                self._refuse((key,), f'"{key:.80}": expected the text of an operation')

    def _text(
        self, at: tuple[str | int, ...], entry: dict[str, Any], *, id_at: tuple[str | int, ...]
    ) -> Iterator[OperationText]:
        given, body = entry["id"], entry["body"]
        if not ID.fullmatch(given):
            self._refuse(id_at, "an id: expected 1 to 256 printable characters of ASCII without spaces")
            return
        if any("\ud800" <= each <= "\udfff" for each in body):
            self._refuse(at, "it has half a character: expected whole ones")
            return
        digest = SHA256 + sha256(body.encode()).hexdigest()
        if given.startswith(SHA256) and given != digest:
            self._refuse(id_at, "the id is not the SHA-256 of the text: expected the text that the API has by this id")
            return
        known = given in (digest, digest.removeprefix(SHA256))
        if not known and not self.context.takes_any_document:
            sentence = "the API gets the SHA-256 of a text, and here the text has another id"
            self.context.problems.warn(self.json.place(*id_at), sentence, code="foreign-document-id", about=[given])
        yield OperationText(
            source=self.json.embedded(*at, body=body),
            file=self.file,
            persisted=True,
            id=digest if known else given,
            called_by_id=True,
            shares_fragments=False,
            declares=(entry["type"], entry["name"]) if "name" in entry else None,
        )

    def _refuse(self, path: tuple[str | int, ...], sentence: str) -> None:
        self.context.problems.add(self.json.place(*path), sentence, code="invalid-manifest")
