"""Prompts, resources, skills and pages from the author's files."""
