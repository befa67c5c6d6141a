"""The author's operations: reading, validation, normalization for the API."""
