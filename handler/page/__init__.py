"""The page for browsers: documents that are composed of static files. No request of MCP imports this package."""
