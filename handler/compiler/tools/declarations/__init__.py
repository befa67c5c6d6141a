"""The declaration of a tool of any kind, and the parts of its list entry."""
