"""An author's function: its options, signature and docstring, the context of its calls, and the boundary around it."""
