"""JSON Schemas of arguments and results, and the texts that models read."""
