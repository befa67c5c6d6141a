from typing import Any

from awslabs.mcp_lambda_handler import MCPLambdaHandler

server = MCPLambdaHandler(name="measured", version="1")


@server.tool()
def greet(name: str) -> str:
    """Greet somebody."""
    return f"Hello {name}"


def handler(event: Any, context: Any) -> Any:
    return server.handle_request(event, context)
