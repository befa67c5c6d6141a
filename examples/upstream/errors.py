from strawberry.exceptions import StrawberryGraphQLError


class BadInputError(StrawberryGraphQLError):
    """Arguments that fit their types and still make no sense."""

    def __init__(self, message: str) -> None:
        super().__init__(message, extensions={"code": "BAD_USER_INPUT"})


class NotFoundError(StrawberryGraphQLError):
    """What a mutation was to change is not there."""

    def __init__(self, message: str) -> None:
        super().__init__(message, extensions={"code": "NOT_FOUND"})
