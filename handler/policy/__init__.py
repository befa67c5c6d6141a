"""Conditions and predicates: the representation of access rules."""
