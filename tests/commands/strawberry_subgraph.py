"""A subgraph of Strawberry: a GraphQL request as JSON from standard input, the response to standard output.

It has a process of its own, because Strawberry changes graphql-core's introspection for the whole process.
"""

import json
import sys

import strawberry
import strawberry.federation


@strawberry.federation.type(keys=["id"])
class Part:
    id: strawberry.ID
    name: str
    weight: int = strawberry.federation.field(inaccessible=True, default=1)


@strawberry.type
class Query:
    @strawberry.field
    def parts(self, first: int = 10) -> list[Part]:
        return []


request = json.load(sys.stdin)
result = strawberry.federation.Schema(query=Query).execute_sync(
    request["query"], operation_name=request["operationName"]
)
json.dump({"data": result.data, "errors": [{"message": each.message} for each in result.errors or ()]}, sys.stdout)
