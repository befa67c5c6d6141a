"""Credentials of callers: tokens, keys and authorizers; secrets of the owner; metadata for OAuth clients."""
