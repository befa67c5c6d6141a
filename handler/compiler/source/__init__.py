"""Files of the author, read with positions."""
