"""One path for every GraphQL request of a caller, in a tool call or on a GraphQL route.

Preparing a request checks it and determines the text to send. If the transport allows the request, it is then run.
No other module sends a caller's document.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from handler.bundle.tools import GraphQLTool, PersistedOperation
from handler.cold.records import record
from handler.errors.calls import DocumentNotFound, DocumentRefused, Fault
from handler.server.auth.principal import require_scopes
from handler.server.context import Caller, with_schema
from handler.server.endpoints.arguments_validator import refuse_excess
from handler.server.upstream.bound_variables import persisted_request
from handler.server.upstream.graphql_client import execute
from handler.server.upstream.graphql_request import GraphQLRequest
from handler.strict_json import JSONObject

if TYPE_CHECKING:
    from graphql import DocumentNode  # noqa: TID251 - names for the type checker

    from handler.graph.documents.document_check import HiddenNames
    from handler.graph.documents.partial_schema import ViewSchemas


@record(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A request that its caller may make, with the user's consent if ``consent_for`` names a tool or operation.

    ``confirm``: how firmly the tool or operation asks for consent.

    ``answer``: the result of introspection, for which nothing is sent.
    """

    kind: str  # query | mutation
    request: GraphQLRequest
    answer: JSONObject | None = None
    consent_for: str = ""
    confirm: str = ""
    hidden_names: HiddenNames | None = None


async def prepare_arguments(caller: Caller, tool: GraphQLTool, arguments: JSONObject) -> Prepared:
    """Check the document in the arguments of a GraphQL tool, as ``prepare_document`` does."""
    operation_name, variables = arguments.get("operationName"), arguments.get("variables") or {}
    return await prepare_document(caller, arguments["query"], variables, operation_name=operation_name, tool=tool)


async def prepare_document(
    caller: Caller,
    text: str,
    variables: Mapping[str, Any],
    *,
    operation_name: str | None = None,
    tool: GraphQLTool | None = None,
    for_model: bool = True,
) -> Prepared:
    """Check a document against the caller's view of a tool, or without a tool, of the whole endpoint.

    ``variables``: values for the variables of the operation to run. ``for_model``: a model wrote the request and reads
    the answer: JSON texts in variables are read, and introspection is bounded accordingly.

    Raises:
        InvalidArguments: the variables are too many, or nested too deeply.
        DocumentRefused: the document is malformed, exceeds a limit, or leaves the caller's view.
        UpstreamError: the schema cannot be loaded.
    """
    limits = (tool or caller.endpoint.bundle).limits
    refuse_excess(tool.name if tool else "graphql", variables, max_values=limits.max_values)
    from handler.graph.documents.document_check import answer_introspection, check_document

    views, evaluation = caller.endpoint.schema, caller.evaluation
    schemas = views.cached_schemas(tool, evaluation)
    if schemas is None:
        schemas = await with_schema(views.view_schemas, tool, evaluation)
    checked = check_document(
        text,
        schemas=schemas,
        operation_name=operation_name,
        variables=variables,
        limits=limits,
        for_model=for_model,
    )
    request = GraphQLRequest(
        text=checked.text,
        sha256="",
        operation_name=checked.name,
        variables=checked.variables,
        is_query=checked.kind == "query",
    )
    if checked.introspection:
        if tool is None:
            _refuse_introspection(caller, checked.introspection, schemas)
        answer = answer_introspection(checked, schemas, for_model=for_model)
        return Prepared(kind=checked.kind, request=request, answer=answer)
    confirm = tool.options.confirm if tool and checked.kind != "query" else ""
    return Prepared(
        kind=checked.kind,
        request=request,
        consent_for=tool.name if tool and confirm else "",
        confirm=confirm,
        hidden_names=checked.hidden_names,
    )


