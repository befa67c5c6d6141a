"""Lists of tools, prompts, resources and skills, their pages, the catalog, and the reading of an entry."""
