"""Endpoints that are loaded, and kept fresh."""
