"""Calls of tools: over GraphQL and in Python, questions to the user, and large results."""
