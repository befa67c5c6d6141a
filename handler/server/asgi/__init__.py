"""Middleware of all requests, and functions on headers, media types and sizes."""
