"""Callers as sets: the classes of callers of an endpoint, one bit each, and the parts that they reach."""
