"""Callers' documents, checked against a view. graphql-core loads here."""
