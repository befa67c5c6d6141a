"""Warnings: what is allowed, and probably not meant."""
