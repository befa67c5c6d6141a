"""Loaded endpoints, and the cache that refreshes them."""
