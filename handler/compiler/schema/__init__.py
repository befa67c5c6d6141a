"""The author's schema: parsing, merging, recovery from errors, and the schema index."""
