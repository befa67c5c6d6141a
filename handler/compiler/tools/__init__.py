"""Compilation of tools, prompts and resources for the bundle."""
