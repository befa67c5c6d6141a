"""Requests to the API behind an endpoint, and responses of the API."""
