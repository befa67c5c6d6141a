"""GraphQL requests of a code tool to its own endpoint, with the rights of its caller and no others."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

from handler.bundle.operations import PersistedOperation
from handler.bundle.tools import CONFIRM_LEVELS
from handler.errors import MAX_SAID_CHARS
from handler.errors.calls import CallError, GraphQLErrors, ToolError
from handler.server.context.caller import Caller
from handler.server.graphql.documents import Document, Prepared, prepare_document, prepare_persisted, run
from handler.strict_json import JSONObject

MAX_REQUESTS = 50
"""The most GraphQL requests that one call may send."""


class OwnRequests:
    """The GraphQL requests of one call, with the caller's view, policies, credentials and limits."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._sent = 0

    async def graphql(self, query: str, variables: Mapping[str, Any]) -> JSONObject:
        """Run a document and return ``data``.

        Raises:
            ToolError: the document is refused, the API gave no answer, or one with errors (``GraphQLErrors``).
        """
        if not self._caller.endpoint.bundle.index:
            raise ToolError("This tool asks a GraphQL API, and its endpoint does not have one.")
        document = Document(text=query, operation_name=None, variables=variables)
        with self._noting_refusal(text=query):
            prepared = await self._prepare_document(document)
        return await self._run(prepared)

    async def _prepare_document(self, document: Document) -> Prepared:
        try:
            prepared = await prepare_document(self._caller, document, tool=None, for_model=False)
        except CallError as exc:
            raise ToolError(str(exc)) from exc
        if prepared.kind != "query" and self._caller.endpoint.asks_for_consent:
            raise ToolError(
                "Nothing was sent: writing needs consent at this endpoint, and a tool's document cannot ask for "
                "consent. The tool may run an operation by its name if the operation needs no consent."
            )
        return prepared

    async def operation(self, name: str, variables: Mapping[str, Any]) -> JSONObject:
        """Run an operation of the endpoint's files by name, and return ``data``.

        Raises:
            ToolError: as ``graphql``, or the caller has no such operation.
            InsufficientScope, CredentialRequired: the caller lacks scopes of a tool that runs the operation.
        """
        with self._noting_refusal(sha256=self._digest_of(name)):
            prepared = self._prepare_operation(name, variables)
        return await self._run(prepared)

    def _digest_of(self, name: str) -> str:
        known = self._caller.endpoint.operations.get(name, ())
        return known[0].operation.sha256 if known else ""

    def _noting_refusal(self, **asked: str) -> AbstractContextManager[None]:
        """Note the fields that a refused request asks for, if the endpoint's author wants them in the log."""
        if self._caller.endpoint.bundle.log is None:
            return nullcontext()
        from handler.server.upstream.read_coordinates import noting_refusal

        return noting_refusal(self._caller, **asked)

    def _prepare_operation(self, name: str, variables: Mapping[str, Any]) -> Prepared:
        persisted = self._require_operation(name)
        unknown = [each for each in variables if each not in persisted.variables.get("properties", {})]
        if unknown:
            raise ToolError(f"operation {name}: it has no variable {unknown[0]:.{MAX_SAID_CHARS}} to give")
        try:
            prepared = prepare_persisted(self._caller, persisted, variables=variables)
        except CallError as exc:
            raise ToolError(str(exc)) from exc
        if prepared.consent_for:
            raise ToolError(
                f"Nothing was sent: operation {name} asks for consent, and only a call of its own gets that."
            )
        return prepared

    def _require_operation(self, name: str) -> PersistedOperation:
        """Return the operation of a name. A hidden operation and a missing one give the same error.

        An operation in several documents has the strictest ``confirm`` and all scopes of any of them.
        """
        evaluation = self._caller.evaluation
        found = [
            each
            for each in self._caller.endpoint.operations.get(name, ())
            if name and evaluation.may_meet(each.mask, each.operation.variables)
        ]
        if not found:
            raise ToolError(f"There is no operation {name:.{MAX_SAID_CHARS}}")
        confirm = max((each.confirm for each in found), key=CONFIRM_LEVELS.index)
        scopes = dict.fromkeys(scope for each in found for scope in each.scopes)
        return replace(found[0], confirm=confirm, scopes=tuple(scopes))

    async def _run(self, prepared: Prepared) -> JSONObject:
        self._sent += 1
        if self._sent > MAX_REQUESTS:
            raise ToolError(f"One call may send {MAX_REQUESTS} GraphQL requests, and this one sent them.")
        try:
            response = await run(self._caller, prepared)
        except CallError as exc:
            raise ToolError(str(exc)) from exc
        data: JSONObject | None = response.get("data")
        if response.get("errors"):
            raise GraphQLErrors(response["errors"], partial=data)
        if data is None:
            raise ToolError("The API answered without data.")
        return data
