"""FastMCP's own HTTP server with one tool that asks the API, as Stile's has."""

import os
import sys
from typing import Any

import httpx2
from fastmcp import FastMCP

QUERY = "query ($email: String!) { customer(email: $email) { id name email address { street city state } } }"

server = FastMCP("measured")
client = httpx2.AsyncClient(timeout=30)


@server.tool(name="customer-by-email")
async def customer_by_email(variables: dict[str, str]) -> dict[str, Any]:
    """Find the customer with an address."""
    answer = await client.post(os.environ["UPSTREAM"], json={"query": QUERY, "variables": variables})
    found: dict[str, Any] = answer.json()["data"]
    return found


server.run(
    transport="http",
    host="127.0.0.1",
    port=int(sys.argv[1]),
    path="/mcp",
    json_response=True,
    stateless_http=True,
    show_banner=False,
    log_level="error",
)
