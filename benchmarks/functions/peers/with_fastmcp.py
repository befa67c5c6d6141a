from fastmcp import FastMCP
from lambda_loop import on_lambda

server = FastMCP("measured")


@server.tool
def greet(name: str) -> str:
    """Greet somebody."""
    return f"Hello {name}"


handler = on_lambda(server.http_app(json_response=True, stateless_http=True))
