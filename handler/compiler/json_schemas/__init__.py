"""JSON Schemas of arguments and results, and the descriptions that models read."""
