"""MCP: messages, methods, tools, prompts and resources."""