def noting_refusal(caller: Caller, *, text: str = "", sha256: str = "") -> AbstractContextManager[None]:
    """Note the fields that a refused request asks for, if the endpoint's author wants them in the log."""
    if caller.endpoint.bundle.log is None:
        return nullcontext()
    from handler.server.upstream import read_coordinates

    return read_coordinates.noting_coordinates(caller, text=text, sha256=sha256)


def choose_persisted(caller: Caller, document_id: str, operation_name: str | None) -> PersistedOperation:
    """Choose an operation of a persisted document, before anything else of the request is checked.

    Raises:
        DocumentNotFound: no such document, or the caller may use none of its operations; the error is equal.
        DocumentRefused: the operation to run is not named, or unknown.

    Source: GraphQL over HTTP, "Persisted Documents".
    """
    all_of_them = caller.endpoint.documents.get(document_id, ())
    evaluation = caller.evaluation
    usable = [each for each in all_of_them if evaluation.may_meet(each.mask, each.operation.variables)]
    if not usable:
        raise DocumentNotFound
    if not operation_name and len(all_of_them) > 1:
        raise DocumentRefused(Fault("it has several operations: name one in operationName"))
    for persisted in usable:
        if operation_name in (None, "", persisted.operation.name):
            return persisted
    raise DocumentRefused(Fault(f'it has no operation "{operation_name:.100}"'))


def prepare_persisted(caller: Caller, persisted: PersistedOperation, *, variables: Mapping[str, Any]) -> Prepared:
    """Check the values of an operation's variables, and fill the bound variables.

    Values are ignored if the operation does not declare their variable, or if the variable is bound.

    Raises:
        InvalidArguments: with every variable that does not fit.
        AccessError: the caller lacks scopes of a tool that runs this operation.
        BindingMissing: the request lacks the value of a bound variable.
        ValuesRefused: a policy does not let this caller give these values.

    Source: GraphQL specification, section 6.1.2 (Coercing Variable Values).
    """
    operation = persisted.operation
    require_scopes(operation.name, persisted.scopes, caller.principal)
    own_values = {name: value for name, value in variables.items() if name in persisted.variables.get("properties", {})}
    caller.endpoint.variables_validator(persisted, caller.evaluation).check(own_values)
    request = persisted_request(caller, persisted, own_values, name=operation.name or "the document")
    consent_for = operation.name if persisted.confirm else ""
    return Prepared(kind=operation.kind, request=request, consent_for=consent_for, confirm=persisted.confirm)


async def run(caller: Caller, prepared: Prepared) -> JSONObject:
    """Send a prepared request, unless it is answered already, and return the GraphQL response.

    Raises:
        UpstreamError: the API gave no usable answer.
    """
    if prepared.answer is not None:
        return prepared.answer
    response = await execute(caller, prepared.request)
    if prepared.hidden_names:
        prepared.hidden_names.replace_in(response)
    return response


def _refuse_introspection(caller: Caller, document: DocumentNode, schemas: ViewSchemas) -> None:
    """Refuse ``__schema`` and ``__type`` of the whole endpoint if ``Query``'s policy hides them from the caller.

    A policy that hides one of the two hides ``__search`` and ``__definitions``, too: they answer both.
    """
    from handler.graph.documents.locations import fault_at
    from handler.graph.documents.search_fields import SEARCH_FIELDS

    guards = caller.endpoint.bundle.graphql.guards
    hidden = {name for name, mask in guards.items() if not caller.evaluation.meets(mask)}
    if hidden & {"__schema", "__type"}:
        hidden |= SEARCH_FIELDS.keys()
    root = schemas.view.index.roots.get("query", "Query")
    faults: list[Fault] = []
    nodes: list[Any] = list(document.definitions)
    while nodes:
        node = nodes.pop()
        if node.kind == "field" and node.name.value in hidden:
            faults.append(fault_at(node, f"Cannot query field '{node.name.value}' on type '{root}'."))
        nodes += node.selection_set.selections if getattr(node, "selection_set", None) else ()
    if faults:
        raise DocumentRefused(*faults)
