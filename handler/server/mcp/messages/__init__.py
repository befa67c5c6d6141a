"""Messages of MCP: JSON-RPC, revisions, one request, batches and event streams."""
