"""Middleware and helpers around every request."""
