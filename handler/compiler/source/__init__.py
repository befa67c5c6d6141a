"""Read the author's files with positions."""
