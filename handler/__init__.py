"""Stile: MCP tools for any GraphQL API, serverless on AWS Lambda."""

__all__ = ["__version__"]

__version__ = "0.1.0"
