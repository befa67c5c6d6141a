"""Type hints: JSON Schemas of types, and values of types from and to JSON, with pydantic and without."""
