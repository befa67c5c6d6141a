"""Schemas and operations of others, fetched from package registries: what the compiler is proved on."""
