"""JSON Schema (2020-12): a bounded validator, a fast path, formats, and messages."""
