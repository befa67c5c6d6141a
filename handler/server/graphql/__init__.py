"""The GraphQL routes."""
