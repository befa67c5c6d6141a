"""JSON Schema (2020-12): bounds on values, a bounded validator, a fast path, formats, and messages."""
