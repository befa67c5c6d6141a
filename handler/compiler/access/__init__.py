"""Policies, patterns and what they hide: the masks of coordinates."""
