"""Prompts, resources and skills of authors, and the content blocks of results."""
