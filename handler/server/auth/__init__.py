"""Credentials of callers: tokens, keys, authorizers, and challenges."""
