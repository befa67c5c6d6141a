"""The classes of callers of two versions of an endpoint, and the ways by which each class reaches a coordinate."""
