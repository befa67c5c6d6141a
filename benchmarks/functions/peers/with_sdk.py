from lambda_loop import on_lambda
from mcp.server import MCPServer

server = MCPServer("measured")


@server.tool()
def greet(name: str) -> str:
    """Greet somebody."""
    return f"Hello {name}"


handler = on_lambda(server.streamable_http_app(json_response=True, stateless_http=True, host="0.0.0.0"))
