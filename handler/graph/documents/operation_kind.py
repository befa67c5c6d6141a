"""The kind of operation that a document asks for, before the document is checked."""

from __future__ import annotations

from graphql import GraphQLError, OperationType, get_operation_ast, parse


def asks_for_mutation(text: str, operation_name: str | None, *, max_tokens: int) -> bool:
    """Tell if the operation to run is a mutation, whether or not the caller may run it."""
    try:
        parsed = parse(text, max_tokens=max_tokens)
    except GraphQLError:
        return False
    operation = get_operation_ast(parsed, operation_name)
    return operation is not None and operation.operation is OperationType.MUTATION
