"""Requests to the API behind an endpoint, and its answers."""
