"""Callers' documents, checked against a view. At request time graphql-core loads here alone, in half the time."""

from handler.cold.fast_nodes import load

load()
