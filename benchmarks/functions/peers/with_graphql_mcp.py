import os

from graphql_mcp import GraphQLMCP
from lambda_loop import on_lambda

server = GraphQLMCP.from_remote_url(os.environ["UPSTREAM"], name="measured")  # introspects it
handler = on_lambda(server.http_app(json_response=True, stateless_http=True))
