"""Schemas at request time: the index, views of it, and documents checked against a view."""
