"""Toolkits full of mistakes, each numbered by a comment."""
