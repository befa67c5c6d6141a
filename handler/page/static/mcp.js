// mcp: not built yet.
