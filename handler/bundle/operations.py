"""Operations of a bundle: of tools, and persisted for the GraphQL routes, with the limits of documents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handler.cold.records import record
from handler.json_schema.json_bounds import MAX_RESULT_BYTES, MAX_VALUES
from handler.policy.evaluation import Mask
from handler.strict_json import JSONObject


@record(frozen=True, slots=True, kw_only=True)
class Operation:
    """One persisted operation, ready to send upstream."""

    name: str
    kind: str  # query | mutation
    text: str  # the operation and the fragments it uses, without our directives and descriptions
    sha256: str  # of the text; an API may know the operation by it
    null_is_absent: tuple[str, ...]  # variables that callers may give and whose null the API does not accept
    variables: tuple[str, ...]  # all declared variables
    defaults: JSONObject  # variable -> its default, for variables that a request leaves out

    def coerced(self, sent: Mapping[str, Any]) -> JSONObject:
        """Return the values of the variables: those that are sent, and defaults."""
        return {**self.defaults, **sent}

    def sendable(self, variables: Mapping[str, Any]) -> JSONObject:
        """Return the variables in the form that the API accepts."""
        return {name: value for name, value in variables.items() if not (value is None and name in self.null_is_absent)}


@record(frozen=True, slots=True, kw_only=True)
class Binding:
    """A variable that neither a model nor its user fills."""

    variable: str
    source: str  # claim | header | value
    name: str  # name of the claim or header
    value: Any  # value of a constant
    read_as: str  # type of a header's text: string | integer | number | boolean


@record(frozen=True, slots=True, kw_only=True)
class PersistedOperation:
    """An operation that requests name by its document's id. The name is the empty string if the author gave none."""

    operation: Operation
    variables: JSONObject  # the enforced schema of callers' variables, with guards: see guarded_schema.py
    mask: Mask
    conditions: Mask  # conditions of the coordinates that values can name
    bindings: tuple[Binding, ...]
    bound: JSONObject  # the schema of the bindings' values, as one object
    scopes: tuple[str, ...]  # the scopes of all tools that run it, so that it does not bypass them
    confirm: str  # the strictest level of these tools: "" | advisory | required


@record(frozen=True, slots=True, kw_only=True)
class PersistedDocument:
    """A file of operations, with the id ``sha256:`` and the SHA-256 of its bytes."""

    id: str
    operations: tuple[PersistedOperation, ...]
    tools: tuple[str, ...]  # prescribed tools equal to further entries, which ``operations`` leaves out


@record(frozen=True, slots=True, kw_only=True)
class GraphQLEndpoint:
    """The requests that ``/{folder}/{name}/graphql`` accepts: none, persisted documents, or a caller's documents."""

    mode: str  # off | persisted | on
    guards: Mapping[str, Mask]  # added to the bundle's guards: ``__schema``, ``__type``, Federation's fields
    conditions: Mask  # all conditions that its views depend on
    documents: tuple[PersistedDocument, ...]


@record(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of a document that a caller writes, and of the values sent with one."""

    max_tokens: int
    max_depth: int
    max_fields: int
    max_aliases: int
    max_cost: int  # objects and items of lists that its answer could hold
    max_values: int = MAX_VALUES  # items of lists and members of objects among the arguments or variables of a call
    max_result_bytes: int = MAX_RESULT_BYTES  # JSON of one MCP result; 0: no limit
