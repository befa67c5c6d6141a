"""Conditions and predicates: the one representation of access."""
