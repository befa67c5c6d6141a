"""Search: rank the parts of a view, or tools, by the words of a question."""
