"""Tools, prompts and resources as a bundle has them."""
