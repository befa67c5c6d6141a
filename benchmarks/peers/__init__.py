"""Other packages that make MCP tools of a GraphQL API, on the same operations: ``python -m benchmarks.peers``."""
